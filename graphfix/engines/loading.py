"""Ask the engine that is installed here to load a model; runs inside the child process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Loaded
from graphfix.worker.limits import Limits


@dataclass(frozen=True, slots=True)
class Loading:
    """The family of the engine, the file to load, and the folder of its external data."""

    family: str
    model: Path
    folder: str


def answer(_: Path, request: Loading, __: Limits) -> Loaded:
    """Load a model."""
    return engine_of(request.family).load(request.model, request.folder)
