"""Replace arithmetic of tensors and numbers that exporters were told to leave as ATen nodes.

What it does: Brings the operands to the type that PyTorch computes in and writes add, sub, rsub,
    mul, div with its rounding modes, floor_divide, remainder, fmod, pow, square, neg, abs, sign,
    ceil, floor, round, lerp, addcmul, addcdiv, ldexp, atan2, erfc, logaddexp2 and xlog1py, and
    their other names, with the operators of ONNX.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "add"> (a, b, 2)             # a: float, b: int64
After: y = Add (a, Mul (Cast <to = 1> (b), 2))
When it refuses: A type is unknown, ranks are unknown where types differ, a factor or a rounding
    mode is computed at run time, exponents of integers are not constants from 0 on, or PyTorch does
    not take the types either.
Accuracy: Exact up to rounding. Approximate for atan2, erfc, logaddexp2 and xlog1py (float16 in
    float32): 2e-6 of the value, and of 1 for erfc and logaddexp2; the sign of zeros and infinities
    next to infinities are not looked at.
References: pytorch/pytorch aten/src/ATen/native/BinaryOps.cpp, UnaryOps.cpp, PointwiseOps.cpp and
    cpu/BinaryOpsKernel.cpp (div_floor, remainder)
"""

import math
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import Arithmetic, Write, held, is_float, one, plain, truncated, two
from ._family import Family

_NEAR = "error at most 2e-6 of the value, or of 1 where it is below"


def _scaled(build: Builder, call: Call, x: Value, name: str) -> Value:
    factor = call.number(name, 1)
    return x if factor == 1 else build.Mul(x, held(build, x, factor))


def _add(build: Builder, call: Call, v: list[Any]) -> Value:
    if v[0].dtype.kind == "b":
        return build.Or(v[0], v[1])
    return build.Add(v[0], _scaled(build, call, v[1], "alpha"))


def _mul(build: Builder, call: Call, v: list[Any]) -> Value:
    return build.And(v[0], v[1]) if v[0].dtype.kind == "b" else build.Mul(v[0], v[1])


def _times(call: ArrayCall, x: Any, name: str) -> Any:
    return x * x.dtype.type(call.number(name, 1))


def _floor_div(build: Builder, call: Call, v: list[Any]) -> Value:
    a, b = v
    if not is_float(a):
        return build.Div(build.Sub(a, build.Mod(a, b)), b)
    rest = build.Mod(a, b, fmod=1)
    whole = build.Div(build.Sub(a, rest), b)
    apart = build.And(_nonzero(build, rest), _apart(build, rest, b))
    down = build.Where(apart, build.Sub(whole, 1.0), whole)
    low = build.Floor(down)
    nearest = build.Where(
        build.Less(held(build, a, 0.5), build.Sub(down, low)), build.Add(low, 1.0), low
    )
    return build.Where(_nonzero(build, b), nearest, build.Div(a, b))


def _nonzero(build: Builder, x: Value) -> Value:
    return build.Less(held(build, x, 0.0), build.Abs(x))


def _apart(build: Builder, a: Value, b: Value) -> Value:
    return build.Xor(build.Less(a, 0.0), build.Less(b, 0.0))


_ROUNDED = ("floor", "trunc")


def _div(build: Builder, call: Call, v: list[Any]) -> Value:
    mode = call.text("rounding_mode", "")
    if mode == "floor":
        return _floor_div(build, call, v)
    if mode not in _ROUNDED and not (mode == "" and is_float(v[0])):
        raise Refuse(
            f"rounding_mode of {call.operator} must be floor or trunc, or none for floats; it is "
            f"{mode!r}"
        )
    if not mode:
        return build.Div(v[0], v[1])
    quotient = build.Div(v[0], v[1])  # of integers rounds towards 0
    return truncated(build, quotient) if is_float(v[0]) else quotient


def _div_model(call: ArrayCall, v: list[Any]) -> Any:
    given = call.array("rounding_mode")
    mode = "" if given is None else str(given)
    if mode == "floor":
        return _floor_div_model(call, v)
    if not mode and v[0].dtype.kind == "f":
        return v[0] / v[1]
    if mode not in _ROUNDED:
        raise Refuse(f"rounding_mode must be floor or trunc; it is {mode!r}")
    if v[0].dtype.kind == "f":
        return np.trunc(v[0] / v[1])
    return np.sign(v[0]) * np.sign(v[1]) * (np.abs(v[0]) // np.abs(v[1]))


def _floor_div_model(_: ArrayCall, v: list[Any]) -> Any:
    return np.floor_divide(v[0], v[1])


def _remainder(build: Builder, _: Call, v: list[Any]) -> Value:
    a, b = v
    if not is_float(a):
        return build.Mod(a, b)
    rest = build.Mod(a, b, fmod=1)
    apart = build.And(_nonzero(build, rest), _apart(build, rest, b))
    return build.Where(apart, build.Add(rest, b), rest)


def _rest(function: Any, v: list[Any]) -> Any:
    if v[0].dtype.kind != "f" and (v[1] == 0).any():
        raise Refuse("integers must not be divided by 0; one is")  # as PyTorch does
    return function(v[0], v[1])


def _pow(build: Builder, call: Call, v: list[Any]) -> Value:
    if not is_float(v[0]):
        power = build.const(v[1])
        if power is None or (power < 0).any():
            raise Refuse("the exponents of integers must be constants that are not negative")
    return build.Pow(v[0], v[1])


def _lerp(build: Builder, call: Call, v: list[Any]) -> Value:
    start, end, weight = v
    way = build.Sub(end, start)
    return build.Where(
        build.Less(build.Abs(weight), 0.5),
        build.Add(start, build.Mul(weight, way)),
        build.Sub(end, build.Mul(way, build.Sub(held(build, weight, 1.0), weight))),
    )


def _lerp_model(_: ArrayCall, v: list[Any]) -> Any:
    start, end, weight = (np.asarray(operand) for operand in v)
    way = end - start
    return np.where(np.abs(weight) < 0.5, start + weight * way, end - way * (1 - weight))


def _addcmul(build: Builder, call: Call, v: list[Any]) -> Value:
    return build.Add(v[0], build.Mul(_scaled(build, call, v[1], "value"), v[2]))


def _addcdiv(build: Builder, call: Call, v: list[Any]) -> Value:
    return build.Add(v[0], build.Div(_scaled(build, call, v[1], "value"), v[2]))


def _round(build: Builder, call: Call, v: list[Any]) -> Value:
    places = int(call.number("decimals", 0)) if "decimals" in call.schema else 0
    if not is_float(v[0]):
        if places < 0:
            raise Refuse(f"decimals of integers must not be negative; they are {places}")
        return build.Identity(v[0])
    if not places:
        return build.Round(v[0])
    power = 10.0 ** abs(places)
    if places > 0:
        return build.Div(build.Round(build.Mul(v[0], power)), power)
    return build.Mul(build.Round(build.Div(v[0], power)), power)


def _round_model(call: ArrayCall, v: list[Any]) -> Any:
    places = int(call.number("decimals", 0)) if "decimals" in call.schema else 0
    power = v[0].dtype.type(10 ** abs(places))
    if places >= 0:
        return np.rint(v[0] * power) / power if v[0].dtype.kind == "f" else v[0]
    return np.rint(v[0] / power) * power


def _whole(op: str) -> Write:
    def write(build: Builder, _: Call, v: list[Any]) -> Value:
        return build.node(op, v[0]) if is_float(v[0]) else build.Identity(v[0])

    return write


def _sign(build: Builder, _: Call, v: list[Any]) -> Value:
    return build.Identity(v[0]) if v[0].dtype.kind == "b" else build.Sign(v[0])


def _atan2(build: Builder, _: Call, v: list[Any]) -> Value:
    y, x = v
    below = build.Or(build.Less(y, 0.0), build.Less(build.Reciprocal(y), 0.0))
    half_turn = build.Where(below, held(build, y, -np.pi), held(build, y, np.pi))
    turned = build.Where(build.Less(x, 0.0), half_turn, held(build, y, 0.0))
    angle = build.Add(build.Atan(build.Div(y, x)), turned)
    nowhere = build.And(build.Equal(x, held(build, x, 0)), build.Equal(y, held(build, y, 0)))
    return build.Where(nowhere, held(build, y, 0.0), angle)


def _logaddexp2(build: Builder, _: Call, v: list[Any]) -> Value:
    a, b = v
    away = build.Mul(build.Abs(build.Sub(a, b)), float(-np.log(2)))
    more = build.Mul(build.Log(build.Add(build.Exp(away), 1.0)), float(1 / np.log(2)))
    # Infinities of one sign have no difference.
    same = build.Equal(a, b)
    return build.Where(same, build.Add(a, 1.0), build.Add(build.Max(a, b), more))


def _xlog1py(build: Builder, _: Call, v: list[Any]) -> Value:
    x, y = v
    # log(1 + y) * y / ((1 + y) - 1) keeps what the sum rounds away (W. Kahan).
    sum_ = build.Add(y, 1.0)
    back = build.Sub(sum_, 1.0)
    lost = build.Or(build.Equal(back, held(build, y, 0.0)), build.Less(held(build, y, 1e9), y))
    log = build.Where(
        lost, build.Where(build.Less(y, 1.0), y, build.Log(sum_)),
        build.Mul(build.Log(sum_), build.Div(y, back)),
    )  # fmt: skip
    nothing = build.Mul(build.Where(build.IsNaN(y), y, held(build, y, 0.0)), 1.0)
    return build.Where(build.Equal(x, held(build, x, 0.0)), nothing, build.Mul(x, log))


def _xlog1py_model(_: ArrayCall, v: list[Any]) -> Any:
    return np.where((v[0] == 0) & ~np.isnan(v[1]), 0.0, v[0] * np.log1p(v[1]))


_ADD = two(_add, lambda c, v: np.add(v[0], _times(c, v[1], "alpha")), further=("alpha",),
            takes="biuf")  # fmt: skip
_SUB = two(
    lambda build, call, v: build.Sub(v[0], _scaled(build, call, v[1], "alpha")),
    lambda c, v: v[0] - _times(c, v[1], "alpha"), further=("alpha",),
)  # fmt: skip
_RSUB = two(
    lambda build, call, v: build.Sub(v[1], _scaled(build, call, v[0], "alpha")),
    lambda c, v: v[1] - _times(c, v[0], "alpha"), further=("alpha",),
)  # fmt: skip
_MUL = two(_mul, lambda _, v: v[0] * v[1], takes="biuf")
_TRUE_DIV = two(plain("Div"), lambda _, v: v[0] / v[1], kind="float")
_MODED = two(_div, _div_model, further=("rounding_mode",))
_POW = two(_pow, lambda _, v: np.power(v[0], v[1]), second="exponent")
_ABS = one(plain("Abs"), lambda _, v: np.abs(v[0]))
_NEG = one(plain("Neg"), lambda _, v: -v[0], takes="if")
_SAME = one(plain("Identity"), lambda _, v: v[0])
_SIGN = one(_sign, lambda _, v: np.sign(v[0]) if v[0].dtype.kind != "b" else v[0], takes="biuf")
_ERFC = one(
    lambda build, _, v: build.Sub(held(build, v[0], 1.0), build.Erf(v[0])),
    lambda _, v: np.vectorize(math.erfc, otypes=[np.float64])(v[0]), kind="float", note=_NEAR,
)  # fmt: skip
_XLOG1PY = two(_xlog1py, _xlog1py_model, kind="float", note=_NEAR)
_WEIGHTED = Arithmetic(("self", "end", "weight"), ("self", "end", "weight"), _lerp, _lerp_model,
                       takes="f")  # fmt: skip
_TABLE = {
    "add": _ADD, "sub": _SUB, "subtract": _SUB, "rsub": _RSUB, "mul": _MUL, "multiply": _MUL,
    "div": _TRUE_DIV, "divide": _TRUE_DIV, "true_divide": _TRUE_DIV,
    **dict.fromkeys(("div.Tensor_mode", "div.Scalar_mode"), _MODED),
    **dict.fromkeys(("divide.Tensor_mode", "divide.Scalar_mode"), _MODED),
    "floor_divide": two(_floor_div, _floor_div_model),
    "remainder": two(_remainder, lambda _, v: _rest(np.remainder, v)),
    "fmod": two(lambda build, _, v: build.Mod(v[0], v[1], fmod=1),
                 lambda _, v: _rest(np.fmod, v)),
    "pow": _POW,
    "square": one(lambda build, _, v: build.Mul(v[0], v[0]), lambda _, v: v[0] * v[0]),
    "neg": _NEG, "negative": _NEG, "positive": _SAME, "abs": _ABS, "absolute": _ABS,
    "sign": _SIGN, "sgn": _SIGN,
    "ceil": one(_whole("Ceil"), lambda _, v: np.ceil(v[0])),
    "floor": one(_whole("Floor"), lambda _, v: np.floor(v[0])),
    "round": one(_round, _round_model),
    "round.decimals": Arithmetic(("self", "decimals"), ("self",), _round, _round_model),
    "lerp": _WEIGHTED,
    "addcmul": Arithmetic(("self", "tensor1", "tensor2", "value"), ("self", "tensor1", "tensor2"),
                          _addcmul, lambda c, v: v[0] + _times(c, v[1], "value") * v[2]),
    "addcdiv": Arithmetic(("self", "tensor1", "tensor2", "value"), ("self", "tensor1", "tensor2"),
                          _addcdiv, lambda c, v: v[0] + _times(c, v[1], "value") / v[2], takes="f"),
    "ldexp": two(lambda build, _, v: build.Mul(v[0], build.Pow(held(build, v[0], 2.0), v[1])),
                  lambda _, v: v[0] * np.power(v[0].dtype.type(2), v[1]), kind="float"),
    "atan2": two(_atan2, lambda _, v: np.arctan2(v[0], v[1]), kind="float", note=_NEAR),
    "arctan2": two(_atan2, lambda _, v: np.arctan2(v[0], v[1]), kind="float", note=_NEAR),
    "erfc": _ERFC, "special_erfc": _ERFC,
    "logaddexp2": two(_logaddexp2, lambda _, v: np.logaddexp2(v[0], v[1]), takes="f", note=_NEAR),
    "special_xlog1py": _XLOG1PY,
}  # fmt: skip
FAMILY = Family({name: row.function() for name, row in _TABLE.items()})


aten_arithmetic = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add And Atan Cast Ceil Div Equal Erf Exp Floor Identity IsNaN Less Log Max Mod Mul "
        "Neg Or Pow Reciprocal Round Sign Sub Where Xor"
    ),
)
