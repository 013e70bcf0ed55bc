"""Small scatter models and what ONNX says that they compute, for the tests of these passes."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
Shape = Sequence[int | str]
PLACES = ("main", "branch", "function")
NUMBERS = ("float16", "float32", "float64", "int32", "int64")


def combine(reduction: str, old: Any, new: Any) -> Any:
    """Return what a scatter with this reduction writes."""
    if reduction == "none":
        return new
    return {"add": old + new, "mul": old * new, "max": max(old, new), "min": min(old, new)}[
        reduction
    ]


def scatter_model(
    op: str,
    indices: Array | Shape,
    updates: Shape,
    *,
    data: Shape,
    dtype: str = "float32",
    opset: int = 18,
    place: str = "main",
    **attributes: Any,
) -> onnx.ModelProto:
    """Return ``y = op(x, i, u)``.

    Args:
        op: The operator.
        indices: The constant indices, or the shape of indices that are an input.
        updates: The shape of the updates.
        data: The shape of the data.
        dtype: The dtype of data and updates.
        opset: The opset.
        place: Where the node is: ``main``, ``branch`` (of an If on the input c) or
            ``function``.
        attributes: Attributes of the node.
    """
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = [
        helper.make_tensor_value_info("x", kind, list(data)),
        helper.make_tensor_value_info("u", kind, list(updates)),
    ]
    nodes = [helper.make_node(op, ["x", "i", "u"], ["y"], name="scatter", **attributes)]
    if isinstance(indices, np.ndarray):
        nodes.insert(0, helper.make_node("Constant", [], ["i"], value=_tensor(indices)))
    else:
        inputs.append(helper.make_tensor_value_info("i", TensorProto.INT64, list(indices)))
    functions: list[onnx.FunctionProto] = []
    imports = [helper.make_opsetid("", opset)]
    output = helper.make_tensor_value_info("y", kind, list(data))
    if place == "branch":
        other = helper.make_graph(
            [helper.make_node("Identity", ["x"], ["kept"])],
            "else",
            [],
            [helper.make_tensor_value_info("kept", kind, list(data))],
        )
        then = helper.make_graph(nodes, "then", [], [output])
        inputs.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
        output = helper.make_tensor_value_info("y", kind, list(data))
    elif place == "function":
        names = [info.name for info in inputs]
        functions.append(helper.make_function("own", "write", names, ["y"], nodes, list(imports)))
        nodes = [helper.make_node("write", names, ["y"], domain="own")]
        imports.append(helper.make_opsetid("own", 1))
    graph = helper.make_graph(nodes, "g", inputs, [output])
    return helper.make_model(graph, ir_version=8, opset_imports=imports, functions=functions)


def _tensor(array: Array) -> TensorProto:
    return numpy_helper.from_array(array.astype(np.int64), "i")


def feed_of(
    model: onnx.ModelProto, sizes: dict[str, int] | None = None, seed: int = 0
) -> dict[str, Array]:
    """Return random inputs; indices are left to the caller, the condition is true."""
    rng = np.random.default_rng(seed)
    feed: dict[str, Array] = {}
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        shape = [d.dim_value or (sizes or {}).get(d.dim_param, 0) for d in dims]
        dtype = helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
        if info.name == "c":
            feed["c"] = np.array(True)
        elif info.name in "xu":
            values = rng.integers(0, 2, shape) if dtype.kind == "b" else rng.integers(1, 9, shape)
            feed[info.name] = values.astype(dtype)
    return feed


def scatter_nd(data: Array, indices: Array, updates: Array, reduction: str = "none") -> Array:
    """Return what https://onnx.ai/onnx/operators/onnx__ScatterND.html says, tuple by tuple."""
    result = data.copy()
    for where in np.ndindex(*indices.shape[:-1]):
        place = tuple(indices[where].tolist())
        for inner in np.ndindex(*data.shape[len(place) :]):
            old, new = result[(*place, *inner)], updates[(*where, *inner)]
            result[(*place, *inner)] = combine(reduction, old, new)
    return result


def scatter_elements(
    data: Array, indices: Array, updates: Array, axis: int, reduction: str = "none"
) -> Array:
    """Return what https://onnx.ai/onnx/operators/onnx__ScatterElements.html says."""
    result = data.copy()
    for where in np.ndindex(*indices.shape):
        place = list(where)
        place[axis] = int(indices[where])
        result[tuple(place)] = combine(reduction, result[tuple(place)], updates[where])
    return result


@st.composite
def nd_cases(
    draw: st.DrawFn, *, unique: bool = True, block: bool = False
) -> tuple[tuple[int, ...], Array]:
    """Draw a shape of data, and index tuples into it; some of them negative."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    depth = draw(st.integers(1, len(shape)))
    named = shape[:depth]
    if block:
        ranges: list[list[int]] = []
        for size in named:
            start = draw(st.integers(0, size - 1))
            ranges.append(list(range(start, draw(st.integers(start + 1, size)))))
        tuples = list(_product(ranges))
    else:
        everything = list(_product([list(range(size)) for size in named]))
        count = st.integers(1, min(len(everything), 6) if unique else 6)
        chosen = draw(
            st.lists(
                st.sampled_from(everything),
                min_size=(size := draw(count)),
                max_size=size,
                unique=unique,
            )
        )
        tuples = chosen
    indices = np.array(tuples, dtype=np.int64)
    if draw(st.booleans()):
        indices = indices - np.array(named, dtype=np.int64)
    if len(tuples) % 2 == 0 and draw(st.booleans()):
        indices = indices.reshape(2, -1, depth)
    return shape, indices


def _product(ranges: list[list[int]]) -> Iterator[tuple[int, ...]]:
    assert math.prod(len(each) for each in ranges) > 0
    yield from itertools.product(*ranges)
