"""Comparing indices computed at run time with every position: which update goes where."""

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value
from graphfix.authoring import combined as combined_in_pairs

from ._indices import combined

LIMIT = 1 << 24
UPDATES = 1 << 10  # as many are reckoned with where their number is not known
EMITS = (
    "Add ArgMax Cast Concat Equal Gather GatherElements Less Max Min Mul ReduceMax ReduceMin "
    "ReduceProd ReduceSum Slice Squeeze TopK Unsqueeze Where"
)
_PAIRS = {"add": "Add", "mul": "Mul"}
_REDUCERS = {"add": "ReduceSum", "mul": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}


def counted_from_start(build: Builder, index: Value, size: int | Value) -> Value:
    """Return indices with the negative ones counted from the end of an axis."""
    return build.Where(build.Less(index, 0), build.Add(index, size), index)


def check_size(*sizes: int) -> None:
    """Look at how many pairs of update and position there are.

    Raises:
        Refuse: More than `LIMIT`.
    """
    pairs = int(np.prod(sizes, dtype=np.int64))
    if pairs > LIMIT:
        raise Refuse(
            f"at most {LIMIT} pairs of update and position must be compared; it would be {pairs}"
        )


def last_match(build: Builder, hits: Value, count: int, axis: int) -> Value:
    """Return the number of the last update that hits each position; 0 where none does.

    Args:
        build: The builder.
        hits: Bool, the updates along `axis`.
        count: How many updates there are.
        axis: The axis of the updates, which goes.
    """
    shape = [1] * (hits.rank or 1)
    shape[axis] = count
    order = np.arange(1, count + 1, dtype=np.float32).reshape(shape)
    numbers = build.Where(hits, build.constant(order), np.float32(0))
    return build.ArgMax(numbers, axis=axis, keepdims=0)


def reduced(
    build: Builder, reduction: str, data: Value, updates: Value, hits: Value, axis: int
) -> Value:
    """Combine the data with all updates that hit each position, which lie along `axis`.

    Raises:
        Refuse: The reduction or the dtype is not one of numbers.
    """
    if data.dtype is None or reduction not in _REDUCERS or data.dtype.kind not in "if":
        raise Refuse(
            f"the reduction must be {', '.join(_REDUCERS)} of integers or floats; it is "
            f"{reduction!r} of dtype {data.type_name}"
        )
    neutral = _neutral(reduction, data.dtype)
    chosen = build.Where(hits, updates, neutral)
    if chosen.dim(axis) is None and reduction in ("max", "min"):
        # There may be no update at all, and of nothing there is no extreme.
        both = build.Concat(build.Unsqueeze(data, axes=[axis]), chosen, axis=axis)
        return _along(build, reduction, both, axis)
    return combined(build, reduction, data, _along(build, reduction, chosen, axis))


def _along(build: Builder, reduction: str, chosen: Value, axis: int) -> Value:
    if reduction in ("max", "min") and build.opset >= 18 and chosen.type_name == "float32":
        # From opset 18 on ReduceMax takes its axes as an input, which not every engine reads.
        largest = int(reduction == "max")
        best = build.multi(
            "TopK", chosen, np.array([1], np.int64), outputs=2, axis=axis, largest=largest
        )[0]
        return build.Squeeze(best, axes=[axis])
    count = chosen.dim(axis)
    if chosen.dtype is not None and chosen.dtype.kind == "i" and reduction in _PAIRS:
        if not count:
            raise Refuse(f"the number of {chosen.type_name} that are combined must be known")
        return combined_in_pairs(_PAIRS[reduction], chosen, axis, count, build)
    return build.multi(_REDUCERS[reduction], chosen, outputs=1, axes=[axis], keepdims=0)[0]


def _neutral(reduction: str, dtype: np.dtype[np.generic]) -> Array:
    if reduction in ("add", "mul"):
        return np.asarray(int(reduction == "mul"), dtype=dtype)
    lowest = reduction == "max"
    if dtype.kind == "f":
        return np.asarray(-np.inf if lowest else np.inf, dtype=dtype)
    # int64 is computed as int32 by most engines: its limits are those that both have.
    limits = np.iinfo(np.int32)
    if dtype != np.dtype(np.int32):
        raise Refuse(f"the limits of the dtype must fit every engine; it is {dtype}")
    return np.asarray(limits.min if lowest else limits.max, dtype=dtype)
