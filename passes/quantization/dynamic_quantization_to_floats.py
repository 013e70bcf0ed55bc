"""Compute dynamically quantized products in floats, with the weights that they stand for.

What it does: Multiplies or convolves what DynamicQuantizeLinear was given by the weights that a
    DequantizeLinear makes of the bytes of the file. Where both operands are quantized so, neither
    is.
Why engines need it: Few engines have MatMulInteger, ConvInteger and DynamicQuantizeLinear. Written
    out exactly they take four times as many nodes, and are computed in floats all the same. It runs
    with --allow-lossy alone, before others, for any target that refuses one of the three.
Before:
    q, s, z = DynamicQuantizeLinear (x)
    y = Mul (Cast <to = 1> (MatMulInteger (q, w, z, 0)), Mul (s, 0.02))
After: y = MatMul (x, DequantizeLinear (w, 0.02, 0))
When it refuses: The weights, their scale or zero point are computed at run time otherwise; these
    differ along another axis than that of the columns or channels, or before opset 13.
Accuracy: Lossy: x is no longer rounded to 255 steps of its range, so that each element may differ
    by half of one. What is computed is nearer to the network before it was quantized.
References: https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html; microsoft/onnxruntime
    onnxruntime/python/tools/quantization/operators/matmul.py, conv.py
"""

import numpy as np

from graphfix.authoring import (
    INTEGERS,
    LOSSY,
    Array,
    Builder,
    Find,
    Match,
    Refuse,
    Sought,
    Value,
    needed,
    rewrite,
)

_AXES = 13  # the opset
_MAKER = "DynamicQuantizeLinear"


@rewrite.pattern
def quantized_product(find: Find, x: Sought, w: Sought, zero: Sought, scale: Sought) -> Sought:
    """Look for a product of bytes that is cast and scaled."""
    q, s, z = find.outputs(find.shared(find.DynamicQuantizeLinear(x)), 3)
    product = find.either(
        find.node("MatMulInteger", q, w, z, find.given(zero), label="product"),
        find.node("ConvInteger", q, w, z, find.given(zero), label="product", others=True),
    )
    return find.Cast(product, to=1) * find.shared(s * scale)


@rewrite(
    quantized_product,
    removes=f"op:{_MAKER} op:MatMulInteger op:ConvInteger form:ConvInteger.zero-points",
    emits="Conv DequantizeLinear MatMul",
    accuracy=LOSSY,
    stage=INTEGERS,
    since=11,
)
def dynamic_quantization_to_floats(match: Match, build: Builder) -> Value:
    """Multiply floats, see the module."""
    build.declare(LOSSY, f"{match['x'].name} is not rounded to 255 steps of its range")
    node, operand = match.called("product"), _operand(match, build)
    if node.op == "MatMulInteger":
        return build.MatMul(match["x"], operand)
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.Conv(match["x"], operand, **attributes)


def _operand(match: Match, build: Builder) -> Value:
    """Return the other operand as floats: what was quantized, or the dequantized weights."""
    w, zero, given = match["w"], match.get("zero"), match["scale"]
    maker = w.producer
    if maker is not None and maker.op == _MAKER:
        if maker.outputs != (w, given, zero):
            raise Refuse(f"{w.name} must be scaled by what quantized it; it is not")
        return maker.need(0)
    build.need_const(w, "the weights")
    scale = _row(build.need_const(given, "their scale"), given)
    zeros = np.zeros(1, needed(w.dtype, f"the type of {w.name} must be known"))
    if zero is not None:
        zeros = _row(build.need_const(zero, "their zero point"), zero)
    size, is_matrix = max(scale.size, zeros.size), match.called("product").op == "MatMulInteger"
    if size == 1:
        return build.DequantizeLinear(w, build.constant(scale[0]), build.constant(zeros[0]))
    rank = needed(w.rank, f"the rank of {w.name} must be known")
    axis = rank - 1 if is_matrix else 0
    fits = w.dim(axis) == size and build.opset >= _AXES and rank > 1
    # Both follow the columns of a product; of channels, which more axes follow, zero points do not.
    along = _is_along(given, 1 if is_matrix else rank - 1)
    if not fits or not along or not (zero is None or _is_along(zero, 1)):
        raise Refuse("scales must differ by column or channel, from opset 13 on; they do not")
    scales, offsets = (build.constant(np.broadcast_to(a, size).copy()) for a in (scale, zeros))
    return build.DequantizeLinear(w, scales, offsets, axis=axis)


def _row(known: Array, value: Value) -> Array:
    if known.size != max(known.shape, default=1):
        raise Refuse(f"{value.name} must differ by one axis at most; it differs by more")
    return known.reshape(-1)


def _is_along(value: Value, wanted: int) -> bool:
    """Say whether several numbers differ along an axis, counted from the last one, 1."""
    shape = value.static_shape or (1,)
    return [len(shape) - at for at, size in enumerate(shape) if size > 1] in ([], [wanted])
