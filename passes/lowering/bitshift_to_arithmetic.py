"""Write BitShift as a product or a quotient.

What it does:
    A shift to the left drops the bits that go out and multiplies by a power of two; one to the
    right divides by it. Both are done in int32 and cast back.

Why engines need it:
    No version of TensorRT has BitShift, nor the unsigned types that it works on.

Before:
    y = BitShift <direction = "RIGHT"> (x, k)        # uint8

After:
    y = Cast <to = 2> (Div (Cast <to = 6> (x), Gather ([1, 2, 4, ...], Cast <to = 6> (k))))

When it refuses:
    The numbers have more than 16 bits: int32 does not hold all of them.

Accuracy:
    Exact for shifts below the number of bits; wider shifts are not defined.

References:
    https://onnx.ai/onnx/operators/onnx__BitShift.html; operators.md of onnx-tensorrt, release 8.6;
    onnx-tensorrt issue 896
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_BITS: dict[int, int] = {TensorProto.UINT8: 8, TensorProto.UINT16: 16}


@rewrite(
    "BitShift",
    removes="op:BitShift",
    emits=("Cast", "Div", "Gather", "Mod", "Mul"),
    accuracy=EXACT,
)
def bitshift_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Multiply or divide by a power of two, see the module."""
    x, by = node.need(0), node.need(1)
    bits = _BITS.get(x.elem_type)
    if bits is None:
        raise Refuse(f"int32 does not hold all numbers of {x.type_name}")
    left = node.attr("direction") in (b"LEFT", "LEFT")

    def wide(value: Value) -> Value:
        known = build.const(value)
        if known is not None:
            return build.constant(known.astype(np.int32))
        return build.Cast(value, to=TensorProto.INT32)

    def power(exponents: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Value:
        table = np.left_shift(np.int32(1), exponents).astype(np.int32)
        known = build.const(by)
        if known is None:
            return build.Gather(table, wide(by), axis=0)
        return build.constant(table[np.minimum(known, bits - 1)])

    shifts = np.arange(bits, dtype=np.int32)
    if left:
        kept = build.Mod(wide(x), power(np.int32(bits) - shifts))
        result = build.Mul(kept, power(shifts))
    else:
        result = build.Div(wide(x), power(shifts))
    return build.Cast(result, to=x.elem_type)
