"""Compute on bools as on int32 where an engine has the operator for numbers only.

What it does: Casts the bool operands to int32, where true is 1, applies the operator, and casts the
    result back where it was bool. Only operators that move or compare elements are treated.
Why engines need it: TensorRT before 8.5 gathers no bools and chooses none by Where, and compares,
    slices and joins them in some versions only.
Before: y = Gather (mask, index)           mask: bool
After: y = Cast <to = bool> (Gather (Cast <to = int32> (mask), index))
When it refuses: The elements are not bool.
Accuracy: Exact.
References: onnx/onnx-tensorrt 8.4 docs/operators.md (Gather, Equal);
    https://onnx.ai/onnx/operators/onnx__Cast.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import OPERATORS, Builder, NodeView, Refuse, Value, rewrite

_TAKEN = (
    *("Concat", "Equal", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Reshape"),
    *("ReduceMax", "ReduceMin", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"),
)


@rewrite(
    _TAKEN, removes=tuple(f"dtype:{op}.bool" for op in _TAKEN), emits=(*_TAKEN, "Cast", "Greater")
)
def bool_by_int32(node: NodeView, build: Builder) -> Value:
    """Cast there and back, see the module."""
    data = OPERATORS[node.op].data_places(len(node.inputs))
    operands: list[Value | None] = []
    for place, value in enumerate(node.inputs):
        if place in data and value is not None:
            if value.elem_type != TensorProto.BOOL:
                raise Refuse(
                    f"the elements of {value.name} must be bool; they are {value.type_name}"
                )
            value = build.in_type(value, TensorProto.INT32)
        operands.append(value)
    attributes = {name: node.attr(name) for name in node.attributes}
    result = build.multi(node.op, *operands, outputs=1, **attributes)[0]
    if node.op == "Equal":
        return result
    if node.op == "ReduceMax":  # of none it is the least number, which is no true
        return build.Greater(result, np.int32(0))
    return build.Cast(result, to=TensorProto.BOOL)
