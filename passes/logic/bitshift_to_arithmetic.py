"""Write BitShift as a product or a quotient.

What it does: A shift to the left drops the bits that go out and multiplies by a power of two; one
    to the right divides by it. Both are done in int32 and cast back.
Why engines need it: No version of TensorRT has BitShift, nor the unsigned types that it works on.
Before: y = BitShift <direction = "RIGHT"> (x, k)        # uint8
After:
    k = Cast <to = 6> (k)
    n = Where (Less (k, 8), k, 8)
    y = Cast <to = 2> (Div (Cast <to = 6> (x), Gather ([1, 2, 4, ..., 256], n)))
When it refuses: The numbers have more than 16 bits: int32 does not hold all of them.
Accuracy: Exact for shifts below 32 bits; all bits go where a shift has as many or more, and the
    result is 0. What a processor makes of shifts above 31 is not defined, and onnxruntime leaves it
    to the processor; here it is 0.
References: https://onnx.ai/onnx/operators/onnx__BitShift.html; operators.md of onnx-tensorrt,
    release 8.6; onnx-tensorrt issue 896
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_BITS: dict[int, int] = {TensorProto.UINT8: 8, TensorProto.UINT16: 16}


@rewrite("BitShift", removes="op:BitShift", emits="Cast Div Gather Less Mod Mul Where")
def bitshift_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Multiply or divide by a power of two, see the module."""
    x, by = node.need(0), node.need(1)
    bits = _BITS.get(x.elem_type)
    if bits is None:
        raise Refuse(f"the dtype must be one whose numbers int32 holds; it is {x.type_name}")
    left = node.attr("direction") in (b"LEFT", "LEFT")

    def wide(value: Value) -> Value:
        known = build.const(value)
        if known is not None:
            return build.constant(known.astype(np.int32))
        return build.Cast(value, to=TensorProto.INT32)

    def limited() -> Value:
        amount, most = wide(by), np.int32(bits)
        return build.Where(build.Less(amount, most), amount, most)

    def power(exponents: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Value:
        table = np.left_shift(np.int32(1), exponents).astype(np.int32)
        known = build.const(by)
        if known is None:
            return build.Gather(table, limited(), axis=0)
        return build.constant(table[np.minimum(known, bits)])

    # The last entry stands for all wider shifts: what is left of a number is 0.
    shifts = np.arange(bits + 1, dtype=np.int32)
    if left:
        kept = build.Mod(wide(x), power(np.int32(bits) - shifts))
        result = build.Mul(kept, power(shifts))
    else:
        result = build.Div(wide(x), power(shifts))
    return build.Cast(result, to=x.elem_type)
