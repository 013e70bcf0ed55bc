"""What children do: run a model, compare two of them, certify sites."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from graphfix.engines.engine import engine_of
from graphfix.errors import EngineFailed
from graphfix.proving.layers.comparison import Comparison
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.cases import CertificationRequest
from graphfix.proving.sites.certifying import certify_cases
from graphfix.proving.values.files import received_values, send_values
from graphfix.proving.whole import comparison as whole
from graphfix.proving.whole import loading, preparing, rounded_model
from graphfix.proving.whole.options import ComparisonRequest, InEngine, RunRequest
from graphfix.proving.whole.rounding import Rounding
from graphfix.report import Verdict, Verification
from graphfix.worker.heap import keep_freed_memory
from graphfix.worker.limits import Limits
from graphfix.worker.messages import out_of_memory


def run(folder: Path, request: RunRequest, limits: Limits) -> None:
    """Run a model on the input sets in ``feeds.json``; the outputs go into ``outputs.json``.

    Raises:
        EngineFailed: It does not fit in memory, or no engine runs it.
    """
    evaluators = Evaluators.of(request.evaluators)
    loaded = loading.load([request.path], evaluators, limits.memory, folder)
    if isinstance(loaded, str):
        raise EngineFailed(loaded)
    with _quiet():
        engine = loaded[0].open()
        feeds = received_values(folder / "feeds.json")
        send_values(folder / "outputs.json", [engine.run(feed) for feed in feeds])


def compare(folder: Path, request: ComparisonRequest, limits: Limits) -> Verification:
    """Compare the outputs of two models."""
    keep_freed_memory()
    task = _task(folder, request, limits)
    if isinstance(task, Verification):
        return task
    with _quiet(), _with_advice(task):
        return whole.compare(task)


def compare_in_engine(folder: Path, request: ComparisonRequest, limits: Limits) -> InEngine:
    """Compare what a model computes with what the engine of a target makes of another one."""
    from graphfix.proving.whole.engine_comparison import compare_in_engine as compared

    task = _task(folder, request, limits, at_once=True)
    if isinstance(task, Verification):
        return InEngine(task)
    with _quiet():
        engine = engine_of(request.family)
        return compared(task, request.paths[1], engine, request.meant)


def compare_reading(folder: Path, request: ComparisonRequest, limits: Limits) -> Verification:
    """Compare a file as it was read, which is there twice, with the file as it came."""
    from graphfix.proving.readings.comparison import compare_reading as compared

    *paths, original = request.paths
    task = _task(folder, replace(request, paths=tuple(paths)), limits, at_once=True)
    if isinstance(task, Verification):
        return task
    with _quiet():
        return compared(task, original)


def round_floats(folder: Path, request: ComparisonRequest, limits: Limits) -> Rounding:
    """Compare a model with itself where every float is rounded to 16 bits."""
    evaluators = Evaluators.of(request.evaluators)
    loaded = loading.load(request.paths, evaluators, limits.memory, folder, at_once=True)
    if isinstance(loaded, str):
        return Rounding()
    options = replace(request.options, timeout=limits.timeout)
    with _quiet():
        return rounded_model.changed_by_rounding(loaded[0], options)


def compare_side_by_side(folder: Path, request: ComparisonRequest, limits: Limits) -> Comparison:
    """Compare two models that may name their tensors otherwise."""
    # Most children compare outputs alone, and live for less time than imports take.
    from graphfix.proving.layers.side_by_side import side_by_side

    task = _task(folder, request, limits)
    if isinstance(task, Verification):
        return Comparison(task)
    with _quiet(), _with_advice(task):
        return side_by_side(task, layers=request.layers)


def find_node_at_work(folder: Path, request: ComparisonRequest, limits: Limits) -> str:
    """Return at which node one of two models has been at work too long; empty if none is found."""
    task = _task(folder, request, limits)
    if isinstance(task, Verification):
        return ""
    with _quiet():
        return preparing.node_at_work(task)


def certify(folder: Path, request: CertificationRequest, limits: Limits) -> None:
    """Certify the sites of a folder."""
    keep_freed_memory()
    with _quiet():
        certify_cases(folder, request, limits.memory)


def _task(
    folder: Path, request: ComparisonRequest, limits: Limits, *, at_once: bool = False
) -> preparing.Task | Verification:
    """Load both models; a verdict where they do not fit in memory."""
    evaluators = Evaluators.of(request.evaluators)
    loaded = loading.load(request.paths, evaluators, limits.memory, folder, at_once=at_once)
    if isinstance(loaded, str):
        return Verification(Verdict.SKIPPED, loaded)
    options = replace(request.options, timeout=limits.seconds)
    return preparing.Task(loaded[0], loaded[1], options, folder, limits.memory)


@contextlib.contextmanager
def _with_advice(task: preparing.Task) -> Generator[None]:
    """Say where memory runs out how much is needed, and which option gives it."""
    try:
        yield
    except MemoryError as error:
        said = out_of_memory(str(error))
        short = "" if task.room is None else task.room.short
        raise EngineFailed(f"{said}: {short}" if short else said) from None


def _quiet() -> np.errstate:
    """Print no warnings about NaN and overflow, which random inputs are meant to cause."""
    return np.errstate(all="ignore")
