"""A copy of a model that computes in float64: what its floats would be without rounding.

Types, constants and what Cast makes are widened, as far as a model says them; the rest follows. An
operator that has no kernel for float64, or names a type in another way, makes the copy one that
does not load, and then rounding has to be measured otherwise. A model of two float types rounds on
purpose, and is not copied.
"""

from __future__ import annotations

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, numpy_helper

from graphfix.ir.protos import copied
from graphfix.proving.runners.evaluators import weight_bytes
from graphfix.proving.values.kinds import Feed, Value, is_wide_float
from graphfix.proving.verdict.numbers import widened

# Models with more weights are not copied.
MOST_BYTES = 2**26
_NARROW = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def widened_model(model: ModelProto) -> ModelProto | None:
    """Return the copy; None where the model is too big, or has not one float type below float64."""
    if weight_bytes(model) > MOST_BYTES:
        return None
    copy = copied(model)
    seen = _graph(copy.graph)
    for function in copy.functions:
        del function.value_info[:]
        for node in function.node:
            seen |= _node(node)
    return copy if len(seen) == 1 else None


def widened_feed(feed: Feed) -> Feed:
    """Return inputs with their floats as float64."""
    return {name: _value(value) for name, value in feed.items()}


def _value(value: Value) -> Value:
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, np.ndarray) and is_wide_float(value.dtype):
        return widened(value)
    return value


def _graph(graph: GraphProto) -> set[int]:
    """Widen a graph; return the float types that were there."""
    del graph.value_info[:]
    seen: set[int] = set()
    for tensor in graph.initializer:
        seen |= _tensor(tensor)
    for info in (*graph.input, *graph.output):
        if info.type.HasField("tensor_type") and info.type.tensor_type.elem_type in _NARROW:
            seen.add(info.type.tensor_type.elem_type)
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        seen |= _node(node)
    return seen


def _node(node: NodeProto) -> set[int]:
    seen: set[int] = set()
    for attribute in node.attribute:
        if attribute.type == AttributeProto.TENSOR:
            seen |= _tensor(attribute.t)
        elif attribute.type == AttributeProto.GRAPH:
            seen |= _graph(attribute.g)
        elif node.op_type == "Cast" and attribute.name == "to" and attribute.i in _NARROW:
            seen.add(attribute.i)
            attribute.i = TensorProto.DOUBLE
    return seen


def _tensor(tensor: TensorProto) -> set[int]:
    if tensor.data_type not in _NARROW or tensor.data_location == TensorProto.EXTERNAL:
        return set()
    seen = {tensor.data_type}
    tensor.CopyFrom(numpy_helper.from_array(widened(numpy_helper.to_array(tensor)), tensor.name))
    return seen


def is_double(model: ModelProto) -> bool:
    """Say whether a model takes float64 and no other floats."""
    floats = {info.type.tensor_type.elem_type for info in model.graph.input}
    return TensorProto.DOUBLE in floats and not floats & set(_NARROW)
