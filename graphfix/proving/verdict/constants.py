"""Change the constants of a model in memory: initializers, Constant nodes, subgraphs, functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from msgspec import Struct

from graphfix.ir.protos import all_nodes, copied, subgraphs_of
from graphfix.ir.storage.weights import is_external, numpy_dtype, stored_bytes
from graphfix.proving.inputs.uses import consumers, uses_of
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, is_integer, is_wide_float


class Constant(Struct, frozen=True):
    """One constant: a running number, the name that nodes read it by, its values."""

    number: int
    name: str
    array: Array


Change = Callable[[Constant], "Array | None"]


def _tensors(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Yield constant tensors with the names under which nodes read them."""
    yield from _tensors_of(model.graph)
    for function in model.functions:
        for node in function.node:
            yield from _tensors_of_node(node)


def _tensors_of(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    yield from ((tensor.name, tensor) for tensor in graph.initializer)
    for node in graph.node:
        yield from _tensors_of_node(node)


def _tensors_of_node(node: onnx.NodeProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.TENSOR and _holds_numbers(node):
            yield node.output[0], attribute.t
    for body in subgraphs_of(node):
        yield from _tensors_of(body)


def _holds_numbers(node: onnx.NodeProto) -> bool:
    """Whether attributes of a node are weights: Constant, and the models of ai.onnx.ml."""
    return node.op_type == "Constant" or node.domain == "ai.onnx.ml"


def _scalars(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.AttributeProto]]:
    nodes = [*all_nodes(model.graph.node), *(node for f in model.functions for node in f.node)]
    kinds = (onnx.AttributeProto.FLOAT, onnx.AttributeProto.FLOATS)
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type in kinds and _holds_numbers(node):
                yield node.output[0], attribute


def changed(model: RunnableModel, change: Change) -> RunnableModel | None:
    """Return a copy with changed constants, None where nothing changed.

    Args:
        model: The model; it is not modified.
        change: Called with each constant of floats (16 bits and more) or integers; returns
            the new array, or None to leave it.
    """
    copy = model.of(copied(model.proto))
    touched = False
    for constant, holder in _with_holders(copy):
        new = change(constant)
        if new is None:
            continue
        touched = True
        if isinstance(holder, onnx.TensorProto):  # a scalar stays one
            kept = onnx.numpy_helper.from_array(np.asarray(new, order="C"), holder.name)
            holder.CopyFrom(kept)
        elif holder.type == onnx.AttributeProto.FLOAT:
            holder.f = float(new[0])
        else:
            holder.floats[:] = [float(value) for value in new]
    return copy if touched else None


def constants_of(model: RunnableModel) -> Iterator[Constant]:
    """Yield what `changed` would offer."""
    return (constant for constant, _ in _with_holders(model))


def floats_of(model: RunnableModel, least: int, most: int) -> set[tuple[str, bytes]]:
    """Return the constants of floats by name, with what they hold.

    Args:
        model: The model.
        least: They have so many elements, at least.
        most: They have so many elements, at most.
    """
    return {
        (constant.name, constant.array.tobytes())
        for constant in constants_of(model)
        if is_wide_float(constant.array.dtype) and least <= constant.array.size <= most
    }


def _with_holders(
    model: RunnableModel,
) -> Iterator[tuple[Constant, onnx.TensorProto | onnx.AttributeProto]]:
    proto = model.proto
    left = _left_alone(proto, model.most_changed)
    for number, (label, tensor) in enumerate(_tensors(proto)):
        unfit = (onnx.TensorProto.STRING, onnx.TensorProto.UNDEFINED)
        if tensor.data_type in unfit or math.prod(tensor.dims) == 0:
            continue
        dtype = numpy_dtype(tensor.data_type)
        if (is_wide_float(dtype) or is_integer(dtype)) and number not in left:
            array = onnx.numpy_helper.to_array(tensor, model.folder)
            yield Constant(number, label, array), tensor
    for number, (label, attribute) in enumerate(_scalars(proto), start=1_000_000):
        plain = attribute.type == onnx.AttributeProto.FLOAT
        old = np.array([attribute.f] if plain else list(attribute.floats), np.float32)
        if old.size:
            yield Constant(number, label, old), attribute


def _left_alone(model: onnx.ModelProto, most: int) -> set[int]:
    """Return the values of the external tensors that are past the limit.

    The smallest ones come first: there is one in every layer.
    """
    sizes = {
        number: stored_bytes(tensor)
        for number, (_, tensor) in enumerate(_tensors(model))
        if is_external(tensor)
    }
    left: set[int] = set()
    together = 0
    for number in sorted(sizes, key=lambda n: sizes[n]):
        together += sizes[number]
        if together > most:
            left.add(number)
    return left


class Kind(Struct, frozen=True):
    """What a constant is: floats or integers, how many, and whether a small change need not show.

    It need not where the constant only sets sizes, or holds infinite numbers alone.
    """

    floats: bool
    size: int
    silent: bool


def kinds(model: RunnableModel) -> dict[int, Kind]:
    """Return what each constant is that `changed` would offer, by its running number."""
    found: dict[int, Kind] = {}
    readers = consumers(model.proto.graph)

    for constant in constants_of(model):
        uses = uses_of(constant.name, readers)
        # Scales of a Resize decide sizes; its values need not notice a small change of them.
        sizing = bool(uses) and all(use.op in ("Resize", "Upsample") for use in uses)
        sizing = sizing and all(use.position > 0 for use in uses)
        floats = is_wide_float(constant.array.dtype)
        infinite = floats and not np.isfinite(constant.array).any()
        found[constant.number] = Kind(floats, constant.array.size, sizing or infinite)
    return found
