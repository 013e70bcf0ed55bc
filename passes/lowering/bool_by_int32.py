"""Compute on bools as on int32 where an engine has the operator for numbers only.

What it does:
    Casts the bool operands to int32, where true is 1, applies the operator, and casts the result
    back where it was bool. Only operators that move or compare elements are treated.

Why engines need it:
    TensorRT before 8.5 gathers no bools, and compares, slices and joins them in some versions
    only.

Before:
    y = Gather (mask, index)           mask: bool

After:
    y = Cast <to = bool> (Gather (Cast <to = int32> (mask), index))

When it refuses:
    The elements are not bool.

Accuracy:
    Exact.

References:
    onnx/onnx-tensorrt 8.4 docs/operators.md (Gather, Equal);
    https://onnx.ai/onnx/operators/onnx__Cast.html
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

# Operator -> how many of its inputs are data; 0 for all of them.
_DATA = {
    "Concat": 0,
    "Equal": 0,
    "Expand": 1,
    "Flatten": 1,
    "Gather": 1,
    "GatherElements": 1,
    "GatherND": 1,
    "Reshape": 1,
    "Slice": 1,
    "Squeeze": 1,
    "Tile": 1,
    "Transpose": 1,
    "Unsqueeze": 1,
}


@rewrite(
    tuple(_DATA),
    removes=tuple(f"dtype:{op}.bool" for op in _DATA),
    emits=("Cast", *_DATA),
    accuracy=EXACT,
)
def bool_by_int32(node: NodeView, build: Builder) -> Value:
    """Cast there and back, see the module."""
    count = _DATA[node.op] or len(node.inputs)
    operands: list[Value | None] = []
    for place, value in enumerate(node.inputs):
        if place < count and value is not None:
            if value.elem_type != TensorProto.BOOL:
                raise Refuse(f"the elements of {value.name} are {value.type_name}, not bool")
            value = build.Cast(value, to=TensorProto.INT32)
        operands.append(value)
    attributes = {name: node.attr(name) for name in node.attributes}
    result = build.multi(node.op, *operands, outputs=1, **attributes)[0]
    return result if node.op == "Equal" else build.Cast(result, to=TensorProto.BOOL)
