"""Smaller sizes: dimensions of inputs and stored tensors, each number everywhere at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, numpy_helper

from graphfix.errors import InvalidModel
from graphfix.ir.storage.weights import load_array, stored_bytes
from graphfix.reduction.oracle import Oracle
from graphfix.reduction.tensor_types import Typist, declaration

# Bigger tensors are not read to be sliced.
_READ_AT_MOST = 1 << 30
# A stored list of integers so short may be a shape.
_SHAPE_LENGTH = 16

# Tensor, axis and size -> the new size.
Resize = Callable[[str, int, int], int]


def smaller_sizes(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the model with the smallest sizes that were found to fail; ranks stay.

    A size is tied to others (the width of an input to the height of a weight), so each number
    that occurs is replaced wherever it occurs as a size, and shape inference says whether the
    model still holds together; then single dimensions of inputs are tried alone.
    """
    best = proto

    def attempt(resize: Resize) -> bool:
        nonlocal best
        candidate = _resized(best, oracle.typist, resize)
        if candidate is None or not oracle.accepts(candidate):
            return False
        best = candidate
        return True

    if not any(size > 1 for size in _sizes(best)):
        return best
    if attempt(lambda _name, _axis, size: min(size, 1)):
        return best
    for size in sorted(_sizes(best), reverse=True):
        now: int | None = size
        while now is not None and now > 1:
            smaller = [new for new in dict.fromkeys((1, 2, now // 2)) if new < now]
            now = next((new for new in smaller if attempt(_replacing(now, new))), None)
    for name, axis, size in _input_dims(best):
        if size > 1:
            attempt(_at(name, axis))
    return best


def _replacing(old: int, new: int) -> Resize:
    return lambda _name, _axis, size: new if size == old else size


def _at(name: str, axis: int) -> Resize:
    return lambda tensor, place, size: 1 if (tensor, place) == (name, axis) else size


def _sizes(proto: ModelProto) -> Counter[int]:
    found = Counter(size for _, _, size in _input_dims(proto))
    found.update(dim for tensor in proto.graph.initializer for dim in tensor.dims)
    return Counter({size: count for size, count in found.items() if size > 1})


def _input_dims(proto: ModelProto) -> list[tuple[str, int, int]]:
    return [
        (info.name, axis, dim.dim_value)
        for info in proto.graph.input
        for axis, dim in enumerate(info.type.tensor_type.shape.dim)
        if dim.WhichOneof("value") == "dim_value"
    ]


def _resized(proto: ModelProto, typist: Typist, resize: Resize) -> ModelProto | None:
    """Return a copy with other sizes; None where the new types cannot be inferred."""
    fresh = ModelProto()
    fresh.CopyFrom(proto)
    graph = fresh.graph
    for info in graph.input:
        for axis, dim in enumerate(info.type.tensor_type.shape.dim):
            if dim.WhichOneof("value") == "dim_value":
                dim.dim_value = resize(info.name, axis, dim.dim_value)
    fixed = _kernels(graph)
    for tensor in graph.initializer:
        _resize_stored(tensor, typist.base_dir, resize, fixed.get(tensor.name, len(tensor.dims)))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "group":  # as many as there are channels, in a depthwise Conv
                attribute.i = resize(node.name, -1, attribute.i)
    del graph.value_info[:]
    ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in graph.output}
    _forget_sizes(graph)
    try:
        types = typist.types(fresh)
    except InvalidModel:
        return None
    for info in graph.output:
        found = declaration(info.name, None, types)
        if len(found.type.tensor_type.shape.dim) == ranks[info.name]:
            info.CopyFrom(found)
    return fresh


def _kernels(graph: GraphProto) -> dict[str, int]:
    """Return from which axis on the sizes of a weight are those of an attribute ``kernel_shape``.

    Shape inference believes the attribute and does not look at the weight.
    """
    ranks = {tensor.name: len(tensor.dims) for tensor in graph.initializer}
    found: dict[str, int] = {}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "kernel_shape":
                axes = len(attribute.ints)
                found.update({n: 2 for n in node.input if ranks.get(n) == axes + 2})
    return found


def _forget_sizes(graph: GraphProto) -> None:
    """Keep the rank of each output, whose sizes follow from those of the inputs."""
    for info in graph.output:
        for dim in info.type.tensor_type.shape.dim:
            dim.Clear()


def _resize_stored(tensor: TensorProto, base_dir: str, resize: Resize, fixed: int) -> None:
    """Slice the values to other sizes, but for the axes from `fixed` on."""
    dims = [
        resize(tensor.name, axis, size) if axis < fixed else size
        for axis, size in enumerate(tensor.dims)
    ]
    if stored_bytes(tensor) > _READ_AT_MOST:
        return
    is_list = tensor.data_type == TensorProto.INT64 and len(tensor.dims) == 1
    if is_list and tensor.dims[0] <= _SHAPE_LENGTH:
        old = load_array(tensor, base_dir)
        values = np.array([resize(tensor.name, -1, int(v)) if v > 1 else v for v in old], np.int64)
        if (values != old).any():
            tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        return
    if dims != list(tensor.dims):
        kept = tuple(slice(0, size) for size in dims)
        values = np.ascontiguousarray(load_array(tensor, base_dir)[kept])
        elem_type = tensor.data_type
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
        tensor.data_type = elem_type
