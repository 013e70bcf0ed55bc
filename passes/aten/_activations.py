"""Activations and other functions of one operand with numbers next to it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._elementwise import UNARY

_EXPM1 = UNARY["expm1"].write


@dataclass(frozen=True, slots=True)
class Activation:
    """One function: how it is written of float32 or float64, and what numpy says of float64."""

    write: Callable[[Builder, Call, Value], Value]
    model: Callable[[ArrayCall, Array], Any]
    schema: tuple[str, ...] = ("self",)
    note: str = ""


def _held(build: Builder, x: Value, number: float) -> Value:
    return build.constant(np.array(number, x.dtype))


def _number(call: Call, name: str, default: float) -> float:
    return float(call.number(name, default))


def _elu(build: Builder, call: Call, x: Value) -> Value:
    scale = inner = 1.0
    if call.operator == "selu":
        alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    else:
        alpha = _number(call, "alpha", 1.0)
        if call.operator == "celu":
            inner = 1 / alpha
        else:
            scale, inner = _number(call, "scale", 1.0), _number(call, "input_scale", 1.0)
    low = build.Mul(_EXPM1(build, build.Mul(x, inner) if inner != 1 else x), alpha * scale)
    high = build.Mul(x, scale) if scale != 1 else x
    return build.Where(build.Less(_held(build, x, 0.0), x), high, low)


def _elu_model(call: ArrayCall, x: Array) -> Any:
    if call.schema == ("self",):
        low = np.expm1(x) * 1.6732632423543772
        return 1.0507009873554805 * np.where(x > 0, x, low)
    alpha = float(call.number("alpha", 1.0))
    if len(call.schema) == 2:
        return np.where(x > 0, x, alpha * np.expm1(x / alpha))
    scale, inner = float(call.number("scale", 1.0)), float(call.number("input_scale", 1.0))
    return np.where(x > 0, scale * x, alpha * scale * np.expm1(x * inner))


def _gelu(build: Builder, call: Call, x: Value) -> Value:
    how = call.text("approximate", "none")
    if how == "tanh":
        cube = build.Mul(build.Mul(x, x), x)
        inner = build.Mul(build.Add(x, build.Mul(cube, 0.044715)), math.sqrt(2 / math.pi))
        return build.Mul(build.Mul(x, 0.5), build.Add(build.Tanh(inner), 1.0))
    if how != "none":
        raise Refuse(f"approximate must be none or tanh; it is {how}")
    share = build.Add(build.Erf(build.Mul(x, math.sqrt(0.5))), 1.0)
    return build.Mul(build.Mul(x, 0.5), share)


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[float])(x))


def _gelu_model(call: ArrayCall, x: Array) -> Any:
    how = call.array("approximate")
    if how is not None and "tanh" in str(how):
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x * math.sqrt(0.5)))


def _softplus(build: Builder, call: Call, x: Value) -> Value:
    beta, threshold = _number(call, "beta", 1.0), _number(call, "threshold", 20.0)
    inner = build.Mul(x, beta) if beta != 1 else x
    soft = build.Softplus(inner)
    soft = build.Div(soft, beta) if beta != 1 else soft
    return build.Where(build.Less(_held(build, x, threshold), inner), x, soft)


def _softplus_model(call: ArrayCall, x: Array) -> Any:
    beta, threshold = float(call.number("beta", 1.0)), float(call.number("threshold", 20.0))
    return np.where(x * beta > threshold, x, np.logaddexp(0, x * beta) / beta)


def _hardshrink(build: Builder, call: Call, x: Value) -> Value:
    limit = _number(call, "lambd", 0.5)
    inside = build.Not(build.Less(_held(build, x, limit), build.Abs(x)))
    # A NaN lies outside.
    inside = build.And(inside, build.Equal(x, x))
    return build.Where(inside, _held(build, x, 0.0), x)


def _softshrink(build: Builder, call: Call, x: Value) -> Value:
    limit = _number(call, "lambd", 0.5)
    above = build.Less(_held(build, x, limit), x)
    below = build.Less(x, _held(build, x, -limit))
    rest = build.Mul(x, 0.0)
    low = build.Where(below, build.Add(x, limit), rest)
    return build.Where(above, build.Sub(x, limit), low)


def _softshrink_model(call: ArrayCall, x: Array) -> Any:
    limit = float(call.number("lambd", 0.5))
    return np.where(x > limit, x - limit, np.where(x < -limit, x + limit, x * 0))


def _threshold(build: Builder, call: Call, x: Value) -> Value:
    limit, value = float(call.number("threshold")), float(call.number("value"))
    low = build.Not(build.Less(_held(build, x, limit), x))
    low = build.And(low, build.Equal(x, x))
    return build.Where(low, _held(build, x, value), x)


def _threshold_model(call: ArrayCall, x: Array) -> Any:
    return np.where(x <= float(call.number("threshold")), float(call.number("value")), x)


def _hardtanh(build: Builder, call: Call, x: Value) -> Value:
    low, high = (0.0, 6.0), (-1.0, 1.0)
    limits = low if call.operator == "relu6" else high
    if "min_val" in call.schema:
        limits = (_number(call, "min_val", -1.0), _number(call, "max_val", 1.0))
    if build.opset < 11:
        return build.Clip(x, min=limits[0], max=limits[1])
    return build.Clip(x, min=np.asarray(limits[0], x.dtype), max=np.asarray(limits[1], x.dtype))


def _logit(build: Builder, call: Call, x: Value) -> Value:
    eps = call.number("eps")
    if eps is not None:
        low, high = (np.asarray(v, x.dtype) for v in (float(eps), 1 - float(eps)))
        build.need_opset(11, " for limits")
        x = build.Clip(x, min=low, max=high)
    return build.Log(build.Div(x, build.Sub(_held(build, x, 1.0), x)))


def _logit_model(call: ArrayCall, x: Array) -> Any:
    eps = call.number("eps")
    inside = x if eps is None else np.clip(x, float(eps), 1 - float(eps))
    return np.log(inside / (1 - inside))


def _log1p(build: Builder, call: Call, x: Value) -> Value:
    del call
    one = _held(build, x, 1.0)
    whole = build.Add(x, one)
    # log(u) / (u - 1) is right where u = 1 + x is rounded (Goldberg, theorem 4).
    above = build.Sub(whole, one)
    same = build.Equal(above, _held(build, x, 0.0))
    share = build.Div(build.Mul(build.Log(whole), x), build.Where(same, one, above))
    near = build.Where(same, x, share)
    return build.Where(build.Less(build.Abs(x), one), near, build.Log(whole))


def _plain(op: str) -> Callable[[Builder, Call, Value], Value]:
    def write(build: Builder, call: Call, x: Value) -> Value:
        del call
        return build.multi(op, x)[0]

    return write


def _of(model: Callable[[Array], Any]) -> Callable[[ArrayCall, Array], Any]:
    return lambda _, x: model(x)


def _leaky(build: Builder, call: Call, x: Value) -> Value:
    slope = _number(call, "negative_slope", 0.01)
    return build.Where(build.Less(_held(build, x, 0.0), x), x, build.Mul(x, slope))


def _leaky_model(call: ArrayCall, x: Array) -> Any:
    return np.where(x > 0, x, x * float(call.number("negative_slope", 0.01)))


def _hardtanh_model(call: ArrayCall, x: Array) -> Any:
    if "min_val" not in call.schema:
        return np.clip(x, 0, 6)
    return np.clip(x, float(call.number("min_val", -1)), float(call.number("max_val", 1)))


def _sigmoid(x: Array) -> Any:
    return 1 / (1 + np.exp(-x))


_PLAIN: tuple[tuple[str, str, Callable[[Array], Any]], ...] = (
    ("acos", "Acos", np.arccos),
    ("asin", "Asin", np.arcsin),
    ("atan", "Atan", np.arctan),
    ("cos", "Cos", np.cos),
    ("sin", "Sin", np.sin),
    ("tan", "Tan", np.tan),
    ("exp", "Exp", np.exp),
    ("erf", "Erf", _erf),
    ("special_erf", "Erf", _erf),
    ("log", "Log", np.log),
    ("sqrt", "Sqrt", np.sqrt),
    ("tanh", "Tanh", np.tanh),
    ("sigmoid", "Sigmoid", _sigmoid),
    ("special_expit", "Sigmoid", _sigmoid),
    ("reciprocal", "Reciprocal", np.reciprocal),
)
ACTIVATIONS = {
    "celu": Activation(_elu, _elu_model, ("self", "alpha")),
    "elu": Activation(_elu, _elu_model, ("self", "alpha", "scale", "input_scale")),
    "selu": Activation(_elu, _elu_model),
    "gelu": Activation(_gelu, _gelu_model, ("self", "approximate")),
    "softplus": Activation(_softplus, _softplus_model, ("self", "beta", "threshold")),
    "hardshrink": Activation(
        _hardshrink,
        lambda call, x: np.where(np.abs(x) <= float(call.number("lambd", 0.5)), 0, x),
        ("self", "lambd"),
    ),
    "softshrink": Activation(_softshrink, _softshrink_model, ("self", "lambd")),
    "threshold": Activation(_threshold, _threshold_model, ("self", "threshold", "value")),
    "hardtanh": Activation(_hardtanh, _hardtanh_model, ("self", "min_val", "max_val")),
    "relu6": Activation(_hardtanh, _hardtanh_model),
    "leaky_relu": Activation(_leaky, _leaky_model, ("self", "negative_slope")),
    "logit": Activation(_logit, _logit_model, ("self", "eps")),
    "log1p": Activation(_log1p, _of(np.log1p)),
    "hardsigmoid": Activation(
        lambda build, _, x: build.Div(_clamped(build, build.Add(x, 3.0), 0.0, 6.0), 6.0),
        _of(lambda x: np.clip(x + 3, 0, 6) / 6),
    ),
    "hardswish": Activation(
        lambda build, _, x: build.Div(
            build.Mul(x, _clamped(build, build.Add(x, 3.0), 0.0, 6.0)), 6.0
        ),
        _of(lambda x: x * np.clip(x + 3, 0, 6) / 6),
    ),
    "log_sigmoid": Activation(
        lambda build, _, x: build.Neg(build.Softplus(build.Neg(x))),
        _of(lambda x: -np.logaddexp(0, -x)),
    ),
    "mish": Activation(
        lambda build, _, x: build.Mul(x, build.Tanh(build.Softplus(x))),
        _of(lambda x: x * np.tanh(np.logaddexp(0, x))),
    ),
    "silu": Activation(
        lambda build, _, x: build.Mul(x, build.Sigmoid(x)), _of(lambda x: x / (1 + np.exp(-x)))
    ),
    "exp2": Activation(lambda build, _, x: build.Pow(_held(build, x, 2.0), x), _of(np.exp2)),
    "log2": Activation(lambda build, _, x: build.Mul(build.Log(x), 1 / math.log(2)), _of(np.log2)),
    "log10": Activation(
        lambda build, _, x: build.Mul(build.Log(x), 1 / math.log(10)), _of(np.log10)
    ),
    "rsqrt": Activation(
        lambda build, _, x: build.Reciprocal(build.Sqrt(x)), _of(lambda x: 1 / np.sqrt(x))
    ),
    **{name: Activation(_plain(op), _of(model)) for name, op, model in _PLAIN},
}
ACTIVATIONS["special_logit"] = ACTIVATIONS["logit"]
ACTIVATIONS["special_log1p"] = ACTIVATIONS["log1p"]
ACTIVATIONS["special_exp2"] = ACTIVATIONS["exp2"]


def _clamped(build: Builder, x: Value, low: float, high: float) -> Value:
    if build.opset < 11:
        return build.Clip(x, min=low, max=high)
    return build.Clip(x, min=np.asarray(low, x.dtype), max=np.asarray(high, x.dtype))
