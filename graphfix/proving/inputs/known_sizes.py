"""The sizes of tensors as a file declares or inference finds them, which samples are drawn by."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import onnx

from graphfix.analysis.shape_inference import REFUSALS, infer_shapes
from graphfix.proving.inputs.weights import without_weights


def declared_sizes(kind: onnx.TypeProto) -> list[int | str] | None:
    """Return declared dims: numbers, names, "" for unnamed; None for an unknown rank."""
    if kind.WhichOneof("value") == "optional_type":
        return declared_sizes(kind.optional_type.elem_type)
    if kind.WhichOneof("value") == "sequence_type":
        return declared_sizes(kind.sequence_type.elem_type)
    tensor = kind.tensor_type
    if kind.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
        return None
    # A negative dim_value is how some exporters write "unknown". 0 is a size: onnxruntime 1.32
    # refuses what is not empty there.
    return [
        dim.dim_value
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0
        else dim.dim_param
        for dim in tensor.shape.dim
    ]


def known_sizes(model: onnx.ModelProto) -> dict[str, list[int | str] | None]:
    """Return what is known of the shape of each tensor; shape inference fills gaps."""
    # It refuses some valid models; declared shapes remain.
    with contextlib.suppress(*REFUSALS):
        model = infer_shapes(_with_quantizers_read(without_weights(model)))
    graph = model.graph
    result: dict[str, list[int | str] | None] = {
        info.name: declared_sizes(info.type)
        for info in [*graph.value_info, *graph.output, *graph.input]
    }
    for tensor in graph.initializer:
        result[tensor.name] = list(tensor.dims)
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                result[node.output[0]] = list(attribute.t.dims)
    return result


def _with_quantizers_read(model: onnx.ModelProto) -> onnx.ModelProto:
    """Show inference onnxruntime's own quantizers, which it does not know, as casts.

    Args:
        model: A copy, which is changed.
    """
    nodes = [n for n in model.graph.node if n.domain == _CONTRIB and n.op_type in _QUANTIZERS]
    if not nodes:
        return model
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    for info in (*model.graph.input, *model.graph.value_info, *model.graph.output):
        types.setdefault(info.name, info.type.tensor_type.elem_type)
    for node in nodes:
        place, other = _QUANTIZERS[node.op_type]
        named = types.get(node.input[place]) if len(node.input) > place else None
        kind = named or types.get(node.output[0]) or other
        del node.attribute[:], node.input[1:]
        node.domain, node.op_type = "", "Cast"
        node.attribute.append(onnx.helper.make_attribute("to", kind))
    return model


_CONTRIB = "com.microsoft"
# The input whose type the result has, and the type that it has where there is none.
_QUANTIZERS = {
    "DequantizeLinear": (1, onnx.TensorProto.FLOAT),
    "QuantizeLinear": (2, onnx.TensorProto.UINT8),
}
_PACKED = "MatMulNBits"  # says in an attribute how much it sums over
_FUSED = frozenset(
    {"DynamicQuantizeMatMul", "FusedConv", "FusedGemm", "FusedMatMul", "MatMulIntegerToFloat"}
)
_PRODUCTS = frozenset({"Gemm", "MatMul", "MatMulInteger"}) | _FUSED - {"FusedConv"}
# The input with the filters, by operator; ConvTranspose has its input channels on another axis.
_FILTERS = {"Conv": 1, "ConvInteger": 1, "ConvTranspose": 1, "FusedConv": 1, "QLinearConv": 3}
_BATCHES_LAST = ("transBatchA", "transBatchB")  # of FusedMatMul
# Operators with one number per channel in their second input.
_PER_CHANNEL = frozenset({"BatchNormalization", "InstanceNormalization"})

Shapes = Mapping[str, Sequence[int | str] | None]


def contracted_sizes(graph: onnx.GraphProto, shapes: Shapes) -> dict[str, int]:
    """Return the sizes of dimensions that an operator takes with one of known size.

    A product sums over both, a convolution has filters for so many channels, a normalization one
    scale for each: other sizes do not run.

    Args:
        graph: The graph, functions inlined.
        shapes: What `known_sizes` says.

    Returns:
        The name of the dimension, ``x:1`` for the unnamed one of axis 1 of x -> its size.
    """
    found: dict[str, set[int]] = {}
    for node in graph.node:
        fused = node.domain == _CONTRIB and node.op_type in (_PACKED, *_FUSED)
        if not fused and node.domain not in ("", "ai.onnx"):
            continue
        for one, other in _agreeing(node, shapes):
            if isinstance(one, str) and isinstance(other, int):
                found.setdefault(one, set()).add(other)
    return {name: size for name, (size, *others) in found.items() if not others}


def _agreeing(node: onnx.NodeProto, shapes: Shapes) -> list[tuple[int | str, int | str]]:
    """Return the two sizes or names that have to be equal, both ways; nothing for most nodes."""
    one: int | str | None = None
    other: int | str | None = None
    if any(_number(node, name) for name in _BATCHES_LAST):
        return []
    if node.op_type in _PRODUCTS:
        one, other = _summed(node, 0, shapes), _summed(node, 1, shapes)
    elif node.op_type == _PACKED:
        one, other = _dim(node, 0, -1, shapes), _number(node, "K")
    elif node.op_type in _FILTERS:
        one, other = _dim(node, 0, 1, shapes), _channels(node, shapes)
    elif node.op_type in _PER_CHANNEL:
        one, other = _dim(node, 0, 1, shapes), _dim(node, 1, 0, shapes)
    return [] if one is None or other is None else [(one, other), (other, one)]


def _channels(node: onnx.NodeProto, shapes: Shapes) -> int | None:
    """Return how many input channels the filters of a convolution are for."""
    place = _FILTERS[node.op_type]
    if node.op_type == "ConvTranspose":
        channels = _dim(node, place, 0, shapes)
        return channels if isinstance(channels, int) else None
    per_group = _dim(node, place, 1, shapes)
    return per_group * (_number(node, "group") or 1) if isinstance(per_group, int) else None


def _number(node: onnx.NodeProto, name: str) -> int | None:
    """Return an integer that is an attribute."""
    return next((a.i for a in node.attribute if a.name == name), None)


def _dim(node: onnx.NodeProto, place: int, axis: int, shapes: Shapes) -> int | str | None:
    """Return the size or name of an axis of an input, counted from either end."""
    name = node.input[place] if len(node.input) > place else ""
    shape = shapes.get(name)
    if not shape or not -len(shape) <= axis < len(shape):
        return None
    return shape[axis] if shape[axis] != "" else f"{name}:{axis % len(shape)}"


def _summed(node: onnx.NodeProto, place: int, shapes: Shapes) -> int | str | None:
    """Return the size or name of the axis of a factor that is summed over."""
    shape = shapes.get(node.input[place]) if len(node.input) > place else None
    if not shape or (len(shape) < 2 and node.op_type == "Gemm"):
        return None
    turned = bool(_number(node, "transB" if place else "transA"))
    return _dim(node, place, -2 if bool(place) != turned and len(shape) > 1 else -1, shapes)
