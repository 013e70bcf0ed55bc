"""Replace losses of classes that torch.onnx leaves as ATen nodes by picking with comparisons.

What it does: Writes cross_entropy_loss, nll_loss_nd, nll_loss and multi_margin_loss: what is at
    the class of each target is picked by comparing the classes with it, weighed, and added up.
Why engines need it: Exporters that are told to write ATen nodes, or to train, write these, and no
    engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "nll_loss_nd"> (x, t, None, 0, -100)
After:
    here = Equal (Unsqueeze <axes = [1]> (t), [[0, 1, 2]])           # x: [N, 3], t: [N]
    y = Neg (ReduceSum <axes = [1]> (Where (here, x, 0)))
When it refuses: A rank or a type is unknown, or the number of classes where it is divided by; the
    type is float16, class numbers are smoothed, or the opset is below 11.
Accuracy: Exact up to rounding and the order of sums.
References: pytorch/pytorch aten/src/ATen/native/LossNLL.cpp, LossMultiMargin.cpp
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value, along, counted

from ._arguments import ArrayCall, Call
from ._arithmetic import held, larger
from ._family import Family, Function, ranked
from ._losses import MEAN, joined, joined_array, joined_as
from ._reductions import over

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)


def _scores(call: Call) -> tuple[Value, int]:
    """Return what is given for each class, and the axis of the classes.

    Raises:
        Refuse: Type or rank are unknown, or not floats, or there is no class.
    """
    x, rank = ranked(call, least=1)
    if x.elem_type not in _FLOATS:
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    axis = 0 if rank == 1 else 1
    if x.dim(axis) == 0:
        raise Refuse(f"{x.name} must have classes; it has none")
    return x, axis


def _count(x: Value, axis: int) -> int:
    count = x.dim(axis)
    if not count:
        raise Refuse(f"the number of classes of {x.name} must be known; it is {count}")
    return count


def _here(build: Builder, call: Call, x: Value, axis: int) -> tuple[Value, Value]:
    """Return where each class is that of the target, and which targets count."""
    (target, own), rank = ranked(call, "target"), x.rank or 0
    if target.type_name != "int64" or own != rank - 1:
        raise Refuse(f"{target.name} must be int64 of rank {rank - 1}; it is {target.type_name}")
    given = call.number("ignore_index", -100) if "ignore_index" in call.schema else -100
    ignored = np.array(int(given))
    counts = build.Not(build.Equal(target, build.constant(ignored)))
    lined = build.Unsqueeze(target, axes=[axis])
    equal = build.Equal(lined, along(counted(x, axis, build), axis, rank, build))
    return build.And(equal, build.Unsqueeze(counts, axes=[axis])), counts


def _likelihood(build: Builder, call: Call, scores: Value, axis: int) -> Value:
    rank = scores.rank or 0
    here, counts = _here(build, call, scores, axis)
    zero = held(build, scores, 0)
    weight = call.tensor("weight")
    costs = build.Neg(scores)
    every = build.Cast(counts, to=scores.elem_type)
    if weight is not None:
        lined = along(weight, axis, rank, build)
        costs = build.Mul(costs, lined)
        every = over(build, "ReduceSum", build.Where(here, lined, zero), (axis,), keep=False)
    picked = over(build, "ReduceSum", build.Where(here, costs, zero), (axis,), keep=False)
    if joined_as(call) != MEAN:
        return joined(build, call, picked)
    axes = tuple(range(rank - 1))
    total, whole = (over(build, "ReduceSum", v, axes, keep=False) for v in (picked, every))
    return build.Div(total, whole)


def _nll(build: Builder, call: Call) -> Value:
    x, axis = _scores(call)
    return _likelihood(build, call, x, axis)


def _by_chances(build: Builder, call: Call, scores: Value, axis: int) -> Value:
    target = call.need("target")
    if target.elem_type != scores.elem_type:
        raise Refuse(f"the chances must be {scores.type_name}; they are {target.type_name}")
    smooth = float(call.number("label_smoothing", 0))
    if smooth:
        share = smooth / _count(scores, axis)
        target = build.Add(build.Mul(target, 1 - smooth), held(build, target, share))
    costs = build.Neg(build.Mul(scores, target))
    weight = call.tensor("weight")
    if weight is not None:
        costs = build.Mul(costs, along(weight, axis, scores.rank or 0, build))
    return joined(build, call, over(build, "ReduceSum", costs, (axis,), keep=False))


def _entropy(build: Builder, call: Call) -> Value:
    x, axis = _scores(call)
    target = call.need("target")
    scores = _log_softmax(build, x, axis)
    if target.dtype is not None and target.dtype.kind == "f":
        return _by_chances(build, call, scores, axis)
    smooth = float(call.number("label_smoothing", 0))
    if smooth:
        raise Refuse(f"labels of class numbers must not be smoothed; they are by {smooth}")
    return _likelihood(build, call, scores, axis)


def _log_softmax(build: Builder, x: Value, axis: int) -> Value:
    if build.opset >= 13 or axis == (x.rank or 0) - 1:
        return build.LogSoftmax(x, axis=axis)
    away = build.Sub(x, over(build, "ReduceMax", x, (axis,), keep=True))
    total = over(build, "ReduceSum", build.Exp(away), (axis,), keep=True)
    return build.Sub(away, build.Log(total))


def _margin(build: Builder, call: Call) -> Value:
    x, axis = _scores(call)
    rank, count = x.rank or 0, _count(x, axis)
    if rank > 2:
        raise Refuse(f"the rank of {x.name} must be at most 2; it is {rank}")
    here, _ = _here(build, call, x, axis)
    zero = held(build, x, 0)
    own = over(build, "ReduceSum", build.Where(here, x, zero), (axis,), keep=True)
    away = build.Add(build.Sub(x, own), held(build, x, call.number("margin", 1)))
    cost = larger(build, away, zero)
    cost = build.Mul(cost, cost) if int(call.number("p", 1)) == 2 else cost
    weight = call.tensor("weight")
    if weight is not None:
        lined = along(weight, axis, rank, build)
        picked = build.Where(here, lined, zero)
        cost = build.Mul(cost, over(build, "ReduceSum", picked, (axis,), keep=True))
    others = build.Where(here, zero, cost)
    total = over(build, "ReduceSum", others, (axis,), keep=False)
    return joined(build, call, build.Div(total, float(count)))


def _picked(call: ArrayCall) -> tuple[Array, Array, int, Array]:
    """Return scores, which targets count, the axis of classes and the targets, 0 where ignored."""
    x, target = np.atleast_1d(call.need("self").astype(np.float64)), call.need("target")
    ignored = int(call.number("ignore_index", -100)) if "ignore_index" in call.schema else -100
    counts = target != ignored
    axis = 0 if x.ndim == 1 else 1
    target = target.reshape(()) if x.ndim == 1 else target
    counts = counts.reshape(target.shape)
    safe = np.where(counts, target, 0)
    if (safe < 0).any() or (safe >= x.shape[axis]).any():
        raise Refuse("the targets must be classes; they are not")  # as PyTorch does
    return x, counts, axis, safe


def _likelihood_model(call: ArrayCall, scores: Array) -> Any:
    _, counts, axis, safe = _picked(call)
    weight = call.array("weight")
    each = np.where(counts, 1.0 if weight is None else weight[safe].astype(np.float64), 0.0)
    at = np.take_along_axis(scores, np.expand_dims(safe, axis), axis).squeeze(axis)
    costs = np.where(counts, -at, 0.0) * each
    found = costs.sum() / each.sum() if joined_as(call) == MEAN else joined_array(call, costs)
    return np.asarray(found).astype(call.need("self").dtype)


def _entropy_model(call: ArrayCall) -> Any:
    x, target = call.need("self").astype(np.float64), call.need("target")
    axis = 0 if x.ndim == 1 else 1
    away = x - x.max(axis, keepdims=True)
    scores = away - np.log(np.exp(away).sum(axis, keepdims=True))
    if target.dtype.kind != "f":
        return _likelihood_model(call, scores)
    smooth = float(call.number("label_smoothing", 0))
    wide = target.astype(np.float64) * (1 - smooth) + smooth / x.shape[axis]
    weight = call.array("weight")
    lined = [-1 if at == axis else 1 for at in range(x.ndim)]
    each = 1.0 if weight is None else weight.astype(np.float64).reshape(lined)
    costs = -(scores * wide * each).sum(axis)
    return np.asarray(joined_array(call, costs)).astype(call.need("self").dtype)


def _margin_model(call: ArrayCall) -> Any:
    x, _, axis, target = _picked(call)
    own = np.take_along_axis(x, np.expand_dims(target, axis), axis)
    cost = np.maximum(call.number("margin", 1) - own + x, 0) ** int(call.number("p", 1))
    np.put_along_axis(cost, np.expand_dims(target, axis), 0.0, axis)
    weight = call.array("weight")
    each = 1.0 if weight is None else weight[target].astype(np.float64)
    costs = np.asarray(cost.sum(axis) * each / x.shape[axis])
    return np.asarray(joined_array(call, costs)).astype(call.need("self").dtype)


_TARGETS = ("self", "target", "weight", "reduction", "ignore_index")
_NLL = Function(_TARGETS, _nll, lambda c: _likelihood_model(c, c.need("self").astype(np.float64)))
FAMILY = Family({
    "nll_loss_nd": _NLL,
    "nll_loss": _NLL,
    "cross_entropy_loss": Function(
        (*_TARGETS, "label_smoothing"), _entropy, _entropy_model
    ),
    "multi_margin_loss": Function(
        ("self", "target", "p", "margin", "weight", "reduction"), _margin, _margin_model
    ),
})  # fmt: skip


aten_class_loss = FAMILY.replaced(
    __name__,
    emits=(
        "Add And Cast Div Equal Exp Gather Identity Less Log LogSoftmax Max Mul Neg Not Range "
        "ReduceMax ReduceMean ReduceProd ReduceSum Reshape Shape Slice Squeeze Sub Unsqueeze Where"
    ),
    opset=11,
)
