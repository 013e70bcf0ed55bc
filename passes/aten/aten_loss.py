"""Replace losses of tensors that torch.onnx leaves as ATen nodes by arithmetic.

What it does: Writes binary_cross_entropy (with logits as well), hinge_embedding_loss, kl_div,
    margin_ranking_loss, poisson_nll_loss and soft_margin_loss element by element, and takes the
    mean or the sum.
Why engines need it: The exporter has no symbolic for some of these, and writes others as ATen nodes
    where it is told to; no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "soft_margin_loss"> (x, t, 1)
After:
    z = Neg (Mul (x, t))
    y = ReduceMean (Max (Softplus (z), Log (Exp (z))))
When it refuses: A rank or type is unknown, the type is float16, which PyTorch computes in float32,
    or the opset is below 12, which compares floats.
Accuracy: Exact up to rounding and the order of sums.
References: pytorch/pytorch aten/src/ATen/native/Loss.cpp
"""

import math
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import held, larger
from ._family import Family
from ._losses import Loss

_LEAST_LOG = -100.0  # PyTorch's bound, so that the cost of a certain mistake is finite


def _weighed(build: Builder, costs: Value, weight: Value | None) -> Value:
    return costs if weight is None else build.Mul(costs, weight)


def _entropy(build: Builder, _: Call, v: list[Any]) -> Value:
    x, target, weight = v
    low = held(build, x, _LEAST_LOG)
    rest = build.Sub(held(build, x, 1), x)
    other = build.Sub(held(build, x, 1), target)
    hit = build.Mul(target, larger(build, build.Log(x), low))
    missed = build.Mul(other, larger(build, build.Log(rest), low))
    return _weighed(build, build.Neg(build.Add(hit, missed)), weight)


def _entropy_model(_: ArrayCall, v: list[Any]) -> Any:
    x, target, weight = v
    logs = [np.maximum(np.log(one), _LEAST_LOG) for one in (x, 1 - x)]
    return -(target * logs[0] + (1 - target) * logs[1]) * (1 if weight is None else weight)


def _logits(build: Builder, _: Call, v: list[Any]) -> Value:
    x, target, weight, positive = v
    missed = build.Mul(build.Sub(held(build, x, 1), target), x)
    cost = build.Softplus(build.Neg(x))
    if positive is not None:
        more = build.Mul(build.Sub(positive, held(build, x, 1)), target)
        cost = build.Mul(build.Add(more, held(build, x, 1)), cost)
    return _weighed(build, build.Add(missed, cost), weight)


def _logits_model(_: ArrayCall, v: list[Any]) -> Any:
    x, target, weight, positive = v
    cost = np.logaddexp(0, -x) * (1 if positive is None else (positive - 1) * target + 1)
    return ((1 - target) * x + cost) * (1 if weight is None else weight)


def _hinge(build: Builder, call: Call, v: list[Any]) -> Value:
    x, target = v
    zero = held(build, x, 0)
    away = larger(build, build.Sub(held(build, x, call.number("margin", 1)), x), zero)
    alike, different = (build.Equal(target, held(build, x, side)) for side in (1, -1))
    return build.Add(build.Where(alike, zero, away), build.Where(different, zero, x))


def _hinge_model(call: ArrayCall, v: list[Any]) -> Any:
    x, target = v
    away = np.maximum(x.dtype.type(call.number("margin", 1)) - x, 0)
    return np.where(target != 1, away, 0) + np.where(target != -1, x, 0)


def _divergence(build: Builder, call: Call, v: list[Any]) -> Value:
    x, target = v
    if bool(call.number("log_target", 0)):
        return build.Mul(build.Exp(target), build.Sub(target, x))
    zero = held(build, x, 0)
    # 0 where the target is 0, unless x is not finite.
    own = build.Where(build.Equal(target, zero), zero, build.Mul(target, build.Log(target)))
    return build.Sub(own, build.Mul(target, x))


def _divergence_model(call: ArrayCall, v: list[Any]) -> Any:
    x, target = v
    if bool(call.number("log_target", 0)):
        return np.exp(target) * (target - x)
    return np.where(target == 0, 0.0, target * np.log(target)) - target * x


def _ranking(build: Builder, call: Call, v: list[Any]) -> Value:
    a, b, target = v
    margin = held(build, a, call.number("margin", 0))
    cost = build.Sub(margin, build.Mul(target, build.Sub(a, b)))
    return larger(build, cost, held(build, a, 0))


def _ranking_model(call: ArrayCall, v: list[Any]) -> Any:
    a, b, target = v
    return np.maximum(-target * (a - b) + call.number("margin", 0), 0)


def _poisson(build: Builder, call: Call, v: list[Any]) -> Value:
    x, target = v
    if bool(call.number("log_input", 1)):
        call.irrelevant("eps")  # no logarithm is taken
        cost = build.Sub(build.Exp(x), build.Mul(target, x))
    else:
        log = build.Log(build.Add(x, held(build, x, call.number("eps", 1e-8))))
        cost = build.Sub(x, build.Mul(target, log))
    if not bool(call.number("full", 0)):
        return cost
    one = held(build, x, 1)
    known = build.Less(one, target)
    inside = build.Where(known, target, one)
    log = build.Log(inside)
    further = build.Add(build.Mul(log, 0.5), held(build, x, 0.5 * math.log(2 * math.pi)))
    stirling = build.Add(build.Sub(build.Mul(inside, log), inside), further)
    return build.Add(cost, build.Where(known, stirling, held(build, x, 0)))


def _poisson_model(call: ArrayCall, v: list[Any]) -> Any:
    x, target = v
    if bool(call.number("log_input", 1)):
        call.irrelevant("eps")
        cost = np.exp(x) - target * x
    else:
        cost = x - target * np.log(x + call.number("eps", 1e-8))
    if not bool(call.number("full", 0)):
        return cost
    inside = np.where(target > 1, target, 1)
    stirling = inside * np.log(inside) - inside + 0.5 * np.log(2 * math.pi * inside)
    return cost + np.where(target > 1, stirling, 0)


def _soft(build: Builder, _: Call, v: list[Any]) -> Value:
    away = build.Neg(build.Mul(v[0], v[1]))
    # PyTorch's exponential overflows, and the loss is infinite then; Softplus stays finite.
    return larger(build, build.Softplus(away), build.Log(build.Exp(away)))


def _soft_model(_: ArrayCall, v: list[Any]) -> Any:
    with np.errstate(over="ignore"):
        return np.log1p(np.exp(-v[0] * v[1]))


_PAIR = ("self", "target")
_WEIGHED = (*_PAIR, "weight")
FAMILY = Family({
    name: row.function()
    for name, row in {
        "binary_cross_entropy": Loss((*_WEIGHED, "reduction"), _WEIGHED, _entropy, _entropy_model),
        "binary_cross_entropy_with_logits": Loss(
            (*_WEIGHED, "pos_weight", "reduction"), (*_WEIGHED, "pos_weight"), _logits,
            _logits_model,
        ),
        "hinge_embedding_loss": Loss(
            (*_PAIR, "margin", "reduction"), _PAIR, _hinge, _hinge_model, cancels=True
        ),
        "kl_div": Loss((*_PAIR, "reduction", "log_target"), _PAIR, _divergence, _divergence_model),
        "margin_ranking_loss": Loss(
            ("input1", "input2", "target", "margin", "reduction"), ("input1", "input2", "target"),
            _ranking, _ranking_model,
        ),
        "poisson_nll_loss": Loss(
            ("input", "target", "log_input", "full", "eps", "reduction"), ("input", "target"),
            _poisson, _poisson_model,
        ),
        "soft_margin_loss": Loss(
            (*_PAIR, "reduction"), _PAIR, _soft, _soft_model, cancels=True
        ),
    }.items()
})  # fmt: skip


aten_loss = FAMILY.replaced(
    __name__,
    emits=(
        "Add Cast Equal Exp Gather Identity Less Log Max Mul Neg ReduceMean ReduceProd "
        "ReduceSum Shape Softplus Sub Where"
    ),
    opset=12,
    why=", which compares floats",
)
