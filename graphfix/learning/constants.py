"""Which inputs an engine takes as constants alone: a model of each that is given one.

The input in question is p: int64, of the numbers after the graph. The newest opset is 18; an older
one has some of these as attributes, which is no question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, numpy_helper

from graphfix.ir.schemas import form_of
from graphfix.learning.limits import Limits
from graphfix.learning.record import Record
from graphfix.learning.verdicts import EQUAL, FAILED, Array
from graphfix.operators.table import REDUCTIONS

Asked = tuple[ModelProto, dict[str, Array], dict[str, Array]]
NEWEST, OLDEST = 18, 11
MODELS: dict[str, tuple[str, list[int]]] = {
    "CumSum.axis": ("(float[2,2] x, int64 p) => (float[2,2] y) { y = CumSum (x, p) }", [1]),
    "ConstantOfShape.input": ("(int64[2] p) => (float[n,m] y) { y = ConstantOfShape (p) }", [2, 3]),
    "Expand.shape": ("(float[2,1] x, int64[2] p) => (float[n,m] y) { y = Expand (x, p) }", [2, 3]),
    "OneHot.depth": (
        "(int64[2] x, int64[1] p) => (float[2,n] y) <float[2] v = {0,1}> { y = OneHot (x, p, v) }",
        [3],
    ),
    "Pad.pads": ("(float[2,2] x, int64[4] p) => (float[n,m] y) { y = Pad (x, p) }", [1, 0, 0, 0]),
    **{
        f"{op}.axes": (f"(float[2,2] x, int64[1] p) => (float[n,m] y) {{ y = {op} (x, p) }}", [1])
        for op in REDUCTIONS
    },
    "Resize.scales": (
        "(float[1,1,2,2] x, int64[4] p) => (float[a,b,c,d] y)"
        "{ s = Cast <to = 1> (p) y = Resize (x, , s) }",
        [1, 1, 2, 2],
    ),
    "Resize.sizes": (
        "(float[1,1,2,2] x, int64[4] p) => (float[a,b,c,d] y) { y = Resize (x, , , p) }",
        [1, 1, 4, 4],
    ),
    "Slice.starts": (
        "(float[4] x, int64[1] p) => (float[n] y) <int64[1] e = {4}> { y = Slice (x, p, e) }",
        [1],
    ),
    "Slice.ends": (
        "(float[4] x, int64[1] p) => (float[n] y) <int64[1] s = {0}> { y = Slice (x, s, p) }",
        [2],
    ),
    "Split.split": (
        "(float[4] x, int64[2] p) => (float[n] y, float[m] z) { y, z = Split (x, p) }",
        [1, 3],
    ),
    "Squeeze.axes": ("(float[2,1] x, int64[1] p) => (float[n] y) { y = Squeeze (x, p) }", [1]),
    "Tile.repeats": ("(float[2,2] x, int64[2] p) => (float[n,m] y) { y = Tile (x, p) }", [2, 1]),
    "TopK.K": (
        "(float[4] x, int64[1] p) => (float[n] y, int64[n] i) { y, i = TopK (x, p) }",
        [2],
    ),
    "Trilu.k": ("(float[2,2] x, int64[1] p) => (float[2,2] y) { y = Trilu (x, p) }", [0]),
    "Unsqueeze.axes": ("(float[2] x, int64[1] p) => (float[n,m] y) { y = Unsqueeze (x, p) }", [1]),
}


def pair(name: str, opset: int = NEWEST, ir: int = 8) -> tuple[Asked, Asked] | None:
    """Return a model of an operator with a constant, and the same that is given its numbers.

    Args:
        name: A key of `MODELS`.
        opset: The opset of the models.
        ir: Their IR version.

    Returns:
        None where the operator of the opset has no such input.
    """
    graph, numbers = MODELS[name]
    op, _, parameter = name.partition(".")
    form = form_of(op, opset)
    if form is None or parameter not in form.inputs:
        return None
    head = f'<ir_version: {ir}, opset_import: ["" : {opset}]>'
    given = onnx.parser.parse_model(f"{head} g {graph}")
    (last,) = [info for info in given.graph.input if info.name == "p"]
    values = np.array(numbers, dtype=np.int64)
    if not last.type.tensor_type.shape.dim:
        values = values.reshape(())
    constant = ModelProto.FromString(given.SerializeToString())
    constant.graph.initializer.append(numpy_helper.from_array(values, "p"))
    kept = [info for info in given.graph.input if info.name != "p"]
    del constant.graph.input[:]
    constant.graph.input.extend(kept)
    feed = {info.name: _sample(info) for info in kept}
    expected = computed(given, {**feed, "p": values})
    return (constant, feed, expected), (given, {**feed, "p": values}, expected)


def computed(model: ModelProto, feed: Mapping[str, Array]) -> dict[str, Array]:
    import onnxruntime  # type: ignore[import-untyped]

    session: Any = onnxruntime.InferenceSession(model.SerializeToString())
    results: list[Any] = session.run(None, dict(feed))
    wanted = [info.name for info in model.graph.output]
    return {key: np.asarray(value) for key, value in zip(wanted, results, strict=True)}


def _sample(info: onnx.ValueInfoProto) -> Array:
    tensor = info.type.tensor_type
    shape = [dim.dim_value for dim in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def constant_inputs(record: Record, limits: Limits, taken: set[str]) -> None:
    """Ask about the inputs of the operators that are taken, where the engine has their opset."""
    opset = min(NEWEST, limits.opsets[1])
    if opset < max(OLDEST, limits.opsets[0]):
        return
    for name in MODELS:
        pair_of = pair(name, opset, min(8, limits.ir or 8))
        if name.partition(".")[0] in taken and pair_of is not None:
            for how, made in zip(("constant", "given"), pair_of, strict=True):
                record.of_model(f"{name} {how}", partial(_itself, made))


def _itself(made: Asked) -> Asked:
    return made


def demanded(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the operators and inputs that are taken as constants and refused otherwise."""
    for name in MODELS:
        constant, given = (
            record.rows.get(record.named(f"{name} {how}")) for how in ("constant", "given")
        )
        if constant is None or given is None:
            continue
        if constant.verdict == EQUAL and given.verdict in FAILED:
            op, _, parameter = name.partition(".")
            yield op, parameter
