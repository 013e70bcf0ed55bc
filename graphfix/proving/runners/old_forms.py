"""What operators compute in forms that ended before opset 9, which no engine has.

Source: the texts of these forms in onnx/defs/**/old.cc. The reference evaluator lacks most of them
and computes some otherwise (onnx 1.23: Gemm-6 leaves out C where broadcast is 0, AveragePool-1
counts the padding, Selu-1 has the constants of Selu-6). They are written here on their own, not by
the adapters that they prove.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx

from graphfix.ir.protos import all_nodes
from graphfix.ir.schemas import form_of, newest_opset
from graphfix.proving.values.kinds import Array

Attributes = Mapping[str, Any]
Model = Callable[["list[Any]", Attributes], "tuple[Any, ...]"]

# Forms that mean what a later one does, once the attributes that ended are left out.
_LATER = {"AveragePool": 7, "MaxPool": 8, "RNN": 7, "GRU": 7, "LSTM": 7}
_ENDED = frozenset({"consumed_inputs", "output_sequence"})


def old_form(node: onnx.NodeProto, opset: int) -> Model | None:
    """Return what a node of the default domain computes, where its form is an ended one."""
    if node.domain not in ("", "ai.onnx"):
        return None
    if node.op_type == "Split" and opset < 2:
        return lambda inputs, attributes: _split(inputs, attributes, len(node.output))
    known = _MODELS.get(node.op_type)
    return known[1] if known is not None and opset < known[0] else None


def later_form(node: onnx.NodeProto, opset: int) -> int:
    """Return the opset by whose form a node is computed."""
    return max(opset, _LATER.get(node.op_type, 0)) if node.domain in ("", "ai.onnx") else opset


def with_later_operators(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model at the opset that brings all its operators, where all others mean the same."""
    nodes = [n for n in all_nodes(model.graph.node) if n.domain in ("", "ai.onnx")]
    own = {node.op_type for node in nodes}
    early = {op for op in own if form_of(op, opset) is None}
    for version in range(opset + 1, newest_opset() + 1) if early else ():
        forms = {op: form_of(op, version) for op in own}
        if not all(forms[op] is not None for op in early if form_of(op, newest_opset())):
            continue
        if any(_since(op, opset) != _since(op, version) for op in own - early):
            return model
        result = onnx.ModelProto()
        result.CopyFrom(model)
        for entry in result.opset_import:
            if entry.domain in ("", "ai.onnx"):
                entry.version = version
        return result
    return model


def _since(op: str, opset: int) -> int:
    form = form_of(op, opset)
    return form.since if form is not None else 0


def without_ended(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of a model of an opset below 7 without attributes that say nothing."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for node in result.graph.node:
        for attribute in [a for a in node.attribute if a.name in _ENDED]:
            node.attribute.remove(attribute)
    return result


def _quotient(one: Array, other: Array) -> Array:
    if one.dtype.kind == "f":
        return np.divide(one, other)
    return np.where((one < 0) ^ (other < 0), -(abs(one) // abs(other)), abs(one) // abs(other))


def _joined(function: Callable[..., Any]) -> Model:
    def compute(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
        one, other = inputs
        axis = attributes.get("axis")
        if attributes.get("broadcast") and axis is not None:
            other = other.reshape((*other.shape, *[1] * (one.ndim - axis - other.ndim)))
        return (np.asarray(function(one, other)),)

    return compute


def _gemm(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    a, b, c = inputs
    a = a.T if attributes.get("transA") else a
    b = b.T if attributes.get("transB") else b
    alpha, beta = attributes.get("alpha", 1.0), attributes.get("beta", 1.0)
    return ((alpha * (a @ b) + beta * c).astype(a.dtype),)


def _prelu(inputs: list[Any], _: Attributes) -> tuple[Any, ...]:
    x, slope = inputs
    slope = slope.reshape((-1, *[1] * (x.ndim - 2)) if slope.size > 1 else ())
    chosen: Any = np.where  # numpy's own types leave the result open
    return (chosen(x < 0, x * slope, x),)


def _normalised(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    if not attributes.get("is_test", 0) and "spatial" not in attributes:
        raise NotImplementedError("BatchNormalization in its training form")
    x = inputs[0]
    shape = (1, -1, *[1] * (x.ndim - 2)) if attributes.get("spatial", 1) else (1, *x.shape[1:])
    scale, bias, mean, variance = (value.reshape(shape) for value in inputs[1:5])
    deviation = np.sqrt(variance + attributes.get("epsilon", 1e-5))
    return (((x - mean) / deviation * scale + bias).astype(x.dtype),)


def _in_testing(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    if not attributes.get("is_test", 0):
        raise NotImplementedError("Dropout in its training form")
    return (inputs[0],)


def _enlarged(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    x = inputs[0]
    scales = attributes.get("scales") or (
        1.0, 1.0, attributes["height_scale"], attributes["width_scale"]
    )  # fmt: skip
    if attributes.get("mode", "nearest") != "nearest":
        return (_linear(x, scales),)
    for axis, scale in enumerate(scales):
        places = np.floor(np.arange(int(x.shape[axis] * scale)) / scale).astype(np.int64)
        x = np.take(x, np.minimum(places, x.shape[axis] - 1), axis)
    return (x,)


def _linear(x: Any, scales: Any) -> Any:
    kind = x.dtype
    for axis, scale in enumerate(scales):
        last = x.shape[axis] - 1
        places = np.arange(int(x.shape[axis] * scale)) / scale
        low = np.minimum(np.floor(places).astype(np.int64), last)
        share = np.minimum(places, last) - low
        shape = [-1 if at == axis else 1 for at in range(x.ndim)]
        share = share.reshape(shape).astype(kind)
        high = np.minimum(low + 1, last)
        x = np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return x.astype(kind)


def _split(inputs: list[Any], attributes: Attributes, count: int) -> tuple[Any, ...]:
    x, axis = inputs[0], attributes.get("axis", 0)
    sizes = inputs[1] if len(inputs) > 1 else attributes.get("split")
    if sizes is None:
        return tuple(np.split(x, count, axis))
    return tuple(np.split(x, np.cumsum(np.asarray(sizes, np.int64))[:-1], axis))


def _cast(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    to = attributes["to"]
    number = onnx.TensorProto.DataType.Value(to.upper()) if isinstance(to, str) else to
    return (inputs[0].astype(onnx.helper.tensor_dtype_to_np_dtype(number)),)


def _selu(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    x = inputs[0]
    alpha, gamma = attributes.get("alpha", 1.6732), attributes.get("gamma", 1.0507)
    low = alpha * np.exp(np.minimum(x, 0)) - alpha
    chosen: Any = np.where
    return ((gamma * chosen(x > 0, x, low)).astype(x.dtype),)


def _power_pool(inputs: list[Any], _: Attributes) -> tuple[Any, ...]:
    x = inputs[0]
    axes = tuple(range(2, x.ndim))
    return (np.sqrt(np.sum(x * x, axis=axes, keepdims=True)),)


def _tile(inputs: list[Any], _: Attributes) -> tuple[Any, ...]:
    x, tiles, axis = inputs
    return (np.concatenate([x] * int(tiles), int(axis)),)


def _padded(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    x, pads = inputs[0], attributes["paddings"]
    mode = attributes.get("mode", "constant")
    pairs = np.array(pads, np.int64).reshape(2, x.ndim).T
    filled = {"constant_values": attributes.get("value", 0.0)} if mode == "constant" else {}
    return (np.pad(x, pairs, mode=mode, **filled).astype(x.dtype),)


def _clip(inputs: list[Any], attributes: Attributes) -> tuple[Any, ...]:
    x = inputs[0]
    low, high = attributes.get("min", -np.inf), attributes.get("max", np.inf)
    return (np.clip(x, low, high).astype(x.dtype),)


_MODELS: Mapping[str, tuple[int, Model]] = {
    "Add": (7, _joined(np.add)),
    "Sub": (7, _joined(np.subtract)),
    "Mul": (7, _joined(np.multiply)),
    "Div": (7, _joined(_quotient)),
    "Pow": (7, _joined(np.power)),
    "And": (7, _joined(np.logical_and)),
    "Or": (7, _joined(np.logical_or)),
    "Xor": (7, _joined(np.logical_xor)),
    "Equal": (7, _joined(np.equal)),
    "Greater": (7, _joined(np.greater)),
    "Less": (7, _joined(np.less)),
    "Gemm": (7, _gemm),
    "PRelu": (7, _prelu),
    "BatchNormalization": (9, _normalised),
    "Dropout": (7, _in_testing),
    "Upsample": (9, _enlarged),
    "Concat": (4, lambda inputs, a: (np.concatenate(inputs, a.get("axis", 1)),)),
    "Reshape": (5, lambda inputs, a: (_reshaped(inputs[0], a["shape"]),)),
    "Cast": (6, _cast),
    "Clip": (6, _clip),
    "Selu": (6, _selu),
    "Tile": (6, _tile),
    "Pad": (2, _padded),
    "GlobalLpPool": (2, _power_pool),
}


def _reshaped(x: Any, shape: list[int]) -> Any:
    return x.reshape([x.shape[at] if size == 0 else size for at, size in enumerate(shape)])
