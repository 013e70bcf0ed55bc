"""Which IR version a model or an element type needs."""

from __future__ import annotations

from onnx import TensorProto

from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.schemas import minimal_ir

# The IR version that an element type came with: onnx.proto, comments of enum Version.
_TYPES: dict[int, int] = {
    TensorProto.FLOAT8E4M3FN: 9,
    TensorProto.FLOAT8E4M3FNUZ: 9,
    TensorProto.FLOAT8E5M2: 9,
    TensorProto.FLOAT8E5M2FNUZ: 9,
    TensorProto.UINT4: 10,
    TensorProto.INT4: 10,
    TensorProto.FLOAT4E2M1: 11,
    TensorProto.FLOAT8E8M0: 12,
    TensorProto.UINT2: 13,
    TensorProto.INT2: 13,
}


def needed_ir(model: Model) -> int:
    """Return the oldest IR version that may carry the model, 4 at least.

    Before 4 each initializer is an input too, which a caller may override.
    """
    needed = 4
    for root in model.roots():
        needed = max(needed, minimal_ir(root.opsets.get("", 1)))
        for graph in root.walk():
            needed = max(needed, max(map(ir_of_type, _elem_types(graph)), default=0))
    if model.functions:
        needed = max(needed, 8)
    if any(function.overload for function in model.functions):
        needed = max(needed, 10)
    return needed


def ir_of_type(elem_type: int) -> int:
    """Return the IR version that an element type came with; 0 where the first had it."""
    return _TYPES.get(elem_type, 0)


def _elem_types(graph: Graph) -> set[int]:
    tensors = [*graph.inputs, *graph.initializers]
    tensors += [tensor for node in graph.nodes for tensor in node.outputs]
    return {tensor.elem_type for tensor in tensors}
