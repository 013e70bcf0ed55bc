"""Replace the multivariate log-gamma function by a sum of log-gammas.

What it does: Adds lgamma(x), lgamma(x - 1/2), ... lgamma(x - (p - 1)/2) and p * (p - 1) / 4 *
    log(pi), each written as aten-lgamma writes it.
Why engines need it: ONNX has no such operator, and PyTorch's exporter does not translate it.
Before: y = org.pytorch.aten.ATen <operator = "mvlgamma"> (x, 2)
After: y = Add (Add (lgamma (x), lgamma (Sub (x, 0.5))), 0.5723649)
When it refuses: The type is unknown or float64 or bfloat16 (the polynomials have no more digits),
    the opset is below 9, which brought Where, or p is computed at run time or more than 8.
Accuracy: Approximate, for every float32 number from 0 on: measured in onnxruntime, the error is at
    most 2e-6 of the largest of the terms. float16 is computed in float32.
References: pytorch/pytorch aten/src/ATen/native/UnaryOps.cpp (mvlgamma)
"""

import math
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function
from ._gamma import lgamma, lgamma_of
from ._special import floats_of, in_floats, like_self

NOTE = "float32: error at most 2e-6 of the largest term"
_MOST = 8


def _terms(call: Call | ArrayCall) -> int:
    count = int(call.number("p"))
    if not 1 <= count <= _MOST:
        raise Refuse(f"p must be from 1 to {_MOST}; it is {count}")
    return count


def _constant(count: int) -> float:
    return count * (count - 1) / 4 * math.log(math.pi)


def _write(build: Builder, call: Call) -> Value:
    count = _terms(call)
    x = floats_of(build, call.need("self"), "polynomials")
    half = x.elem_type == TensorProto.FLOAT16
    x = build.Cast(x, to=TensorProto.FLOAT) if half else x
    total = lgamma(build, x)
    for at in range(1, count):
        total = build.Add(total, lgamma(build, build.Sub(x, at / 2)))
    total = build.Add(total, _constant(count)) if count > 1 else total
    return build.Cast(total, to=TensorProto.FLOAT16) if half else total


def _model(call: ArrayCall) -> Any:
    x, count = in_floats(call.need("self")), _terms(call)
    terms = (lgamma_of((x - x.dtype.type(at / 2)).astype(np.float64)) for at in range(count))
    return (np.sum([*terms], axis=0) + _constant(count)).astype(x.dtype)


_SUM = Function(("self", "p"), _write, _model, NOTE, infer=like_self)
FAMILY = Family({"mvlgamma": _SUM, "special_multigammaln": _SUM})


aten_mvlgamma = FAMILY.replaced(
    __name__, emits="Abs Add Cast Clip Div Floor Less Log Mul Sin Sub Where"
)
