"""Move elements about after they are dequantized, not before, by consent.

What it does: A DequantizeLinear of what Transpose, Reshape, MaxPool, Concat, Slice or another such
    operator made of bytes goes before that operator, once for each operand. What Resize
    interpolates is quantized again after it.
Why engines need it: TensorRT quantizes around 0 and has no uint8 to move about. Next to its
    QuantizeLinear, asymmetric-pair-to-int8 takes the DequantizeLinear for int8. It runs with
    --allow-lossy alone, for that pass.
Before: y = DequantizeLinear (Transpose (q), 0.1, 3)
After: y = Transpose (DequantizeLinear (q, 0.1, 3))
When it refuses: Another operator made the bytes, or one that pads, or Resize by cubic functions;
    there are several scales or zero points; no zero point is given.
Accuracy: Exact: each element is dequantized as it was, and the greatest of them stays the greatest.
    Lossy for Resize by linear functions: kernels cut off the fractions of bytes that are rounded
    here, so that an element may be one step away.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
"""

from graphfix.authoring import (
    BYTE_MOVES,
    INTEGERS,
    LOSSY,
    Builder,
    NodeView,
    Refuse,
    Value,
    moved_inputs,
    rewrite,
)

_PAD = "Pad"  # what it puts in would be dequantized as well


@rewrite(
    "DequantizeLinear",
    removes="attr:DequantizeLinear.* dtype:DequantizeLinear.*",
    emits=("DequantizeLinear", "QuantizeLinear", *(op for op in BYTE_MOVES if op != _PAD)),
    stage=INTEGERS,
    since=10,
)
def dequantize_before_moves(node: NodeView, build: Builder) -> Value:
    """Dequantize the operands, see the module."""
    given, scale, zero = node.need(0), node.need(1), node.input(2)
    mover = given.producer
    places = () if mover is None else moved_inputs(mover.node)
    if mover is not None and mover.op == "Resize" and mover.attr("mode", "nearest") == "linear":
        places = (0,)
        build.declare(LOSSY, "interpolated elements may be one step of their scale away")
    if mover is None or not places or mover.op == _PAD:
        raise Refuse(f"{given.name} must be moved about by a node; it is not")
    if zero is None or scale.static_shape not in ((), (1,)) or zero.static_shape not in ((), (1,)):
        raise Refuse("one scale and zero point must be given; they are not")
    kept = {name: node.attr(name) for name in node.attributes if name != "axis"}
    operands = [
        build.DequantizeLinear(x, scale, zero, **kept) if x is not None and at in places else x
        for at, x in enumerate(mover.inputs)
    ]
    results = build.multi(mover.op, *operands, outputs=len(mover.outputs), **mover.written())
    result = results[next(at for at, y in enumerate(mover.outputs) if y == given)]
    if build.accuracy is not LOSSY:
        return result
    return build.DequantizeLinear(build.QuantizeLinear(result, scale, zero), scale, zero, **kept)
