"""Reading TOML files: those that a user wrote, and those that graphfix brings along."""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
import tomllib
from pathlib import Path
from typing import Any, cast
from zlib import crc32

from graphfix.errors import UsageError
from graphfix.ir.storage.user_folders import user_cache


def read_toml(path: Path, subject: str = "") -> tuple[dict[str, Any], str]:
    """Return what a file holds, and its text.

    Args:
        path: The file.
        subject: What it is, for the error: ``the profile``.

    Raises:
        UsageError: The file cannot be read, or is no TOML.
    """
    named = f"{subject} ".lstrip()
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{named}is no TOML: {error}", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{named}cannot be read: {said}", where=str(path)) from None


def read_shipped_toml(path: Path) -> dict[str, Any]:
    """Return what a file of graphfix or of an engine holds: tables, lists, texts, numbers, bools.

    It is kept in the user's cache, so that a long one takes a fifth of the time. Next to the file,
    where Python keeps its modules, an uninstallation would leave it, and the folder with it.

    Raises:
        UsageError: The file cannot be read, or is no TOML.
    """
    try:
        found = path.stat()
        mark = (str(path), found.st_mtime_ns, found.st_size)
        kept = _kept(path)
        table = None if kept is None else _remembered(kept, mark)
        if table is not None:
            return table
        table = tomllib.loads(path.read_bytes().decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"is no TOML: {error}", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from None
    if kept is not None and not sys.dont_write_bytecode:
        _remember(kept, mark, table)
    return table


_Mark = tuple[str, int, int]  # path, time of the last change (ns), size


def _tables() -> Path | None:
    """Return where tables are kept; None where the user has no home."""
    try:
        return user_cache() / "tables"
    except RuntimeError:
        return None


TABLES = _tables()  # one for a process: what it starts with says where


def _kept(path: Path) -> Path | None:
    name = f"{path.name}-{crc32(os.fsencode(path)):08x}.{sys.implementation.cache_tag}"
    return None if TABLES is None else TABLES / name


def _remembered(kept: Path, mark: _Mark) -> dict[str, Any] | None:
    try:
        said, table = marshal.loads(kept.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):  # none, or half of one
        return None
    return cast("dict[str, Any]", table) if said == mark and isinstance(table, dict) else None


def _remember(kept: Path, mark: _Mark, table: dict[str, Any]) -> None:
    """Keep a table; without effect where it cannot be written, or holds what Python cannot keep."""
    part = kept.with_name(f"{kept.name}.{os.getpid()}")
    try:
        content = marshal.dumps((mark, table))
        kept.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(kept)
    except (OSError, ValueError):
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
