"""How much memory a model needs."""

from __future__ import annotations

import math

import onnx

from graphfix.ir.protos import all_graphs
from graphfix.proving.values.kinds import numpy_dtype

# Where all engines of a comparison are loaded at once, they hold the weights of each model, a copy
# from parsing and the activations.
COPIES = 3


def weight_bytes(model: onnx.ModelProto) -> int:
    """Return the bytes of all initializers, by their dims; external data is not read."""
    return sum(_size(tensor) for g in all_graphs(model.graph) for tensor in g.initializer)


def _size(tensor: onnx.TensorProto) -> int:
    if tensor.data_type == onnx.TensorProto.STRING:
        return sum(len(text) for text in tensor.string_data)
    if tensor.data_type == onnx.TensorProto.UNDEFINED:
        return len(tensor.raw_data)
    return math.prod(tensor.dims) * numpy_dtype(tensor.data_type).itemsize
