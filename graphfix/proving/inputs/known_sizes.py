"""The sizes of tensors as a file declares or inference finds them, which samples are drawn by."""

from __future__ import annotations

import contextlib

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
