"""Compare two model files by the numbers they compute."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.errors import EngineFailed
from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.report import NodeRef, OutputDifference, Verdict, Verification
from graphfix.worker.limits import Limits
from graphfix.worker.service import Crashed, ask

TASK = "graphfix.proving.child:answer"

Evaluators = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """How to compare.

    Attributes:
        inputs: The user's input set (.npz, arrays named after inputs); it replaces drawn ones.
            Further samples are the same with floats moved by some percent.
        seed: The same seed draws the same inputs.
        samples: How many input sets.
        lossy: Report a difference of numbers as lossy instead of mismatch.
        timeout: Seconds for everything.
        memory_limit: Bytes; 80% of the available memory by default.
        evaluators: Numpy models of operators that no engine has, by (domain, operator):
            ``module:function`` or ``/path/file.py:function``. The function is called as
            ``evaluate(inputs, attributes)`` with arrays (None for absent inputs) and returns a
            tuple of arrays, one per output.
        bindings: Shapes of inputs, by name.
        edges: Which of 0 and 1 are tried as sizes of dynamic dimensions.
    """

    inputs: Path | None = None
    seed: int = 0
    samples: int = 5
    lossy: bool = False
    timeout: float = 300.0
    memory_limit: int | None = None
    evaluators: Evaluators = field(default_factory=dict[tuple[str, str], str])
    bindings: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    edges: tuple[int, ...] = (1, 0)


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
    answer = _asked("compare", before, after, options or ComparisonOptions())
    return answer if isinstance(answer, Verification) else _verification(answer["verification"])


def compare_in_engine(
    before: Path, after: Path, options: ComparisonOptions, target: Target
) -> Verification:
    """Run the second model in the target's own engine on this machine; compare it with the first.

    Floats may differ by the cap of their type (`graphfix.proving.verdict.numbers`), since engines
    choose among kernels that round each in its own way. What the engine does not build or run is
    ``inconclusive``, with its words, and so is another version than the target's.

    Args:
        before: The first model, which onnxruntime or the reference evaluator runs.
        after: The second.
        options: How to compare.
        target: The engine version that is meant.

    Raises:
        UsageError: The options do not fit the models.
        InvalidModel: A file is missing or not a model.
    """
    meant = {
        "family": target.family,
        "version": list(target.version),
        "dtype_aliases": dict(target.dtype_aliases),
    }
    held = not engine_of(target.family).on_device
    answer = _asked("engine", before, after, options, held=held, meant=meant)
    return answer if isinstance(answer, Verification) else _verification(answer["verification"])


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
    options = options or ComparisonOptions()
    answer = _asked("side_by_side", before, after, options, layers=layers)
    if isinstance(answer, Verification):
        return Comparison(answer, layers_reason=answer.reason if layers else "")
    found = answer["comparison"]
    return Comparison(
        _verification(found["verification"]),
        tuple(_layer(layer) for layer in found["layers"]),
        found["layers_reason"],
        found["only_before"],
        found["only_after"],
        tuple(found["notes"]),
    )


def _asked(
    do: str,
    before: Path,
    after: Path,
    options: ComparisonOptions,
    *,
    held: bool = True,
    **further: Any,
) -> dict[str, Any] | Verification:
    """Ask the child process; what an engine does to itself is inconclusive."""
    request: dict[str, Any] = {
        "do": do,
        "models": [str(before.absolute()), str(after.absolute())],
        "inputs": str(options.inputs.absolute()) if options.inputs is not None else None,
        "seed": options.seed,
        "samples": max(1, options.samples),
        "lossy": options.lossy,
        "evaluators": listed(options.evaluators),
        "bindings": {name: list(dims) for name, dims in options.bindings.items()},
        "edges": list(options.edges),
        **further,
    }
    limits = Limits(options.timeout, options.memory_limit, held=held)
    with tempfile.TemporaryDirectory(prefix="graphfix-") as folder:
        try:
            return ask(TASK, Path(folder), request, limits)
        except Crashed:
            # Some kernels divide by a size of 0: without such sizes the rest is compared.
            request["edges"] = []
        except EngineFailed as error:
            return Verification(Verdict.INCONCLUSIVE, error.message)
        try:
            return ask(TASK, Path(folder), request, limits)
        except EngineFailed as error:
            return Verification(Verdict.INCONCLUSIVE, error.message)


def _verification(found: dict[str, Any]) -> Verification:
    outputs = tuple(
        OutputDifference(o["name"], o["max_abs"], o["max_rel"], Verdict(o["status"]))
        for o in found["outputs"]
    )
    return Verification(
        Verdict(found["status"]), found["reason"], found["method"], outputs, found["runs_never"]
    )


def _layer(found: dict[str, Any]) -> Layer:
    made_by: dict[str, Any] = found["node"]
    node = NodeRef(
        made_by["name"],
        made_by["index"],
        made_by["op"],
        made_by["domain"],
        tuple(made_by["outputs"]),
        made_by["scope"],
    )
    return Layer(
        found["name"],
        found["new_name"],
        node,
        found["depth"],
        Verdict(found["status"]),
        found["max_abs"],
        found["max_rel"],
        found["reason"],
    )


def run_model(
    path: Path,
    feeds: list[dict[str, Any]],
    *,
    evaluators: Evaluators | None = None,
    timeout: float = 300.0,
    memory_limit: int | None = None,
) -> list[dict[str, Any]]:
    """Run a model on input sets in a child process; returns the outputs by name, per set.

    Raises:
        EngineFailed: No engine runs it, or the engine crashed, ran out of memory or time.
        UsageError: A numpy model cannot be imported.
        InvalidModel: The file is missing or not a model.
    """
    from graphfix.proving.values.files import read_values, write_values

    with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
        folder = Path(text)
        write_values(folder / "feeds.json", feeds)
        request: dict[str, Any] = {
            "do": "run",
            "models": [str(path.absolute())],
            "evaluators": listed(evaluators or {}),
        }
        ask(TASK, folder, request, Limits(timeout, memory_limit))
        return read_values(folder / "outputs.json")


def listed(evaluators: Evaluators) -> list[list[str]]:
    """Return numpy models as a request to a child names them."""
    return [[domain, op, _absolute(place)] for (domain, op), place in evaluators.items()]


def _absolute(place: str) -> str:
    source, _, name = place.rpartition(":")
    return f"{Path(source).absolute()}:{name}" if source.endswith(".py") else place
