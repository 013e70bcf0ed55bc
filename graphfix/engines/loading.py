"""Ask the engine that is installed here to load a model; runs inside the child process."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Loaded
from graphfix.worker.limits import Limits


class Loading(Struct, frozen=True):
    """The family of the engine, the file to load, and the folder of its external data."""

    family: str
    model: Path
    folder: str


def answer(_: Path, request: Loading, __: Limits) -> Loaded:
    """Load a model."""
    return engine_of(request.family).load(request.model, request.folder)
