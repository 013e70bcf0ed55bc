"""Engines that are started before they are asked, and that are there for each of many questions."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from graphfix.engines.engine import Engine
from graphfix.engines.hosting.standing import HAS_PIPES, StandingEngine, can_be_borrowed
from graphfix.engines.interface import Meant


def standing(engine: Engine, target: str, capability: str = "") -> StandingEngine | None:
    """Start an engine before it is asked; None where it cannot be.

    Args:
        engine: The family.
        target: The name of the profile.
        capability: What it is to build for; empty for what it chooses.
    """
    python = engine.python_for(target) if HAS_PIPES else None
    if python is None or engine.program is None:
        return None
    try:
        return StandingEngine(
            python, engine.program, held=not engine.on_device, capability=capability
        )
    except OSError:
        return None


class KeptWarm:
    """Sees to it that a standing process is there for each of many questions."""

    def __init__(self, engine: Engine, meant: Meant) -> None:
        """Start nothing yet.

        Args:
            engine: The family.
            meant: The version, and a process that may be there.
        """
        self._engine, self._meant = engine, meant
        self._process: StandingEngine | None = None

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
