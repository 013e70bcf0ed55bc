"""Replace frexp by multiplications with powers of two.

What it does: Halves 64, 32, ... 1 times whatever is at least that power of two, and doubles what is
    below: every step is exact. What is left is the mantissa, from 0.5 to 1, and the steps add up to
    the exponent.
Why engines need it: ONNX has no operator that takes a float apart, and PyTorch's exporter
    translates it not.
Before: m, e = org.pytorch.aten.ATen <operator = "frexp"> (x)
After:
    a = Abs (x)
    big = Less (2**63, a)
    m, e = Where (big, Mul (a, 2**-64), a), Where (big, 64, 0)
    ...
When it refuses: The type is unknown or float64 or bfloat16, or the opset is below 9, which brought
    Where.
Accuracy: Exact for every float32 and float16 number; what is below 1e-38 has to be computed with,
    not taken for 0. Infinities and NaN stay what they are, with the exponent 0.
References: pytorch/pytorch aten/src/ATen/native/UnaryOps.cpp (frexp);
    https://en.cppreference.com/w/c/numeric/math/frexp
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._exponents import taken_apart
from ._family import Family, Function


def _frexp(build: Builder, call: Call) -> tuple[Value, ...]:
    x = call.need("self")
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name or 'unknown'}")
    build.need_opset(9, ", which has Where")
    wide = build.Cast(x, to=TensorProto.FLOAT) if x.elem_type == TensorProto.FLOAT16 else x
    size = build.Abs(wide)
    # Beyond the largest number, and for NaN, nothing is taken apart; 0 has the exponent 0.
    plain = build.And(build.Less(size, np.float32(np.inf)), build.Less(np.float32(0), size))
    mantissa, exponent = taken_apart(
        build, size, build.Mul(size, 0.0), lambda so_far, more: build.Add(so_far, float(more))
    )
    signed = build.Where(build.Less(wide, 0.0), build.Neg(mantissa), mantissa)
    found = build.Where(plain, signed, wide)
    whole = build.Where(plain, exponent, np.float32(0))
    if wide is not x:
        found = build.Cast(found, to=TensorProto.FLOAT16)
    return found, build.Cast(whole, to=TensorProto.INT32)


def _model(call: ArrayCall) -> Any:
    x = call.need("self")
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0).astype(np.int32)


FAMILY = Family({"frexp": Function(("self",), _frexp, _model)})


aten_frexp = FAMILY.replaced(
    __name__,
    emits="Abs Add And Cast Less Mul Neg Where",
    claims="nan inf",
)
