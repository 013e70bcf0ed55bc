"""The judge: an original and a result in plain onnxruntime, on draws of its own.

It imports nothing of graphfix. Of each sample that the original runs:

- the result runs too, and gives tensors of the same types and shapes;
- integers, booleans and strings are equal;
- NaN is at the same places, infinities with the same sign;
- floats differ by at most ``min(16 * noise + 64 * eps * |x|, cap * magnitude)``, plus the smallest
  normal number of the type. ``noise`` is measured on the original: how far it moves, anywhere in
  the tensor, when its float inputs move by one unit in the last place, in several draws. ``eps``
  and ``cap`` are those of the type of the output, of float32 where a site says ``approximate``.

A sample is ``wild`` where the original has a NaN, an infinity or a number within a factor of 4 of
overflow anywhere inside: passes say what they make of those (``claims``). It is ``wide`` with
floats beyond float32 or integers beyond 2^24, for which approximate sites do not be.
`differential.py` counts a difference on a sample as wild where the passes do not stand for it.

A sample on which the moved original gives another integer, shape or NaN says nothing of that
output: the model is not continuous there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import onnx
import onnx.inliner
import onnxruntime  # type: ignore[import-untyped]
from onnx import ModelProto

from benchmarks.differential.draws import Draw, feed, plan
from benchmarks.differential.scope import Array, Input

EPS = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52, "bfloat16": 2.0**-7}
CAP = {"float16": 2e-2, "float32": 2e-3, "float64": 1e-6, "bfloat16": 2.0**-5}
TINY = {"float16": 6.2e-5, "float32": 1.2e-38, "float64": 2.3e-308, "bfloat16": 1.2e-38}
NOISE_FACTOR, FLOOR_FACTOR = 16.0, 64.0
MOVES = 3

Outputs = list[Any]


@dataclass(frozen=True)
class Sample:
    """What goes into the original and the result, and out of it moved a little.

    Attributes:
        draw: How it was drawn.
        fed: The inputs.
        outputs: What the original gives.
        moved: What it gives when its floats move by one unit in the last place.
        wild: Whether a NaN, an infinity or what is close to one is anywhere in the original.
        wide: Whether a float beyond float32 or an integer beyond 2^24 is.
    """

    draw: Draw
    fed: dict[str, Array]
    outputs: Outputs
    moved: list[Outputs]
    wild: bool = False
    wide: bool = False


@dataclass(frozen=True)
class Judgement:
    """What a judge says of a result.

    Attributes:
        status: ``equal``, ``differs``, ``raises``, ``interface``, ``unloadable`` or ``unjudged``.
        text: What was seen.
        kind: The kind of the draw that showed it.
        draw: How its sample was drawn.
        samples: How many samples counted.
        place: The output.
    """

    status: str
    text: str = ""
    kind: str = ""
    draw: Draw | None = None
    samples: int = 0
    place: int = -1
    wild: bool = False
    wide: bool = False
    values: tuple[Any, ...] = field(default=(), repr=False, compare=False)


def session(model: ModelProto) -> Any:
    """Open a model as it is, without optimisations, on one thread."""
    engine: Any = onnxruntime
    options = engine.SessionOptions()
    options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return engine.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(opened: Any, fed: Mapping[str, Array], outputs: Sequence[str] | None = None) -> Outputs:
    """Run a session on a sample; bfloat16 goes through values of onnxruntime."""
    known = {i.name: i.type for i in opened.get_inputs()}
    given: dict[str, Any] = {}
    for name, value in fed.items():
        if name not in known:
            continue
        given[name] = value
        if value.dtype.name == "bfloat16":
            make = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type
            given[name] = make(value.view(np.uint16), 16)
    names = list(outputs) if outputs is not None else [o.name for o in opened.get_outputs()]
    if any(hasattr(v, "is_tensor") for v in given.values()):
        rest = onnxruntime.OrtValue.ortvalue_from_numpy
        values = {n: v if hasattr(v, "is_tensor") else rest(v) for n, v in given.items()}
        return [v.numpy() for v in opened.run_with_ort_values(names, values)]
    return list(opened.run(names, given))


def runs_once(model: ModelProto, inputs: Sequence[Input]) -> bool:
    """Say whether a model runs on its first sample."""
    try:
        with np.errstate(all="ignore"):
            run(session(model), feed(inputs, next(iter(plan(inputs)))))
    except Exception:
        return False
    return True


def aborts_on_empty(model: ModelProto) -> bool:
    """Say whether a size of 0 may end the process.

    onnxruntime's GRU aborts on an empty batch, its ConvTranspose on an axis without elements.
    """
    nodes = [*model.graph.node, *(n for f in model.functions for n in f.node)]
    return any(n.op_type in ("GRU", "LSTM", "RNN", "ConvTranspose") for n in nodes)


def samples_of(model: ModelProto, inputs: Sequence[Input]) -> list[Sample]:
    """Run the original on every draw; those that it rejects are left out."""
    opened = session(model)
    found: list[Sample] = []
    for draw in plan(inputs, empty=not aborts_on_empty(model)):
        fed = feed(inputs, draw)
        try:
            with np.errstate(all="ignore"):
                outputs = run(opened, fed)
                moved = [run(opened, _moved(fed, inputs, turn)) for turn in range(MOVES)]
                again = run(opened, fed)
        except Exception:
            continue
        if all(_identical(a, b) for a, b in zip(outputs, again, strict=True)):
            inside = values_inside(model, fed)
            wild, wide = any(map(_overflows, inside)), any(map(_beyond, inside))
            found.append(Sample(draw, fed, outputs, moved, wild, wide))
    return found


def values_inside(model: ModelProto, fed: Mapping[str, Array]) -> list[Array]:
    """Return the numbers inside a model, those in subgraphs left out, those in functions not."""
    opened = ModelProto()
    opened.CopyFrom(onnx.inliner.inline_local_functions(model) if model.functions else model)
    inferred: Any = onnx.shape_inference.infer_shapes(opened)
    known = {v.name: v for v in inferred.graph.value_info if v.type.tensor_type.elem_type}
    declared = {v.name for v in opened.graph.output}
    made = [name for node in opened.graph.node for name in node.output]
    opened.graph.output.extend(known[n] for n in made if n in known and n not in declared)
    for value in opened.graph.output:
        value.type.tensor_type.ClearField("shape")
    try:
        found = run(session(opened), fed)
    except Exception:
        found = []
    plain = (np.asarray(v) for v in (*found, *fed.values()) if not isinstance(v, list))
    return [v.astype(np.float64) if v.dtype.name == "bfloat16" else v for v in plain]


def _overflows(value: Array) -> bool:
    if value.dtype.kind != "f":
        return False
    return bool((~(np.abs(value) < np.finfo(value.dtype).max / 4)).any())


def _beyond(value: Array) -> bool:
    if value.dtype.kind == "f":
        return bool((np.abs(value[np.isfinite(value)].astype(np.float64)) > 3e38).any())
    if value.dtype.kind in "iu":
        return bool(((value > 2**24) | (value < -(2**24))).any())
    return False


def _moved(fed: dict[str, Array], inputs: Sequence[Input], turn: int) -> dict[str, Array]:
    """Move every float that is drawn by one unit in the last place, up or down."""
    rng = np.random.default_rng([turn, 11])
    drawn = {i.name for i in inputs if not i.values}
    out: dict[str, Array] = {}
    for name, value in fed.items():
        out[name] = value
        if name in drawn and value.dtype.name in EPS and value.dtype.name != "bfloat16":
            sides: tuple[int, ...] = value.shape
            way = np.where(rng.random(sides) < 0.5, -np.inf, np.inf).astype(value.dtype)
            with np.errstate(all="ignore"):
                near = np.nextafter(value, way)
            keep = ~np.isfinite(value) | (value == 0) | ~np.isfinite(near)
            out[name] = np.asarray(np.where(keep, value, near), value.dtype)
    return out


def _identical(one: Any, two: Any) -> bool:
    if isinstance(one, list):
        parts = cast("list[object]", one)
        return len(parts) == len(two) and all(map(_identical, parts, two))
    one, two = np.asarray(one), np.asarray(two)
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    return bool(np.array_equal(one, two, equal_nan=one.dtype.kind == "f"))


def judge(
    original: ModelProto,
    result: ModelProto,
    samples: Sequence[Sample],
    *,
    approximate: bool = False,
) -> Judgement:
    """Run a result on the samples of its original and say whether it computes the same."""
    for field_ in ("input", "output"):
        one, two = (
            [(v.name, v.type.tensor_type.elem_type) for v in getattr(m.graph, field_)]
            for m in (original, result)
        )
        if one != two:
            return Judgement("interface", f"{field_}s are {two[:6]} and were {one[:6]}")
    try:
        opened = session(result)
    except Exception as error:
        return Judgement("unloadable", _line(error))
    for sample in sorted(samples, key=lambda s: (s.wild, s.wide)):
        try:
            with np.errstate(all="ignore"):
                got = run(opened, sample.fed)
        except Exception as error:
            kind = sample.draw.kind
            return Judgement("raises", _line(error), kind, sample.draw, len(samples),
                             wild=sample.wild, wide=sample.wide)  # fmt: skip
        for place, (one, two) in enumerate(zip(sample.outputs, got, strict=True)):
            moved = [m[place] for m in sample.moved]
            text = difference(one, two, moved, approximate=approximate)
            if text:
                return Judgement("differs", text, sample.draw.kind, sample.draw, len(samples),
                                 place, sample.wild, sample.wide, (one, two))  # fmt: skip
    return Judgement("equal" if samples else "unjudged", samples=len(samples))


def difference(one: Any, two: Any, moved: Sequence[Any], *, approximate: bool = False) -> str:
    """Say how an output differs; empty where it is equal within the rule of this file."""
    if isinstance(one, list) or isinstance(two, list):
        if not (isinstance(one, list) and isinstance(two, list)):
            return "another sequence"
        pairs = cast("tuple[list[object], list[object]]", (one, two))
        if len(pairs[0]) != len(pairs[1]):
            return "another sequence"
        texts = (difference(a, b, [], approximate=approximate) for a, b in zip(*pairs, strict=True))
        return next((t for t in texts if t), "")
    one, two = np.asarray(one), np.asarray(two)
    if one.dtype != two.dtype or one.shape != two.shape:
        return f"{two.dtype}{list(two.shape)} for {one.dtype}{list(one.shape)}"
    if any(np.shape(m) != one.shape for m in moved):
        return ""
    if one.dtype.name not in EPS:
        if any(not _identical(one, m) for m in moved) or _identical(one, two):
            return ""
        wrong = one != two
        return f"{int(wrong.sum())} of {one.size}: {_ends(one, two, wrong)}"
    a, b = one.astype(np.float64), two.astype(np.float64)
    near = [np.asarray(m).astype(np.float64) for m in moved]
    odd = ~np.isfinite(a)
    if any(not np.array_equal(a[odd], m[odd], equal_nan=True) or (~np.isfinite(m) & ~odd).any()
           for m in near):  # fmt: skip
        return ""
    if not np.array_equal(a[odd], b[odd], equal_nan=True) or (~np.isfinite(b) & ~odd).any():
        wrong = (odd | ~np.isfinite(b)) & ~((a == b) | (np.isnan(a) & np.isnan(b)))
        return f"other NaN or infinity: {_ends(one, two, wrong)}"
    with np.errstate(all="ignore"):
        a, b = np.where(odd, 0.0, a), np.where(odd, 0.0, b)
        near = [np.where(odd, 0.0, m) for m in near]
        allowed = tolerance(a, near, one.dtype.name, approximate=approximate)
        wrong = np.abs(a - b) > allowed
    if not wrong.any():
        return ""
    worst = float(np.max((np.abs(a - b) / np.maximum(allowed, 1e-300))[wrong]))
    return f"{int(wrong.sum())} of {one.size}, {worst:.3g} tolerances: {_ends(one, two, wrong)}"


def tolerance(a: Array, near: Sequence[Array], name: str, *, approximate: bool) -> Array:
    """Return how far each element may be off, as the head of this file says."""
    counted = "float32" if approximate and name == "float64" else name
    magnitude = float(np.max(np.abs(a), initial=0.0))
    noise = max((float(np.max(np.abs(a - m), initial=0.0)) for m in near), default=0.0)
    if counted != name:
        noise *= EPS[counted] / EPS[name]
    wide = NOISE_FACTOR * noise + FLOOR_FACTOR * EPS[counted] * np.abs(a)
    wide = wide + 8 * EPS[counted] * magnitude
    return np.minimum(wide, CAP[counted] * magnitude) + TINY[counted]


def _ends(one: Array, two: Array, wrong: Array) -> str:
    return f"{one[wrong].ravel()[:3].tolist()} became {two[wrong].ravel()[:3].tolist()}"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
