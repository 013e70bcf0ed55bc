"""The target's engine, started at the beginning of a run: it is imported while passes run."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import replace

from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.warm import standing
from graphfix.ir.model import Model
from graphfix.pipeline.kept_verdicts import was_right
from graphfix.pipeline.settings import Settings
from graphfix.proving.sites.cases import too_big


@contextlib.contextmanager
def started_early(model: Model, settings: Settings) -> Generator[Settings]:
    """Start the engine of the target where it is to be asked, and end it afterwards.

    Args:
        model: The model; what is too big to be asked about by itself starts nothing, nor does what
            the engine was right about in an earlier run.
        settings: What was asked for.

    Yields:
        The settings, with the process.
    """
    target = settings.target
    wanted = settings.verify == "engine" or not too_big(model.proto)
    wanted = wanted and not was_right(model.sha256, settings)
    engine = None if target is None else engine_of(target.family)
    if target is None or engine is None or not wanted:
        yield settings
        return
    process = standing(engine, target.name, settings.capability)
    if process is None:
        yield settings
        return
    with contextlib.closing(process):
        yield replace(settings, standing=str(process.folder))
