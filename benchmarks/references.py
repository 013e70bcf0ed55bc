"""Comparing what a repaired model computes with results that were stored next to the model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

Array = NDArray[Any]
Runner = Callable[[Path, "dict[str, Array]"], "dict[str, Array]"]

# (rtol, atol as a fraction of the largest reference value): what a rewrite may cost by rounding.
_TOLERANCE = {"float64": (1e-6, 1e-7), "float32": (1e-3, 1e-4), "float16": (1e-2, 1e-3)}
_THREADS = 1  # several models run at once, and each is small


def run_model(model: Path, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the outputs of a model in onnxruntime with optimisations off, by name, in order.

    A sequence becomes one output per part, named `name[0]` and so on.
    """
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = _THREADS
    options.log_severity_level = 4
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    feeds = {
        value.name: _stored(arrays, "in", value.name, position)
        for position, value in enumerate(session.get_inputs())
    }
    names = [value.name for value in session.get_outputs()]
    return _named(names, session.run(names, feeds))


def run_reference(model: Path, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return the outputs of a model in the ONNX reference evaluator, as `run_model` does."""
    evaluator: Any = ReferenceEvaluator(str(model))
    feeds = {
        name: _stored(arrays, "in", name, position)
        for position, name in enumerate(evaluator.input_names)
    }
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _named(evaluator.output_names, evaluator.run(None, feeds))


def _named(names: Sequence[str], values: Sequence[Any]) -> dict[str, Array]:
    outputs: dict[str, Array] = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, list):  # a sequence
            parts = cast("list[object]", value)
            outputs |= {f"{name}[{i}]": np.asarray(part) for i, part in enumerate(parts)}
        else:
            outputs[name] = value
    return outputs


def _stored(arrays: dict[str, Array], kind: str, name: str, position: int) -> Array:
    """Return the array of an input or output, stored by its name or by its number.

    An exporter drops an unused input, so the number is in the name (`x2`), not in the order.
    """
    # The exported corpus numbers its arrays, and some of its outputs are called 1, 2, 3 as well.
    numbered = all(key.rpartition("_")[2].isdigit() for key in arrays)
    by_number = name[1:] if kind == "in" and name[1:].isdigit() else str(position)
    for key in (f"{kind}_{name}", f"{kind}_{by_number}"):
        if key in arrays and not (numbered and key != f"{kind}_{by_number}"):
            return arrays[key]
    raise KeyError(f"no reference for {kind}put {name}")


def difference(result: Array, expected: Array) -> str:
    """Return how a result differs from what is expected, or an empty string.

    Integers, bools and strings are compared exactly; floats within `_TOLERANCE`, with NaN equal to
    NaN at the same place and infinities by sign.
    """
    if result.dtype != expected.dtype:
        return f"dtype {result.dtype}, expected {expected.dtype}"
    if result.shape != expected.shape:
        return f"shape {list(result.shape)}, expected {list(expected.shape)}"
    if result.dtype.name not in _TOLERANCE:
        wrong = int(np.count_nonzero(result != expected))
        return f"{wrong} of {result.size} values differ" if wrong else ""
    rtol, fraction = _TOLERANCE[result.dtype.name]
    wide, reference = result.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(reference)
    if not np.array_equal(wide[~finite], reference[~finite], equal_nan=True):
        return "NaN or infinity at other places"
    scale = float(np.max(np.abs(reference[finite]), initial=0.0))
    distance = np.abs(wide[finite] - reference[finite])
    allowed = rtol * np.abs(reference[finite]) + fraction * scale
    # Written so that a NaN in the result, for which every comparison is false, counts as wrong.
    wrong = int(np.count_nonzero(~(distance <= allowed)))
    if wrong == 0:
        return ""
    return f"{wrong} of {result.size} values differ, by up to {float(np.max(distance)):.3g}"


def compare_with_references(
    repaired: Path, original: Path, references: Path, *, against_original: bool
) -> int:
    """Print as JSON how a repaired model compares; made to be called in a child.

    The status is `equal`, `mismatch`, `as exported` (equal to what the original computes, which
    differs from the stored results), `does not run`, `never ran` (nor does the original) or
    `no reference`. An original that onnxruntime refuses is computed by the ONNX reference
    evaluator, which knows standard operators alone: where a file has others, what they mean is
    graphfix's own reading, and the stored results have the last word.

    Args:
        repaired: The file that graphfix wrote.
        original: The file that it was made from.
        references: The `.npz` with `in_*` and `out_*`.
        against_original: Whether it is known that the original differs from the stored results.
    """
    with np.load(references, allow_pickle=False) as opened:
        arrays: dict[str, Array] = dict(opened)
    try:
        results = run_model(repaired, arrays)
    except Exception as error:
        ran = isinstance(_attempt(original, arrays), dict)
        return _answer("does not run" if ran else "never ran", _line(error))
    wrong = ""
    if not against_original:
        stored = {n: _stored(arrays, "out", n, i) for i, n in enumerate(results)}
        wrong = _first_difference(results, stored)
        if not wrong:
            return _answer("equal", "")
    computed = _attempt(original, arrays)
    if isinstance(computed, dict):
        against = _first_difference(results, computed)
        return _answer("mismatch" if against else "as exported", against)
    by_definition = _attempt(original, arrays, run_reference)
    if isinstance(by_definition, dict) and not _first_difference(results, by_definition):
        return _answer("as exported", "")
    if against_original:
        return _answer("no reference", f"the original does not run: {computed}")
    return _answer("mismatch", wrong)


def _attempt(
    model: Path, arrays: dict[str, Array], run: Runner = run_model
) -> dict[str, Array] | str:
    """Return the outputs of a model, or why it does not run."""
    try:
        return run(model, arrays)
    except Exception as error:
        return _line(error)


def _first_difference(results: dict[str, Array], expected: dict[str, Array]) -> str:
    if results.keys() != expected.keys():
        return f"outputs {list(results)}, expected {list(expected)}"
    for name, result in results.items():
        wrong = difference(result, expected[name])
        if wrong:
            return f"{name}: {wrong}"
    return ""


def _answer(status: str, reason: str) -> int:
    print(json.dumps({"status": status, "reason": reason}))
    return 0


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
