"""Does an output say anything? Constant, empty, all-NaN and saturated ones do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from graphfix.ir.protos import all_nodes, required_inputs, subgraphs_of
from graphfix.operators.table import CARRIES_FIRST, LIMITED, READS_SHAPE
from graphfix.proving.values.kinds import Array, Value, is_floating, leaves
from graphfix.proving.verdict.numbers import chunks, mismatches, pieces
from graphfix.proving.verdict.settled_labels import has_settled_label

_SQUASHING = LIMITED | {"Clip", "LogSoftmax"}
# How many operands after the first one multiply it.
_WEIGHTS = {"Conv": 1, "ConvTranspose": 1, "GRU": 2, "LSTM": 2, "RNN": 2}
# Share of elements at the least or the greatest value that makes an output saturated.
_SATURATED = 0.9


def dependent_outputs(model: onnx.ModelProto) -> set[str]:
    """Return the outputs that depend on the value or on a dynamic size of an input.

    Nothing depends on the values of a tensor where its shape alone is read, or where they are
    multiplied by weights that are all zero; nor on its shape where that is declared. What is
    declared to have no elements has no value that could depend on anything. The label of a forest
    depends on nothing where one class wins in every leaf.
    """
    zeros = _zeros(model)
    moving = {info.name for info in required_inputs(model.graph)}
    static = {
        info.name
        for info in [*model.graph.input, *model.graph.value_info]
        if info.type.tensor_type.HasField("shape")
        and all(dim.WhichOneof("value") == "dim_value" for dim in info.type.tensor_type.shape.dim)
    }
    reached = -1
    while reached != len(moving):  # onnxruntime runs files whose nodes are in any order
        reached = len(moving)
        for node in model.graph.node:
            read = set(node.input)
            for body in subgraphs_of(node):
                read |= {name for inner in all_nodes(body.node) for name in inner.input}
                read |= {info.name for info in body.output}
            weights = [name for name in node.input[1 : 1 + _WEIGHTS.get(node.op_type, 0)] if name]
            if node.op_type in READS_SHAPE:
                read -= static
            elif weights and zeros.issuperset(weights):
                read -= static & set(node.input[:1])
            if read & moving:
                moving |= set(node.output[1:] if has_settled_label(node) else node.output)
    return {info.name for info in model.graph.output if not _is_empty(info)} & (moving - {""})


def _is_empty(info: onnx.ValueInfoProto) -> bool:
    dims = info.type.tensor_type.shape.dim
    return any(dim.HasField("dim_value") and dim.dim_value == 0 for dim in dims)


def _zeros(model: onnx.ModelProto) -> set[str]:
    """Return the initializers that are zero everywhere and that no caller can replace."""
    inputs = {info.name for info in model.graph.input}
    return {
        tensor.name
        for tensor in model.graph.initializer
        if tensor.name not in inputs
        and tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
        and tensor.data_location == onnx.TensorProto.DEFAULT
        and not onnx.numpy_helper.to_array(tensor).any()
    }


def bounded_outputs(model: onnx.ModelProto) -> set[str]:
    """Return the outputs that come from an operator with a bounded range."""
    makers = {name: node for node in model.graph.node for name in node.output if name}
    found: set[str] = set()
    for info in model.graph.output:
        node = makers.get(info.name)
        while node is not None and node.op_type in (*CARRIES_FIRST, "Cast") and node.input:
            node = makers.get(node.input[0])
        if node is not None and node.op_type in _SQUASHING:
            found.add(info.name)
    return found


def uninformative_reason(values: Sequence[Value], *, bounded: bool) -> str:
    """Return why the values of one output over all samples say nothing; empty if they do."""
    tensors = [array for value in values for _, array in leaves(value) if array is not None]
    filled = [array for array in tensors if array.size]
    if not filled:
        return "is empty in every sample"
    if all(is_floating(array.dtype) for array in filled):
        flat = [part for array in filled for part in pieces(array)]
        if all(np.isnan(part).all() for part in flat):
            return "is NaN in every sample"
        if not any(np.isfinite(part).any() for part in flat):
            return "is infinite in every sample"
    if _same_everywhere(filled):
        return "has the same value everywhere"
    if len(values) > 1 and _same_every_time(values):
        return "is constant over all samples"
    if bounded and _at_its_ends(filled):
        return "is saturated in every sample"
    return ""


def _same_everywhere(arrays: Sequence[Array]) -> bool:
    first = arrays[0].reshape(-1)[:1].reshape(())
    if sum(array.size for array in arrays) == 1:
        return False
    return all(
        not mismatches(part, np.broadcast_to(first, part.shape)).any()
        for array in arrays
        for part in chunks(array)
    )


def _same_every_time(values: Sequence[Value]) -> bool:
    first = [array for _, array in leaves(values[0])]
    for value in values[1:]:
        other = [array for _, array in leaves(value)]
        if len(other) != len(first):
            return False
        for one, two in zip(first, other, strict=True):
            if one is None or two is None:
                if one is not two:
                    return False
            elif one.shape != two.shape or any(
                mismatches(*pair).any() for pair in zip(chunks(one), chunks(two), strict=True)
            ):
                return False
    return True


def _at_its_ends(arrays: Sequence[Array]) -> bool:
    if not all(is_floating(array.dtype) for array in arrays):
        return False
    parts = [part for array in arrays for part in pieces(array)]
    ends = min(part.min() for part in parts), max(part.max() for part in parts)
    count = sum(part.size for part in parts)
    at_ends = sum(int(((part == ends[0]) | (part == ends[1])).sum()) for part in parts)
    return count >= 4 and at_ends >= _SATURATED * count
