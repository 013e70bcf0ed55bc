"""Compare two model files by the numbers they compute, in a child process."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

from msgspec.structs import replace

from graphfix.engines.engine import engine_of
from graphfix.engines.interface import Meant
from graphfix.errors import EngineFailed
from graphfix.proving.layers.comparison import Comparison
from graphfix.proving.runners.evaluators import OpKey, listed
from graphfix.proving.whole.options import (
    FEWEST_SAMPLES,
    ComparisonOptions,
    ComparisonRequest,
    InEngine,
    RunRequest,
)
from graphfix.proving.whole.rounding import Rounding
from graphfix.report import Verdict, Verification
from graphfix.worker.advice import names_option, with_option
from graphfix.worker.limits import Limits, engine_seconds
from graphfix.worker.messages import is_out_of_memory
from graphfix.worker.service import Crashed, OutOfTime, ask

TASKS = "graphfix.proving.tasks:"
# Seconds, and the part of what engines may take together, in which the node is looked for at which
# a model was stopped.
_FINDING, _PART = 5.0, 0.2
# The part of it, and the seconds for a big file, in which smaller inputs are tried where memory or
# time ran out.
_AGAIN, _AGAIN_SECONDS = 0.3, 60.0
_INF = float("inf")
T = TypeVar("T")


def compare_files(
    before: Path, after: Path, options: ComparisonOptions | None = None
) -> Verification:
    """Run two models on the same inputs in a child process and compare what they compute.

    The status is ``equal`` only if the comparison could have failed: every output that depends
    on an input moved, and a change of the second model by 5% was noticed. ``mismatch`` (or
    ``lossy``), ``inconclusive`` and ``skipped`` carry a reason. What an engine does to itself
    (crash, memory, time) is ``inconclusive``.

    Raises:
        UsageError: `inputs`, `bindings` or `evaluators` do not fit the model.
        InvalidModel: A file is missing or not a model.
    """
    answer = _asked("compare", _request((before, after), options), Verification)
    return _inconclusive(answer) if isinstance(answer, EngineFailed) else answer


def compare_in_engine(
    before: Path, after: Path, options: ComparisonOptions, family: str, meant: Meant
) -> InEngine:
    """Run the second model in the target's own engine on this machine; compare it with the first.

    Floats may differ by the cap of their type (`graphfix.proving.verdict.numbers`), since engines
    choose among kernels that round each in its own way. What the engine does not build or run is
    ``inconclusive``, with its words, and so is another version than the target's.

    Args:
        before: The first model, which onnxruntime or the reference evaluator runs.
        after: The second.
        options: How to compare.
        family: The engine.
        meant: The version of it.

    Raises:
        UsageError: The options do not fit the models.
        InvalidModel: A file is missing or not a model.
    """
    request = replace(_request((before, after), options), family=family, meant=meant)
    held = not engine_of(family).has_limits_of_its_own
    answer = _asked("compare_in_engine", request, InEngine, held=held)
    return InEngine(_inconclusive(answer)) if isinstance(answer, EngineFailed) else answer


def compare_reading(read: Path, original: Path, options: ComparisonOptions) -> Verification:
    """Compare a file as it was read with the file as it came, which ONNX gives no meaning.

    The original is run node by node, its operands promoted as they are where they meet, by code
    that knows nothing of how it was read. What cannot be run so is ``inconclusive``.

    Raises:
        UsageError: The options do not fit the models.
        InvalidModel: A file is missing or not a model.
    """
    request = _request((read, read, original), options)
    answer = _asked("compare_reading", request, Verification)
    return _inconclusive(answer) if isinstance(answer, EngineFailed) else answer


def changed_by_rounding(path: Path, options: ComparisonOptions) -> Rounding:
    """Run a model as it is and with every float rounded to float16, and return where they part.

    What does not run, or takes too long, parts nowhere.

    Raises:
        UsageError: The options do not fit the model.
        InvalidModel: The file is missing or not a model.
    """
    request = _request((path,), options)
    limits = Limits(options.timeout, options.memory_limit)
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        try:
            return ask(TASKS + "round_floats", Path(folder), request, limits, Rounding)
        except EngineFailed:
            return Rounding()


def compare_side_by_side(
    before: Path, after: Path, options: ComparisonOptions | None = None, *, layers: bool = False
) -> Comparison:
    """Compare two models that may name their tensors otherwise; see `compare_files`.

    Args:
        before: The first model.
        after: The second.
        options: How to compare.
        layers: Compare every tensor that both have, too.

    Raises:
        UsageError: The models have different inputs, or the options do not fit them.
        InvalidModel: A file is missing or not a model.
    """
    request = replace(_request((before, after), options), layers=layers)
    answer = _asked("compare_side_by_side", request, Comparison)
    if isinstance(answer, EngineFailed):
        return Comparison(_inconclusive(answer), layers_reason=answer.message if layers else "")
    return answer


def _request(paths: tuple[Path, ...], options: ComparisonOptions | None) -> ComparisonRequest:
    options = options or ComparisonOptions()
    inputs = None if options.inputs is None else options.inputs.absolute()
    return ComparisonRequest(
        tuple(path.absolute() for path in paths),
        replace(options, inputs=inputs, samples=max(1, options.samples), evaluators={}),
        listed(options.evaluators),
    )


def _asked(
    task: str, request: ComparisonRequest, answer: type[T], *, held: bool = True
) -> T | EngineFailed:
    """Ask a child process; what an engine does to itself is an answer."""
    options = request.options
    again = _AGAIN * engine_seconds()
    spare = _finding() + (again if again < _INF else 0.0)
    limits = Limits(options.timeout, options.memory_limit, held=held, spare=spare)
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        try:
            return ask(TASKS + task, Path(folder), request, limits, answer)
        except Crashed:
            # Some kernels divide by a size of 0: without such sizes the rest is compared.
            request = replace(request, options=replace(request.options, edges=()))
        except EngineFailed as error:
            return _tried_smaller(error, task, request, limits, answer)
        try:
            return ask(TASKS + task, Path(folder), request, limits, answer)
        except EngineFailed as error:
            return _tried_smaller(error, task, request, limits, answer)


def _tried_smaller(
    error: EngineFailed, task: str, request: ComparisonRequest, limits: Limits, answer: type[T]
) -> T | EngineFailed:
    """Ask once more with the smallest inputs, and fewer, where memory or time ran out."""
    # A child that comes to a figure has tried what is smaller.
    starved = is_out_of_memory(error.message) and not names_option(error.message)
    if not limits.held or not (isinstance(error, OutOfTime) or starved):
        return error
    few = min(request.options.samples, FEWEST_SAMPLES)
    small = replace(request, options=replace(request.options, samples=few, smallest=True))
    again = replace(limits, spare=_finding(), timeout=min(limits.timeout, _AGAIN_SECONDS))
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        try:
            return ask(TASKS + task, Path(folder), small, again, answer)
        except EngineFailed as second:
            kind = isinstance(second, OutOfTime) or is_out_of_memory(second.message)
            placed = _placed(second if kind else error, request, limits)
            return EngineFailed(with_option(placed.message, limits))


def _placed(error: EngineFailed, request: ComparisonRequest, limits: Limits) -> EngineFailed:
    """Say at which node time ran out, where a second look finds it."""
    if not isinstance(error, OutOfTime) or not limits.held:
        return error
    limits = replace(limits, timeout=_finding(), spare=0.0)
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        try:
            at = ask(TASKS + "find_node_at_work", Path(folder), request, limits, str)
        except EngineFailed:
            return error
    return EngineFailed(f"stopped at {at}: {error.message}") if at else error


def _finding() -> float:
    return min(_FINDING, _PART * engine_seconds())


def _inconclusive(error: EngineFailed) -> Verification:
    return Verification(Verdict.INCONCLUSIVE, error.message)


def run_model(
    path: Path,
    feeds: list[dict[str, Any]],
    *,
    evaluators: Mapping[OpKey, str] | None = None,
    timeout: float = 300.0,
    memory_limit: int | None = None,
) -> list[dict[str, Any]]:
    """Run a model on input sets in a child process; returns the outputs by name, per set.

    Raises:
        EngineFailed: No engine runs it, or the engine crashed, ran out of memory or time.
        UsageError: A numpy model cannot be imported.
        InvalidModel: The file is missing or not a model.
    """
    from graphfix.proving.values.files import received_values, send_values

    with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
        folder = Path(text)
        send_values(folder / "feeds.json", feeds)
        request = RunRequest(path.absolute(), listed(evaluators or {}))
        ask(TASKS + "run", folder, request, Limits(timeout, memory_limit), NoneType)
        return received_values(folder / "outputs.json")
