"""Take what a Slice walks over backwards by a list of indices.

What it does: Replaces a Slice of constant bounds, some of whose steps are negative, by a Gather
    along each axis of them, and a Slice of the other axes. Along an axis of open size the indices
    are computed, from the last element to the first.
Why engines need it: OpenCV 4 walks forwards only; some parsers refuse negative steps.
Before: y = Slice (x, [-1], [-9223372036854775808], [1], [-1])         # x: [2, 3]
After: y = Gather <axis = 1> (x, [2, 1, 0])
When it refuses: Bounds are computed, no step is negative, the size along such an axis is not known
    and not all of it is walked over, or the list has no elements or more than 2^20.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__Slice.html; measured on OpenCV 4.8.1 and 4.10.0
"""

import numpy as np

from graphfix.authoring import FAR, Builder, NodeView, Refuse, Value, need_rank, rewrite, size_of

_MOST = 1 << 20


@rewrite(
    "Slice",
    removes="form:Slice.negative-steps",
    emits="Gather Range Shape Slice Sub",
    claims="nan inf",
)
def slice_backwards_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather along the axes of negative steps, see the module."""
    x = node.need(0)
    rank = need_rank(x)
    if node.input(1) is None:
        raise Refuse("a step must be negative; this opset has no steps")
    starts, ends = (
        _numbers(node, place, name, build) for place, name in ((1, "starts"), (2, "ends"))
    )
    axes = _numbers(node, 3, "axes", build) or list(range(len(starts)))
    steps = _numbers(node, 4, "steps", build) or [1] * len(starts)
    if all(step > 0 for step in steps):
        raise Refuse("a step must be negative; none is")
    forwards: list[tuple[int, int, int, int]] = []
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = given % rank
        if step > 0:
            forwards.append((start, end, axis, step))
            continue
        size = x.dim(axis)
        if size is None:
            if (start != -1 and start < FAR) or end > -FAR:
                raise Refuse(
                    f"the size of axis {axis} must be known where not all elements are taken from"
                    f" the last to the first; they are from {start} to {end}"
                )
            last = build.Sub(size_of(x, axis, build), np.int64(1))
            indices = build.Range(last, np.int64(-1), np.int64(step))
            x = build.Gather(x, indices, axis=axis)
            continue
        places = list(range(size))[slice(*_bounds(start, end, size), step)]
        if not 0 < len(places) <= _MOST:
            raise Refuse(f"there must be 1 to {_MOST} elements to take; there are {len(places)}")
        x = build.Gather(x, np.array(places, np.int64), axis=axis)
    if not forwards:
        return x
    columns = [list(column) for column in zip(*forwards, strict=True)]
    return build.Slice(x, starts=columns[0], ends=columns[1], axes=columns[2], steps=columns[3])


def _numbers(node: NodeView, place: int, name: str, build: Builder) -> list[int]:
    value = node.input(place)
    if value is None:
        return []
    return [int(number) for number in build.need_const(value, f"the {name}").reshape(-1)]


def _bounds(start: int, end: int, size: int) -> tuple[int, int | None]:
    """Return first and last bound as Python has them, for a negative step, as ONNX clamps them."""
    first = min(max(start + size if start < 0 else start, 0), size - 1)
    last = min(max(end + size if end < 0 else end, -1), size - 1)
    return first, None if last < 0 else last
