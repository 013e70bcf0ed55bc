"""The table of axes: held against onnx's schemas and what onnxruntime computes of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from graphfix.operators.axes import AXES_OF, Axes, Mixing
from graphfix.proving.sites.axes import Axis
from graphfix.proving.sites.following import input_axes
from graphfix.worker.sessions import open_session

OPSET = 20
OWN = [row for row in AXES_OF.values() if not row.domain]
# Their results have the shape of the first input, so that a part of one is reported by its place.
SHAPED = (Mixing.NONE, Mixing.ALONG, Mixing.FROM, Mixing.PLANES, Mixing.CHANNELS, Mixing.SCALES)
INTEGERS = {"BitShift": 13, "BitwiseAnd": 6, "BitwiseNot": 6, "BitwiseOr": 6, "BitwiseXor": 6}
BOOLS = frozenset({"And", "Not", "Or", "Xor"})
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "BitShift": {"direction": "LEFT"},
    "Cast": {"to": 11},
    "LRN": {"size": 3},
    "Mod": {"fmod": 1},
}
VECTORS = {"InstanceNormalization": 2, "BatchNormalization": 4, "LayerNormalization": 1}
UNTRIED = frozenset({"TopK", "Swish", "DequantizeLinear", "Clip"})
SHAPE = (4, 6, 5, 7)


@pytest.mark.parametrize("row", OWN, ids=lambda row: row.name)
def test_rows_name_operators_and_their_default_axis(row: Axes) -> None:
    schema = onnx.defs.get_schema(row.name)
    attribute = schema.attributes.get("axis")
    kinds = (Mixing.ALONG, Mixing.FROM, Mixing.SCALES, Mixing.CHOSEN, Mixing.DIVIDED, Mixing.PICKED)
    if row.mixing in kinds and attribute is not None and attribute.default_value.name:
        assert attribute.default_value.i == row.axis
    assert row.since <= schema.since_version or row.since in (7, 9, 11, 13)


def _inputs(row: Axes) -> dict[str, np.ndarray[Any, Any]]:
    """Return inputs of an operator whose results have the shape of the first one."""
    rng = np.random.default_rng(3)
    schema = onnx.defs.get_schema(row.name, OPSET)
    x: np.ndarray[Any, Any] = rng.uniform(0.2, 0.9, SHAPE).astype(np.float32)
    if row.name in INTEGERS:
        kind = helper.tensor_dtype_to_np_dtype(INTEGERS[row.name])
        x = rng.integers(0, 3, SHAPE).astype(kind)
    if row.name in BOOLS:
        x = rng.random(SHAPE) < 0.5
    found = {"x": x}
    if row.name in VECTORS:
        size = SHAPE[-1] if row.name == "LayerNormalization" else SHAPE[1]
        vectors = rng.uniform(0.5, 1.5, (VECTORS[row.name], size)).astype(np.float32)
        return found | {f"v{n}": vector for n, vector in enumerate(vectors)}
    if row.name == "QuantizeLinear":
        return found | {"scale": np.array(0.1, np.float32)}
    if row.name == "Where":
        return {"c": rng.random(SHAPE) < 0.5, "x": x, "z": x[::-1].copy()}
    if row.name == "Acosh":
        return {"x": x + 1}
    if schema.min_input == 2 or row.name in ("Max", "Min", "Sum"):
        return found | {"z": np.ascontiguousarray(x[:, :, :1])}  # broadcast along one axis
    return found


def _model(row: Axes, inputs: dict[str, np.ndarray[Any, Any]]) -> onnx.ModelProto:
    node = helper.make_node(row.name, list(inputs), ["y"], **ATTRIBUTES.get(row.name, {}))
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in inputs.items()
    ]
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name="y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def _run(row: Axes, inputs: dict[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    session = open_session(_model(row, inputs).SerializeToString())
    found: np.ndarray[Any, Any] = session.run(None, inputs)[0]
    return found


@pytest.mark.parametrize(
    "row", [r for r in OWN if r.mixing in SHAPED and r.name not in UNTRIED], ids=lambda r: r.name
)
def test_a_part_of_an_axis_that_is_not_mixed_gives_that_part(row: Axes) -> None:
    inputs = _inputs(row)
    model = _model(row, inputs)
    dims = input_axes(model, model)
    whole = _run(row, inputs)
    assert whole.shape == SHAPE
    free = 0
    for axis, dim in enumerate(dims["x"]):
        root = dim.root() if isinstance(dim, Axis) else None
        if root is None or root.bound:
            continue
        free += 1
        places = [0, 2, 3]
        parts = dict(inputs)
        for name, others in dims.items():
            for place, other in enumerate(others):
                if isinstance(other, Axis) and other.root() is root:
                    parts[name] = np.ascontiguousarray(parts[name].take(places, axis=place))
        # Sums may be vectorized otherwise for another number of lines.
        wanted = whole.take(places, axis=axis)
        assert np.allclose(_run(row, parts), wanted, rtol=1e-6, atol=1e-6), axis
    assert free >= (2 if row.mixing is Mixing.PLANES else 3)
