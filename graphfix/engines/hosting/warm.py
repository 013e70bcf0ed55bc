"""Engines that are started before they are asked, and that are there for each of many questions."""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from graphfix.engines.engine import Engine
from graphfix.engines.hosting.places import packages_of
from graphfix.engines.hosting.serve import KEPT
from graphfix.engines.hosting.standing import HAS_PIPES, StandingEngine, can_be_borrowed, lives
from graphfix.engines.interface import Meant
from graphfix.ir.storage.user_folders import user_cache

KEEP = "GRAPHFIX_KEEP_ENGINES"  # for how many seconds; 0 for not at all
_IDLE = 120
_MOST = 2  # engines that wait for the next run
_STARTING = 60.0  # seconds after which a folder without a process is one that is left
_PASSING = ("GRAPHFIX_", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_")


class Standing(Protocol):
    """A process of an engine that can be borrowed."""

    folder: Path

    def is_of_use(self) -> bool:
        """Say whether it can be borrowed."""
        ...

    def close(self) -> None:
        """Have no more use for it."""
        ...


class _Survivor:
    """A process that an earlier run has started; it ends by itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def is_of_use(self) -> bool:
        return can_be_borrowed(self.folder)

    def close(self) -> None:
        """Leave it."""


def standing(engine: Engine, target: str, capability: str = "") -> Standing | None:
    """Start an engine before it is asked; None where it cannot be.

    What took long to start waits for the next run: it is not on a device, whose memory it would
    keep, its packages, program and variables are the same, and no model has ended it.

    Args:
        engine: The family.
        target: The name of the profile.
        capability: What it is to build for; empty for what it chooses.
    """
    python = engine.python_for(target) if HAS_PIPES else None
    if python is None or engine.program is None:
        return None
    idle = _idle_seconds()
    try:
        kept = None if engine.on_device or not idle else _place(python, engine.program, capability)
        survivor = None if kept is None else _survivor(kept)
        if survivor is not None:
            return survivor
        return StandingEngine(
            python,
            engine.program,
            held=not engine.on_device,
            capability=capability,
            kept=kept,
            idle=idle,
        )
    except OSError:
        return None


def _idle_seconds() -> int:
    with suppress(ValueError):
        return max(0, int(os.environ.get(KEEP, _IDLE)))
    return 0


def _place(python: Path, program: Path, capability: str) -> Path | None:
    """Return the folder of processes that are of use for this; None where none is to be kept."""
    packages = packages_of(python) if sys.platform == "linux" else ()
    if not packages:
        return None
    variables = (f"{k}={v}" for k, v in sorted(os.environ.items()) if not k.startswith(_PASSING))
    said = (str(python), sha256(program.read_bytes()).hexdigest(), capability, *packages)
    digest = sha256("\n".join((*said, *variables)).encode("utf-8", "surrogateescape"))
    root = user_cache() / "engines"
    place = root / digest.hexdigest()[:24]
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    others = [each for each in root.glob("*/*/") if each.parent != place and _lives(each)]
    return place if len(others) < _MOST else None


def _survivor(place: Path) -> _Survivor | None:
    there = [each for each in place.iterdir() if _lives(each) and (each / KEPT).exists()]
    return next((_Survivor(each) for each in there if can_be_borrowed(each)), None)


def _lives(folder: Path) -> bool:
    """Say whether a process is there; what is left of one that was ended is removed."""
    if lives(folder):
        return True
    with suppress(OSError):
        if time.time() - folder.stat().st_mtime > _STARTING:
            shutil.rmtree(folder, ignore_errors=True)
    return False


class KeptWarm:
    """Sees to it that a standing process is there for each of many questions."""

    def __init__(self, engine: Engine, meant: Meant) -> None:
        """Start nothing yet.

        Args:
            engine: The family.
            meant: The version, and a process that may be there.
        """
        self._engine, self._meant = engine, meant
        self._process: Standing | None = None

    def meant(self) -> Meant:
        """Return the version with a process that can be borrowed, where one can be started."""
        given = self._meant.standing
        if given and can_be_borrowed(Path(given)):
            return self._meant
        if self._process is None or not self._process.is_of_use():
            self.close()
            self._process = standing(self._engine, self._meant.name, self._meant.capability)
        folder = "" if self._process is None else str(self._process.folder)
        return replace(self._meant, standing=folder)

    def close(self) -> None:
        """End the process, where it is one of its own."""
        if self._process is not None:
            self._process.close()
        self._process = None
