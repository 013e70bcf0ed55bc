"""Compute on 8 and 16 bit integers in a wider type where an engine takes none.

What it does:
    Casts int8, uint8, int16 and uint16 to int32, and the result back: for Clip, Mod, sums,
    products, extremes and comparisons; DepthToSpace, SpaceToDepth and MaxPool of 8 bits go through
    float32. What wraps around is taken modulo the range of the type.

Why engines need it:
    TensorRT's Clip takes floats and int32 only, its Mod int32, and its MaxPool no uint8.
    onnxruntime 1.10 adds, multiplies and compares no narrow integers.

Before:
    y = Clip (x, low, high)        # int8

After:
    y = Cast <to = 3> (Clip (Cast <to = 6> (x), Cast <to = 6> (low), Cast <to = 6> (high)))

When it refuses:
    The elements are not such integers; a product is of uint16, which int32 does not hold.

Accuracy:
    Exact: the wider type holds all results, and what would wrap around is taken modulo its range.

References:
    builtin_op_importers.cpp:464-481, 3072 of onnx-tensorrt, release 8.6;
    https://onnx.ai/onnx/operators/onnx__Clip.html; onnxruntime 1.10.0, measured
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring import COMPARISONS, Builder, NodeView, Refuse, Value, need_type, rewrite
from graphfix.passes.dtype._integers import WRAPPING

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_NARROW = (*_BYTES, TensorProto.INT16, TensorProto.UINT16)
_FLOATS = ("DepthToSpace", "MaxPool", "SpaceToDepth")
_SIGNS = ("Abs", "Neg")
_WHOLE = ("Clip", "Max", "Min", "Mod", *(op for op in WRAPPING if op not in _SIGNS))
_TAKEN = (*_WHOLE, *sorted(COMPARISONS))


@rewrite(
    (*_FLOATS, *_TAKEN),
    removes=(
        *(f"dtype:{op}.{name}" for op in _FLOATS for name in ("int8", "uint8")),
        *(f"dtype:{op}.{n}" for op in _TAKEN for n in ("int8", "uint8", "int16", "uint16")),
    ),
    emits=(*_FLOATS, *_TAKEN, "Add", "Cast", "Mod", "Sub"),
    since=10,
)
def bytes_through_wider(node: NodeView, build: Builder) -> Value:
    """Cast there and back, see the module."""
    x = node.need(0)
    need_type(x, _BYTES if node.op in _FLOATS else _NARROW)
    kind = TensorProto.FLOAT if node.op in _FLOATS else TensorProto.INT32
    if node.op == "Mul" and x.elem_type == TensorProto.UINT16:
        raise Refuse("a product must fit into int32; one of uint16 does not")
    if len(node.outputs) > 1:
        raise Refuse("there must be one output; there is a second")
    operands = [None if v is None else build.Cast(v, to=kind) for v in node.inputs]
    attributes = {name: node.attr(name) for name in node.attributes}
    (result,) = build.multi(node.op, *operands, **attributes)
    if node.op in COMPARISONS:
        return result
    if node.op in WRAPPING:
        result = _wrapped(result, x, build)
    return build.Cast(result, to=x.elem_type)


def _wrapped(result: Value, x: Value, build: Builder) -> Value:
    """Take int32 modulo the range of the type of `x`."""
    assert x.dtype is not None
    limits = np.iinfo(x.dtype)
    span, low = np.int32(int(limits.max) - int(limits.min) + 1), np.int32(limits.min)
    if not low:
        return build.Mod(result, span)
    return build.Add(build.Mod(build.Sub(result, low), span), low)
