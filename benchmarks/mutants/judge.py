"""The judge of the mutants: what a model computes, against numpy in float64.

It shares no code with graphfix. The truth is the reference evaluator of onnx (and the numpy models
of `operators.py`) on a copy of the original in which every float is a float64; the mutant's
result is run as it is. A difference counts above the tolerance that certificates state:

    min(max(8 * noise, floor * eps * magnitude), cap * magnitude)

with `magnitude` the largest finite truth of the tensor, `noise` how far the original itself, run as
it is, comes from the truth, eps and cap of `EPS` and `CAP`, floor 8 (2 for 16 bits). Integers and
booleans are equal or not. Input sets whose truth is not finite are left out unless the example is
`special`; so are those for which rounding changes an integer of the original itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from benchmarks.mutants.feeds import draw
from benchmarks.mutants.operators import OPERATORS

VALUES = 100_000
FEWEST_FEEDS, MOST_FEEDS = 24, 2000
EPS = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 2.0**-52}
CAP = {"float32": 1e-3, "float16": 1e-2, "bfloat16": 2.0**-6, "float64": 1e-7}
NOISE_FACTOR = 8.0
_WIDENED = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)

Array = np.ndarray[Any, Any]
Feed = dict[str, Array]


@dataclass(frozen=True)
class Trial:
    """One input set: what goes in, what has to come out, and how far off it may be."""

    feed: Feed
    truth: list[Any]
    allowed: list[float]


@dataclass(frozen=True)
class Judgement:
    """What became of a result.

    Attributes:
        status: ``equal``, ``below`` (it differs, within the tolerance), ``differs`` (or raises
            on some input) or ``fails`` (on all of them).
        excess: The largest difference in tolerances; infinite for integers, shapes and types.
        text: What was seen.
    """

    status: str
    excess: float = 0.0
    text: str = ""


class BadExample(Exception):  # noqa: N818 - it says what the example is
    """Raised where an example does not show what it is there for."""


def prepare(
    model: onnx.ModelProto,
    domains: Mapping[str, str],
    sizes: Mapping[str, Sequence[int]],
    *,
    special: bool,
    seed: int,
) -> list[Trial]:
    """Draw input sets of at least `VALUES` values together, with their truth.

    Raises:
        BadExample: The truth cannot be had, or is not what the original computes.
    """
    truth_of: Any = ReferenceEvaluator(widened(model), new_ops=OPERATORS)
    native = native_runner(model)
    trials: list[Trial] = []
    taken = number = strange = 0
    while taken < VALUES or len(trials) < FEWEST_FEEDS:
        if number > MOST_FEEDS:
            raise BadExample(f"only {taken} values of {number} input sets are of use")
        rng = np.random.default_rng([seed, number])
        chosen = {name: given[number % len(given)] for name, given in sizes.items()}
        feed = draw(model, domains, chosen, number, rng, special=special)
        number += 1
        with np.errstate(all="ignore"):
            truth = truth_of.run(None, {k: _wide(v) for k, v in feed.items()})
            found = native(feed)
            allowed = _allowances(truth, found, special=special)
        if allowed is None:
            strange += 1
            if strange > 40 and strange > 3 * len(trials):
                raise BadExample(f"the original is far from its truth: {_reported(truth, found)}")
            continue
        trials.append(Trial(feed, truth, allowed))
        taken += sum(v.size for v in feed.values()) or VALUES // FEWEST_FEEDS
    return trials


def judge(model: onnx.ModelProto, trials: Sequence[Trial]) -> Judgement:
    """Run a result on every input set and say how far it is from the truth."""
    try:
        run = native_runner(model)
    except Exception as error:
        return Judgement("fails", text=_line(error))
    worst = Judgement("equal")
    failed, ran = "", False
    for trial in trials:
        try:
            with np.errstate(all="ignore"):
                found = run(trial.feed)
        except Exception as error:
            failed = failed or _line(error)
            continue
        ran = True
        for place, (truth, got) in enumerate(zip(trial.truth, found, strict=True)):
            excess, text = _excess(truth, got, trial.allowed[place])
            if excess > worst.excess:
                status = "differs" if excess > 1.0 else "below"
                worst = Judgement(status, excess, text)
        if worst.excess == math.inf:
            break
    if failed and worst.status != "differs":
        # What runs on some inputs and raises on others that the original takes is another result.
        return Judgement("differs" if ran else "fails", math.inf if ran else 0.0, failed)
    return worst


def native_runner(model: onnx.ModelProto) -> Any:
    """Return what runs a model as it is: onnxruntime, or else the reference evaluator."""
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    outputs = [o.name for o in model.graph.output]
    session: Any
    try:
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception:
        known = {type_.__name__ for type_ in OPERATORS} | {"ATen"}
        if not any(n.op_type in known for n in model.graph.node) and not _has_bfloat16(model):
            raise
        session = ReferenceEvaluator(model, new_ops=OPERATORS)
    names = [i.name for i in model.graph.input]

    def run(feed: dict[str, Array]) -> Any:
        return session.run(outputs, {name: feed[name] for name in names})

    return run


def _has_bfloat16(model: onnx.ModelProto) -> bool:
    return any(
        info.type.tensor_type.elem_type == TensorProto.BFLOAT16
        for info in (*model.graph.input, *model.graph.output)
    )


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy in which floats are float64: types, constants, and what Cast makes."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    _widen_graph(copy.graph)
    for function in copy.functions:
        for node in function.node:
            _widen_node(node)
    return copy


def _widen_graph(graph: onnx.GraphProto) -> None:
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for info in (*graph.input, *graph.output, *graph.value_info):
        kind = info.type.tensor_type
        if info.type.HasField("tensor_type") and kind.elem_type in _WIDENED:
            kind.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        _widen_node(node)


def _widen_node(node: onnx.NodeProto) -> None:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.TENSOR:
            _widen_tensor(attribute.t)
        elif attribute.type == onnx.AttributeProto.GRAPH:
            _widen_graph(attribute.g)
        elif node.op_type == "Cast" and attribute.name == "to" and attribute.i in _WIDENED:
            attribute.i = TensorProto.DOUBLE
        elif attribute.name in ("value_float", "value_floats"):
            numbers = np.array(onnx.helper.get_attribute_value(attribute), np.float64)
            tensor = onnx.numpy_helper.from_array(numbers)
            attribute.CopyFrom(onnx.helper.make_attribute("value", tensor))


def _widen_tensor(tensor: TensorProto) -> None:
    if tensor.data_type in _WIDENED:
        name = tensor.name
        array = onnx.numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, name))


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if _is_float(array) else array


def _is_float(array: Array) -> bool:
    return bool(array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16)


def _allowances(truth: list[Any], found: list[Any], *, special: bool) -> list[float] | None:
    """Return the tolerance of each output; None where this input set says nothing."""
    result: list[float] = []
    for exact, value in zip(truth, found, strict=True):
        if isinstance(exact, list):
            if not _same_lists(exact, value):
                return None
            result.append(0.0)
            continue
        exact, value = np.asarray(exact), np.asarray(value)
        if exact.shape != value.shape:
            return None
        if not _is_float(value):
            if not np.array_equal(exact, value):
                return None
            result.append(0.0)
            continue
        one, two = exact.astype(np.float64), value.astype(np.float64)
        finite = np.isfinite(one)
        if not finite.all() and not special:
            return None
        if not _alike(one, two):
            return None
        magnitude = float(np.abs(one[finite]).max(initial=0.0))
        noise = float(np.abs(one - two, where=finite, out=np.zeros_like(one)).max(initial=0.0))
        name = value.dtype.name
        cap = CAP[name] * magnitude
        if noise > cap:
            return None
        floor = (8.0 if value.dtype.itemsize >= 4 else 2.0) * EPS[name] * magnitude
        result.append(min(max(NOISE_FACTOR * noise, floor), cap))
    return result


def _alike(one: Array, two: Array) -> bool:
    """Say whether NaN and infinities are at the same places."""
    odd = ~np.isfinite(one) | ~np.isfinite(two)
    return bool(np.array_equal(one[odd], two[odd], equal_nan=True))


def _same_lists(one: Any, two: Any) -> bool:
    return len(one) == len(two) and all(
        np.shape(a) == np.shape(b) and np.allclose(_wide(a), _wide(b), 1e-5, 1e-5)
        for a, b in zip(one, two, strict=True)
    )


def _excess(truth: Any, got: Any, allowed: float) -> tuple[float, str]:
    """Return a difference in tolerances and as text."""
    if isinstance(truth, list):
        same = isinstance(got, list) and _same_lists(truth, got)
        return (0.0, "") if same else (math.inf, "another sequence")
    truth, got = np.asarray(truth), np.asarray(got)
    if truth.shape != got.shape:
        return math.inf, f"shape {list(got.shape)} for {list(truth.shape)}"
    if not _is_float(truth):
        if truth.dtype != got.dtype:
            return math.inf, f"{got.dtype} for {truth.dtype}"
        wrong = int((truth != got).sum())
        return (math.inf, f"{wrong} of {truth.size} elements") if wrong else (0.0, "")
    if not _is_float(got):
        return math.inf, f"{got.dtype} for a float"
    one, two = truth.astype(np.float64), got.astype(np.float64)
    if not _alike(one, two):
        return math.inf, "another NaN or infinity"
    gap = np.abs(one - two, where=np.isfinite(one), out=np.zeros_like(one))
    largest = float(gap.max(initial=0.0))
    if not largest:
        return 0.0, ""
    excess = largest / allowed if allowed else math.inf
    return excess, f"off by {largest:.3g}, {allowed:.3g} is allowed"


def _reported(truth: list[Any], found: list[Any]) -> str:
    return "; ".join(
        f"{np.asarray(b).dtype}{list(np.shape(b))} for {np.asarray(a).dtype}{list(np.shape(a))}, "
        f"{np.ravel(b)[:4]} for {np.ravel(a)[:4]}"
        for a, b in zip(truth, found, strict=True)
    )


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:160]
