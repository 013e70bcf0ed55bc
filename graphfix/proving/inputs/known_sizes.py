"""The sizes of tensors as a file declares or inference finds them, which samples are drawn by."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

import onnx

from graphfix.proving.inputs.weights import without_weights
from graphfix.shape_inference import infer_shapes


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
    with contextlib.suppress(Exception):
        model = infer_shapes(without_weights(model))
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


def contracted_sizes(
    graph: onnx.GraphProto, shapes: Mapping[str, Sequence[int | str] | None]
) -> dict[str, int]:
    """Return the sizes of dimensions that a product sums over with one of known size.

    Args:
        graph: The graph, functions inlined.
        shapes: What `known_sizes` says.

    Returns:
        The name of the dimension, ``x:1`` for the unnamed one of axis 1 of x -> its size.
    """
    found: dict[str, set[int]] = {}
    for node in graph.node:
        sides = [_contracted(node, place, shapes) for place in (0, 1)]
        if None in sides:
            continue
        for one, other in (sides, sides[::-1]):
            if isinstance(one, str) and isinstance(other, int):
                found.setdefault(one, set()).add(other)
    return {name: size for name, (size, *others) in found.items() if not others}


def _contracted(
    node: onnx.NodeProto, place: int, shapes: Mapping[str, Sequence[int | str] | None]
) -> int | str | None:
    """Return the size or name of the axis of a factor that is summed over."""
    if node.domain or node.op_type not in ("Gemm", "MatMul") or len(node.input) <= place:
        return None
    name = node.input[place]
    shape = shapes.get(name)
    if not shape or (len(shape) < 2 and node.op_type == "Gemm"):
        return None
    key = "transB" if place else "transA"
    turned = any(each.name == key and each.i for each in node.attribute)
    axis = -2 if bool(place) != turned and len(shape) > 1 else -1
    return shape[axis] if shape[axis] != "" else f"{name}:{axis + len(shape)}"
