"""Give the exponent of Pow the element type of its base.

What it does: Casts an exponent of another type to that of a floating point base; a constant is
    written again.
Why engines need it: TensorRT wants both operands of Pow to have one type ("[ElementWise]: operation
    has incompatible input types"); onnxruntime 1.10 takes no unsigned exponents.
Before: y = Pow (x, n)            # x: float, n: int64
After: y = Pow (x, Cast <to = 1> (n))
When it refuses: The base is no float16, float32 or float64; the exponent is no number, or a
    constant that the base's type does not hold.
Accuracy: Exact where the base's type holds every exponent: a constant, whose numbers are looked at,
    or one of a type that is a part of it, such as int16 next to float32. The last place of the
    power may be another one. Approximate elsewhere: computed integers beyond 2^24 (2^11 next to
    float16) are rounded.
References: NVIDIA/TensorRT issue 1872; https://onnx.ai/onnx/operators/onnx__Pow.html;
    onnxruntime/core/providers/cpu/math/element_wise_ops.cc: PowImpl
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value, listed, rewrite

_BASES = (TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE)


@rewrite("Pow", removes="dtype:mixed dtype:Pow.uint32 dtype:Pow.uint64", emits="Cast Pow", since=12)
def pow_exponent_like_base(node: NodeView, build: Builder) -> Value:
    """Cast the exponent, see the module."""
    x, n = node.need(0), node.need(1)
    if x.elem_type not in _BASES or x.dtype is None:
        raise Refuse(f"{x.name} must be {listed(_BASES)}; it is {x.type_name}")
    if n.elem_type == x.elem_type or n.dtype is None or n.dtype.kind not in "iuf":
        raise Refuse(f"{n.name} must be a number of another dtype; it is {n.type_name}")
    known = build.const(n)
    if known is None:
        if not np.can_cast(n.dtype, x.dtype):
            build.declare(APPROXIMATE, f"exponents that {x.type_name} does not hold are rounded")
        return build.Pow(x, build.Cast(n, to=x.elem_type))
    written = known.astype(x.dtype)
    if not np.array_equal(written.astype(np.float64), known.astype(np.float64), equal_nan=True):
        raise Refuse(f"the constant {n.name} must be numbers of {x.type_name}; it is not")
    return build.Pow(x, written)
