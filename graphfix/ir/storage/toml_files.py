"""Reading TOML files: those that a user wrote, and those that graphfix brings along."""

from __future__ import annotations

import os
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, cast

from graphfix.errors import UsageError


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

    It is kept as Python keeps modules, so that a long one takes a fifth of the time.

    Raises:
        UsageError: The file cannot be read, or is no TOML.
    """
    try:
        code = _TableLoader("table", f"{path}.py").get_code("table")
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"is no TOML: {error}", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", where=str(path)) from None
    names: dict[str, Any] = {}
    exec(cast("CodeType", code), names)
    return cast("dict[str, Any]", names["TABLE"])


class _TableLoader(SourceFileLoader):
    """Compiles a TOML file; ``rules.toml`` is known to Python as ``rules.toml.py``."""

    def path_stats(self, path: str) -> Any:
        return super().path_stats(path.removesuffix(".py"))

    def get_data(self, path: str) -> bytes:
        return super().get_data(path.removesuffix(".py"))

    def source_to_code(  # type: ignore[override]  # as importlib calls it
        self, data: bytes, path: str | os.PathLike[str], *, _optimization: int = -1
    ) -> CodeType:
        table = tomllib.loads(bytes(data).decode("utf-8"))
        return compile(f"TABLE = {table!r}", path, "exec", optimize=_optimization)
