"""Replace distances of vectors, and losses of distances, that are left as ATen nodes.

What it does: Writes pairwise_distance, dist, pdist, triplet_margin_loss and cosine_embedding_loss
    with differences, products and norms; the pairs of pdist are picked by constant indices, or by
    those of NonZero where the number of rows is open. renorm scales what has a larger norm than it
    may.
Why engines need it: The exporter has no symbolic for some of these, and writes others as ATen nodes
    where it is told to; no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "pairwise_distance"> (a, b, 2, 1e-6, False)
After: y = ReduceL2 <axes = [-1]> (Add (Sub (a, b), 1e-6))
When it refuses: A rank or type is unknown, the type is float16, the rows of pdist give more than
    2^20 pairs, or the opset is below 12.
Accuracy: Exact up to rounding and the order of sums.
References: pytorch/pytorch aten/src/ATen/native/Distance.cpp (pairwise_distance, pdist), Loss.cpp
    (triplet_margin_loss, cosine_embedding_loss), ReduceOps.cpp (dist)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value, counted

from ._arguments import ArrayCall, Call
from ._arithmetic import held, larger, smaller
from ._family import Family, Function, ranked
from ._losses import Loss, float_dtype, float_operands, joined, joined_array
from ._norms import norm_of, norm_over
from ._promoting import common_dtype, of_one_type
from ._reductions import over

_MOST_PAIRS = 1 << 20
_THREE = ("anchor", "positive", "negative")
_EPSILON = 1e-12  # of cosine_embedding_loss
_LEAST = 1e-7  # of renorm


def _apart(build: Builder, a: Value, b: Value, call: Call, *, keep: bool = False) -> Value:
    """Return the norm of a - b + eps along the last axis; integers are subtracted as such."""
    (away,) = float_operands(build, [build.Sub(a, b)])
    away = build.Add(away, held(build, away, call.number("eps", 1e-6)))
    if not away.rank:
        raise Refuse("the ranks must be known, and at least 1")
    return norm_over(build, away, (away.rank - 1,), float(call.number("p", 2)), keep=keep)


def _apart_of(a: Any, b: Any, call: ArrayCall, *, keep: bool = False) -> Any:
    away = np.asarray(a - b).astype(np.float64) + call.number("eps", 1e-6)
    return norm_of(away, (away.ndim - 1,), float(call.number("p", 2)), keep=keep)


def _of_one_type(build: Builder, given: Sequence[Value]) -> list[Any]:
    return [*of_one_type(build, given, common_dtype(given))]


def _keeps(call: Call | ArrayCall) -> bool:
    return bool(call.number("keepdim", 0))


def _pairwise(build: Builder, call: Call) -> Value:
    a, b = _of_one_type(build, [call.need("x1"), call.need("x2")])
    return _apart(build, a, b, call, keep=_keeps(call))


def _pairwise_model(call: ArrayCall) -> Any:
    a, b = call.need("x1"), call.need("x2")
    return _apart_of(a, b, call, keep=_keeps(call)).astype(float_dtype([a, b]))


def _dist(build: Builder, call: Call) -> Value:
    a, b = float_operands(build, [call.need("self"), call.need("other")])
    away = build.Sub(a, b)
    if away.rank is None:
        raise Refuse("the ranks of the operands must be known")
    axes = tuple(range(away.rank))
    return norm_over(build, away, axes, float(call.number("p", 2)), keep=False)


def _dist_model(call: ArrayCall) -> Any:
    a, b = call.need("self"), call.need("other")
    away = a.astype(np.float64) - b.astype(np.float64)
    found = norm_of(away, tuple(range(away.ndim)), float(call.number("p", 2)), keep=False)
    return np.asarray(found).astype(float_dtype([a, b]))


def _rows(call: Call) -> tuple[Value, int | None]:
    """Return a matrix and how many rows it has; None where that is open."""
    x, rank = ranked(call)
    if rank != 2:
        raise Refuse(f"{x.name} must be a matrix; it has {rank} axes")
    count = x.dim(0)
    if count is not None and count * (count - 1) // 2 > _MOST_PAIRS:
        raise Refuse(f"there must be at most {_MOST_PAIRS} pairs of rows; there are {count} rows")
    return x, count


def _pairs(build: Builder, x: Value, count: int | None) -> tuple[Value, Value]:
    """Return the first and the second row of each pair."""
    if count is not None:
        known = np.triu_indices(count, 1)
        return build.constant(known[0]), build.constant(known[1])
    numbers = counted(x, 0, build)
    both = build.NonZero(build.Less(build.Unsqueeze(numbers, axes=[1]), numbers))
    first, second = (build.Slice(both, starts=[a], ends=[a + 1], axes=[0]) for a in (0, 1))
    return build.Squeeze(first, axes=[0]), build.Squeeze(second, axes=[0])


def _pdist(build: Builder, call: Call) -> Value:
    x, count = _rows(call)
    (x,) = float_operands(build, [x])
    if count in (0, 1):
        call.irrelevant("p")  # there are no pairs
        return build.constant(np.zeros(0, x.dtype))
    first, second = _pairs(build, x, count)
    away = build.Sub(build.Gather(x, first, axis=0), build.Gather(x, second, axis=0))
    return norm_over(build, away, (1,), float(call.number("p", 2)), keep=False)


def _pdist_model(call: ArrayCall) -> Any:
    x = call.need("self")
    first, second = np.triu_indices(len(x), 1)
    away = x[first].astype(np.float64) - x[second]
    return norm_of(away, (1,), float(call.number("p", 2)), keep=False).astype(x.dtype)


def _triplet(build: Builder, call: Call) -> Value:
    anchor, positive, negative = _of_one_type(build, [call.need(name) for name in _THREE])
    near, far = (_apart(build, anchor, other, call) for other in (positive, negative))
    if bool(call.number("swap", 0)):
        far = smaller(build, far, _apart(build, positive, negative, call))
    cost = build.Add(build.Sub(near, far), held(build, near, call.number("margin", 1)))
    return joined(build, call, larger(build, cost, held(build, cost, 0)))


def _triplet_model(call: ArrayCall) -> Any:
    anchor, positive, negative = given = [call.need(name) for name in _THREE]
    near, far = (_apart_of(anchor, other, call) for other in (positive, negative))
    if bool(call.number("swap", 0)):
        far = np.minimum(far, _apart_of(positive, negative, call))
    dtype = float_dtype(given)
    cost = near.astype(dtype) - far.astype(dtype) + dtype.type(call.number("margin", 1))
    return np.asarray(joined_array(call, np.maximum(cost, 0))).astype(dtype)


def _alike(build: Builder, call: Call, v: list[Any]) -> Value:
    a, b, target = v
    if target.rank not in (0, 1) or a.rank != target.rank + 1:
        raise Refuse("the target must have one value for each vector")
    axes = (target.rank,)
    epsilon = held(build, a, _EPSILON)
    both = over(build, "ReduceSum", build.Mul(a, b), axes, keep=False)
    sides = [
        build.Add(over(build, "ReduceSum", build.Mul(x, x), axes, keep=False), epsilon)
        for x in (a, b)
    ]
    cosine = build.Div(both, build.Sqrt(build.Mul(*sides)))
    zero, one = held(build, a, 0), held(build, a, 1)
    apart = larger(build, build.Sub(cosine, held(build, a, call.number("margin", 0))), zero)
    alike, different = (build.Equal(target, held(build, a, side)) for side in (1, -1))
    chosen = build.Where(alike, build.Sub(one, cosine), zero)
    return build.Add(chosen, build.Where(different, apart, zero))


def _alike_model(call: ArrayCall, v: list[Any]) -> Any:
    a, b, target = v
    sides = [np.sum(x * x, target.ndim) + _EPSILON for x in (a, b)]
    cosine = np.sum(a * b, target.ndim) / np.sqrt(sides[0] * sides[1])
    apart = np.maximum(cosine - call.number("margin", 0), 0)
    return np.where(target == 1, 1 - cosine, 0) + np.where(target == -1, apart, 0)


def _renorm(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, least=2)
    axes = _others(call, rank)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    most = held(build, x, call.number("maxnorm"))
    size = norm_over(build, x, axes, float(call.number("p", 2)), keep=True)
    share = build.Div(most, build.Add(size, held(build, x, _LEAST)))
    return build.Mul(x, build.Where(build.Less(most, size), share, held(build, x, 1)))


def _others(call: Call | ArrayCall, rank: int) -> tuple[int, ...]:
    own = int(call.number("dim")) % rank
    return tuple(axis for axis in range(rank) if axis != own)


def _renorm_model(call: ArrayCall) -> Any:
    x, most = call.need("self"), float(call.number("maxnorm"))
    size = norm_of(x, _others(call, x.ndim), float(call.number("p", 2)), keep=True)
    return (x * np.where(size > most, most / (size + _LEAST), 1)).astype(x.dtype)


_INPUTS = ("input1", "input2", "target")
FAMILY = Family({
    "pairwise_distance": Function(
        ("x1", "x2", "p", "eps", "keepdim"), _pairwise, _pairwise_model
    ),
    "dist": Function(("self", "other", "p"), _dist, _dist_model),
    "renorm": Function(("self", "p", "dim", "maxnorm"), _renorm, _renorm_model),
    "pdist": Function(("self", "p"), _pdist, _pdist_model),
    "triplet_margin_loss": Function(
        (*_THREE, "margin", "p", "eps", "swap", "reduction"), _triplet, _triplet_model,
    ),
    "cosine_embedding_loss": Loss(
        (*_INPUTS, "margin", "reduction"), _INPUTS, _alike, _alike_model,
        cancels=True,
    ).function(),
})  # fmt: skip


aten_distance = FAMILY.replaced(
    __name__,
    emits=(
        "Abs Add Cast Div Equal Gather Identity Less Max Min Mul NonZero Pow Range ReduceL1 "
        "ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Shape Slice Sqrt Squeeze Sub "
        "Unsqueeze Where"
    ),
    opset=12,
    why=", which compares floats",
)
