"""Compute on 8 and 16 bit integers in a wider type where an engine takes none.

What it does: Casts int8, uint8, int16 and uint16 to int32, and the result back: for Clip, Mod,
    Where, sums, products, extremes and comparisons; products of uint16 go through int64,
    DepthToSpace, SpaceToDepth and MaxPool of 8 bits through float32, the first two of int32 through
    float64. What wraps around is taken modulo the range of the type.
Why engines need it: TensorRT's Clip takes floats and int32 only, its Mod int32, and its MaxPool no
    uint8. onnxruntime 1.10 adds, multiplies, compares and chooses no narrow integers, and has
    DepthToSpace of floats alone.
Before: y = Clip (x, low, high)        # int8
After: y = Cast <to = 3> (Clip (Cast <to = 6> (x), Cast <to = 6> (low), Cast <to = 6> (high)))
When it refuses: The elements are not such integers, there are several outputs, or a result that
    wraps around would need Mod below opset 10.
Accuracy: Exact: the wider type holds all results, and what would wrap around is taken modulo its
    range.
References: builtin_op_importers.cpp:464-481, 3072 of onnx-tensorrt, release 8.6;
    https://onnx.ai/onnx/operators/onnx__Clip.html; onnxruntime 1.10.0, measured
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import COMPARISONS, Builder, NodeView, Refuse, Value, need_type, rewrite

from ._integers import WRAPPING

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_NARROW = (*_BYTES, TensorProto.INT16, TensorProto.UINT16)
_PLACES = ("DepthToSpace", "SpaceToDepth")
_FLOATS = (*_PLACES, "MaxPool")
_SIGNS = ("Abs", "Neg")
_WHOLE = ("Clip", "Max", "Min", "Mod", *(op for op in WRAPPING if op not in _SIGNS))
_MOD = 10  # the opset that it came with
_TAKEN = (*_WHOLE, "Where", *sorted(COMPARISONS))


@rewrite(
    (*_FLOATS, *_TAKEN),
    removes=(
        *(f"dtype:{op}.{name}" for op in _FLOATS for name in ("int8", "uint8")),
        *(f"dtype:{op}.int32" for op in _PLACES),
        *(f"dtype:{op}.{n}" for op in _TAKEN for n in ("int8", "uint8", "int16", "uint16")),
    ),
    emits=(*_FLOATS, *_TAKEN, "Add", "Cast", "Mod", "Sub"),
    since=7,
)
def bytes_through_wider(node: NodeView, build: Builder) -> Value:
    """Cast there and back, see the module."""
    first = int(node.op == "Where")  # after the condition
    x = node.need(first)
    moved = (*_BYTES, TensorProto.INT32) if node.op in _PLACES else _BYTES
    need_type(x, moved if node.op in _FLOATS else _NARROW)
    kind = TensorProto.FLOAT if node.op in _FLOATS else TensorProto.INT32
    if x.elem_type == TensorProto.INT32:
        kind = TensorProto.DOUBLE  # float32 does not hold all of them
    if node.op == "Mul" and x.elem_type == TensorProto.UINT16:
        kind = TensorProto.INT64  # int32 does not hold all products
    if len(node.outputs) > 1:
        raise Refuse("there must be one output; there is a second")
    if node.op in WRAPPING and build.opset < _MOD:
        raise Refuse(f"the opset must have Mod, from {_MOD} on; it is {build.opset}")
    wide = [None if v is None else build.Cast(v, to=kind) for v in node.inputs[first:]]
    operands = [*node.inputs[:first], *wide]
    attributes = {name: node.attr(name) for name in node.attributes}
    (result,) = build.multi(node.op, *operands, **attributes)
    if node.op in COMPARISONS:
        return result
    if node.op in WRAPPING:
        result = _wrapped(result, x, build)
    return build.Cast(result, to=x.elem_type)


def _wrapped(result: Value, x: Value, build: Builder) -> Value:
    """Take wider integers modulo the range of the type of `x`."""
    assert x.dtype is not None
    assert result.dtype is not None
    limits, wide = np.iinfo(x.dtype), result.dtype.type
    span, low = wide(int(limits.max) - int(limits.min) + 1), wide(limits.min)
    if not low:
        return build.Mod(result, span)
    return build.Add(build.Mod(build.Sub(result, low), span), low)
