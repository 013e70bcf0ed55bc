"""Where engines are: in the Python that graphfix runs in, or in an environment of their own."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from graphfix.ir.storage.user_folders import user_data

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDER = "GRAPHFIX_ENGINES"
_PINNED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==(?P<version>[0-9.]+)")


def folder() -> Path:
    """Return where environments lie: ``$GRAPHFIX_ENGINES``, or in the user's folder for data."""
    given = os.environ.get(_FOLDER)
    return Path(given).absolute() if given else user_data() / "engines"


def environment(target: str) -> Path:
    """Return the folder of a target's environment, whether it is there or not."""
    return folder() / target


def interpreter(home: Path) -> Path:
    """Return the Python of an environment."""
    return home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def unfinished(home: Path) -> Path:
    """Return the file that is in an environment as long as it is being made."""
    return home / ".unfinished"


def python_of(
    target: str, requirements: Mapping[str, Sequence[str]], given: str = ""
) -> Path | None:
    """Return the Python that has a target's engine; None where none has.

    Args:
        target: The name of the profile.
        requirements: What `graphfix.engines.engine.Engine.requirements` says.
        given: The only one, where the engine was learned with it.
    """
    if given:
        return Path(given) if Path(given).is_file() else None
    home = environment(target)
    own = interpreter(home)
    if own.is_file() and not unfinished(home).exists():
        return own
    return Path(sys.executable) if _is_here(requirements.get(target, ())) else None


def packages_of(python: Path) -> tuple[str, ...]:
    """Return the packages of a Python with their versions, ``acme-1.2``; none where none are found.

    Args:
        python: This one, or that of an environment.
    """
    if python == Path(sys.executable):
        folders = [Path(entry) for entry in sys.path if entry]
    else:
        home = python.parent.parent
        folders = [*home.glob("lib/python*/site-packages"), home / "Lib" / "site-packages"]
    found = {each.stem for folder in folders for each in folder.glob("*.dist-info")}
    return tuple(sorted(found))


def _is_here(lines: Sequence[str]) -> bool:
    """Say whether this Python has what pins a version among the lines, up to patch releases."""
    pinned = [match for line in lines if (match := _PINNED.match(line))]
    return bool(pinned) and all(
        _minor(_installed(match["name"])) == _minor(match["version"]) for match in pinned[:1]
    )


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _minor(text: str) -> tuple[str, ...]:
    return tuple(text.split(".")[:2])
