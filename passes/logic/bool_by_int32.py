"""Compute on bools as on int32 where an engine has the operator for numbers only.

What it does:
    Casts the bool operands to int32, where true is 1, applies the operator, and casts the result
    back where it was bool. Only operators that move or compare elements are treated.

Why engines need it:
    TensorRT before 8.5 gathers no bools and chooses none by Where, and compares, slices and joins
    them in some versions only.

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

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

# Operator -> which of its inputs are data, from and before.
_ALL = (0, 1 << 31)
_FIRST = (0, 1)
_DATA = {
    "Concat": _ALL,
    "Equal": _ALL,
    "Expand": _FIRST,
    "Flatten": _FIRST,
    "Gather": _FIRST,
    "GatherElements": _FIRST,
    "GatherND": _FIRST,
    "Reshape": _FIRST,
    "Slice": _FIRST,
    "Squeeze": _FIRST,
    "Tile": _FIRST,
    "Transpose": _FIRST,
    "Unsqueeze": _FIRST,
    "Where": (1, 3),
}


@rewrite(tuple(_DATA), removes=tuple(f"dtype:{op}.bool" for op in _DATA), emits=(*_DATA, "Cast"))
def bool_by_int32(node: NodeView, build: Builder) -> Value:
    """Cast there and back, see the module."""
    first, end = _DATA[node.op]
    operands: list[Value | None] = []
    for place, value in enumerate(node.inputs):
        if first <= place < end and value is not None:
            if value.elem_type != TensorProto.BOOL:
                raise Refuse(
                    f"the elements of {value.name} must be bool; they are {value.type_name}"
                )
            value = build.Cast(value, to=TensorProto.INT32)
        operands.append(value)
    attributes = {name: node.attr(name) for name in node.attributes}
    result = build.multi(node.op, *operands, outputs=1, **attributes)[0]
    return result if node.op == "Equal" else build.Cast(result, to=TensorProto.BOOL)
