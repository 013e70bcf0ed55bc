"""Compute on 8 bit integers in a wider type where an engine takes none.

What it does:
    Casts int8 and uint8 to int32 for Clip and Mod, and to float32 for MaxPool, and the result
    back.

Why engines need it:
    TensorRT's Clip takes floats and int32 only, its Mod int32, and its MaxPool no uint8.

Before:
    y = Clip (x, low, high)        # int8

After:
    y = Cast <to = 3> (Clip (Cast <to = 6> (x), Cast <to = 6> (low), Cast <to = 6> (high)))

When it refuses:
    The elements are not int8 or uint8.

Accuracy:
    Exact: both types hold all numbers of 8 bits, and no result leaves their range.

References:
    builtin_op_importers.cpp:464-481, 3072 of onnx-tensorrt, release 8.6;
    https://onnx.ai/onnx/operators/onnx__Clip.html
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type, rewrite

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_WIDER = {
    "Clip": TensorProto.INT32,
    "MaxPool": TensorProto.FLOAT,
    "Mod": TensorProto.INT32,
}


@rewrite(
    tuple(_WIDER),
    removes=tuple(f"dtype:{op}.{name}" for op in _WIDER for name in ("int8", "uint8")),
    emits=(*_WIDER, "Cast"),
    since=12,
)
def bytes_through_wider(node: NodeView, build: Builder) -> Value:
    """Cast there and back, see the module."""
    x, kind = node.need(0), _WIDER[node.op]
    need_type(x, _BYTES)
    if len(node.outputs) > 1:
        raise Refuse("there must be one output; there is a second")
    operands = [None if v is None else build.Cast(v, to=kind) for v in node.inputs]
    attributes = {name: node.attr(name) for name in node.attributes}
    (result,) = build.multi(node.op, *operands, **attributes)
    return build.Cast(result, to=x.elem_type)
