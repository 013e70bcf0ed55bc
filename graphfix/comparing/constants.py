"""Change the constants of a model in memory: initializers, Constant nodes, bodies, functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import onnx
import onnx.external_data_helper

from graphfix.feeds.kinds import Array, is_integer, is_wide_float
from graphfix.feeds.uses import all_nodes

# External tensors past this many bytes together are left alone.
_EXTERNAL_LIMIT = 256 * 2**20

Change = Callable[[int, Array], "Array | None"]


def _tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    yield from _tensors_of(model.graph)
    for function in model.functions:
        for node in function.node:
            yield from _tensors_of_node(node)


def _tensors_of(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        yield from _tensors_of_node(node)


def _tensors_of_node(node: onnx.NodeProto) -> Iterator[onnx.TensorProto]:
    for attribute in node.attribute:
        if node.op_type == "Constant" and attribute.name == "value":
            yield attribute.t
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield from _tensors_of(attribute.g)
        for body in attribute.graphs:
            yield from _tensors_of(body)


def _scalars(model: onnx.ModelProto) -> Iterator[onnx.AttributeProto]:
    nodes = [*all_nodes(model.graph), *(node for f in model.functions for node in f.node)]
    for node in nodes:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
                yield attribute


def changed(model: onnx.ModelProto, folder: str, change: Change) -> onnx.ModelProto | None:
    """Return a copy with changed constants, None where nothing changed.

    Args:
        model: The model; it is not modified.
        folder: Where its external data lies.
        change: Called with a running number and each constant array of floats (16 bits and
            more) or integers; returns the new array, or None to leave it.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    touched = False
    external = 0
    for number, tensor in enumerate(_tensors(copy)):
        if tensor.data_type == onnx.TensorProto.STRING or math.prod(tensor.dims) == 0:
            continue
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
        if not (is_wide_float(dtype) or is_integer(dtype)):
            continue
        if onnx.external_data_helper.uses_external_data(tensor):
            external += math.prod(tensor.dims) * dtype.itemsize
            if external > _EXTERNAL_LIMIT:
                continue
        new = change(number, onnx.numpy_helper.to_array(tensor, folder))
        if new is not None:
            name = tensor.name
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.ascontiguousarray(new), name))
            touched = True
    for number, attribute in enumerate(_scalars(copy), start=1_000_000):
        plain = attribute.name == "value_float"
        old = np.array([attribute.f] if plain else list(attribute.floats), np.float32)
        new = change(number, old) if old.size else None
        if new is not None:
            touched = True
            if plain:
                attribute.f = float(new[0])
            else:
                attribute.floats[:] = [float(value) for value in new]
    return copy if touched else None


def arrays(model: onnx.ModelProto, folder: str) -> dict[int, tuple[str, int]]:
    """Return kind (``f`` or ``i``) and size of each constant that `changed` would offer."""
    found: dict[int, tuple[str, int]] = {}

    def look(number: int, array: Array) -> None:
        found[number] = ("f" if is_wide_float(array.dtype) else "i", array.size)

    changed(model, folder, look)
    return found
