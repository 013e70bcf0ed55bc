"""Compute on uint64 by the same bits as int64 where an engine has no kernel for it.

What it does: Casts uint64 to int64 and the result back: sums, differences and products wrap around
    in the same bits whatever the sign. Comparisons first shift both by 2^63, which keeps their
    order; Split moves what it gets.
Why engines need it: onnxruntime up to 1.20 adds, multiplies and compares no uint64, up to 1.12 it
    splits none.
Before: y = Add (a, b)                 # uint64
After: y = Cast <to = 13> (Add (Cast <to = 7> (a), Cast <to = 7> (b)))
When it refuses: The elements are not uint64, or an operand is missing.
Accuracy: Exact: a cast between the two keeps the bits, and integers of 64 bits wrap around.
References: graphfix/engines/onnxruntime/facts/kernels.json, measured;
    https://onnx.ai/onnx/operators/onnx__Cast.html
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import COMPARISONS, Builder, NodeView, Value, need_type, rewrite

_WRAPPING = ("Add", "Mul", "Sub")
_TAKEN = (*_WRAPPING, "Split", *sorted(COMPARISONS))


@rewrite(
    _TAKEN, removes=tuple(f"dtype:{op}.uint64" for op in _TAKEN), emits=(*_TAKEN, "Cast"), since=7
)
def uint64_through_int64(node: NodeView, build: Builder) -> tuple[Value, ...]:
    """Cast there and back, see the module."""
    first = node.need(0)
    need_type(first, (TensorProto.UINT64,))
    attributes = {name: node.attr(name) for name in node.attributes}
    signed = build.Cast(first, to=TensorProto.INT64)
    if node.op == "Split":
        parts = build.multi(
            "Split", signed, *node.inputs[1:], outputs=len(node.outputs), **attributes
        )
        return tuple(build.Cast(part, to=TensorProto.UINT64) for part in parts)
    other = build.Cast(node.need(1), to=TensorProto.INT64)
    if node.op in COMPARISONS and node.op != "Equal":
        lowest = np.int64(np.iinfo(np.int64).min)  # adding it turns the highest bit over
        signed, other = build.Add(signed, lowest), build.Add(other, lowest)
    (result,) = build.multi(node.op, signed, other, **attributes)
    return (result if node.op in COMPARISONS else build.Cast(result, to=TensorProto.UINT64),)
