"""Replace the greatest common divisor and the least common multiple by Euclid's algorithm.

What it does: Takes remainders in a Loop until all are 0, at most as often as numbers of the type
    can need: 92 times for int64, whose largest Fibonacci number is the 92nd. The multiple is the
    first number divided by that and multiplied by the second; 0 where both are 0.
Why engines need it: ONNX has no such operators, and PyTorch's exporter translates neither.
Before: y = org.pytorch.aten.ATen <operator = "gcd"> (a, b)
After:
    y, rest = Loop (92, , Abs (a), Abs (b)) {
        more = Less (0, rest)
        left = Sub (y, Mul (Div (y, Where (more, rest, 1)), rest))
        y, rest = Where (more, rest, y), Where (more, left, 0)
    }
When it refuses: The types or ranks are unknown, the operands are not int32 or int64, or the opset
    is below 11, before which a Loop knows no shape.
Accuracy: Exact, as integers of the type are: what is beyond it wraps, as in PyTorch. The smallest
    number of a type with a sign, whose negative the type lacks, is not looked at.
References: pytorch/pytorch aten/src/ATen/native/Math.h (calc_gcd), cpu/BinaryOpsKernel.cpp (lcm);
    G. Lamé, Note sur la limite du nombre des divisions, 1844 (how many steps there are).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import Call
from ._arithmetic import two
from ._family import Family


def _steps(dtype: np.dtype[Any]) -> int:
    """Return how many remainders two numbers of a type can need.

    k steps need a second number of at least the (k + 1)-th Fibonacci number; one more exchanges
    the two.
    """
    least, following, steps = 1, 2, 1
    while least <= int(np.iinfo(str(dtype)).max):
        least, following, steps = following, least + following, steps + 1
    return steps


def _gcd(build: Builder, call: Call, operands: list[Any]) -> Value:
    build.need_opset(11, ", whose Loop has shapes")
    first, second = (build.Abs(value) for value in operands)
    dtype: np.dtype[Any] = operands[0].dtype
    if dtype.name not in ("int32", "int64"):
        raise Refuse(f"the operands must be int32 or int64; they are {dtype}")
    # Both need the shape of the result, which the state of a Loop keeps.
    if operands[0].shape != operands[1].shape or None in (operands[0].shape or ()):
        nothing = (build.Mul(value, np.array(0, dtype)) for value in (second, first))
        first, second = (build.Add(a, b) for a, b in zip((first, second), nothing, strict=True))

    def step(inner: Builder, *given: Value) -> Sequence[Value]:
        _, again, a, b = given
        more = inner.Less(np.array(0, dtype), b)
        quotient = inner.Div(a, inner.Where(more, b, inner.constant(np.array(1, dtype))))
        left = inner.Sub(a, inner.Mul(quotient, b))
        zero = inner.constant(np.array(0, dtype))
        return (inner.Identity(again), inner.Where(more, b, a), inner.Where(more, left, zero))

    kind, shape = first.elem_type, first.shape
    body = build.body(
        [
            ("step", TensorProto.INT64, ()),
            ("again", TensorProto.BOOL, ()),
            ("divisor", kind, shape),
            ("rest", kind, shape),
        ],
        step,
    )
    steps = build.constant(np.array(_steps(dtype), np.int64))
    always = build.constant(np.array(True))
    return build.multi("Loop", steps, always, first, second, outputs=2, body=body)[0]


def _lcm(build: Builder, call: Call, operands: list[Any]) -> Value:
    divisor = _gcd(build, call, operands)
    one = build.constant(np.array(1, operands[0].dtype))
    some = build.Less(np.array(0, one.dtype), divisor)
    share = build.Div(operands[0], build.Where(some, divisor, one))
    return build.Abs(build.Mul(share, operands[1]))


def _lcm_model(_: Any, v: list[Array]) -> Any:
    divisor = np.gcd(*v)
    share = v[0] // np.maximum(divisor, 1)
    return np.abs(share * v[1])


FAMILY = Family(
    {
        "gcd": two(_gcd, lambda _, v: np.gcd(*v), takes="iu").function(),
        "lcm": two(_lcm, _lcm_model, takes="iu").function(),
    }
)


aten_gcd = FAMILY.replaced(__name__, emits="Abs Add Cast Div Identity Less Loop Mul Sub Where")
