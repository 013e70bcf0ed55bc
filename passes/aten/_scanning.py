"""A running maximum, minimum or product along an axis."""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Array, Builder, Value


def scanned(build: Builder, op: str, x: Value, axis: int) -> Value:
    """Combine each element with all before it.

    Args:
        build: The builder.
        op: ``Max``, ``Min`` or ``Mul``.
        x: Numbers of rank 1 or more.
        axis: The axis, not negative.
    """
    size = x.dim(axis)
    if size is None:
        return _walked(build, op, x, axis)
    reach = 1
    while reach < size:
        head = build.Slice(x, starts=[0], ends=[reach], axes=[axis])
        later = build.Slice(x, starts=[reach], ends=[size], axes=[axis])
        earlier = build.Slice(x, starts=[0], ends=[size - reach], axes=[axis])
        x = build.Concat(head, build.multi(op, later, earlier)[0], axis=axis)
        reach *= 2
    return x


def _neutral(op: str, dtype: np.dtype[np.generic]) -> Array:
    if op == "Mul":
        return np.ones((), dtype)
    low = op == "Max"
    if dtype.kind == "f":
        return np.array(-np.inf if low else np.inf, dtype)
    limits = np.iinfo(str(dtype))
    return np.array(limits.min if low else limits.max, dtype)


def _walked(build: Builder, op: str, x: Value, axis: int) -> Value:
    """Walk the axis, moved to the front, with one element before it that changes nothing.

    That is the state that the walk begins with, and keeps it from having no step: Scan of
    onnxruntime (1.32) fails on an axis of no elements, and ends the process where any axis has
    none and the one that is walked is not the first.
    """
    build.need_opset(9, ", which has Scan")
    rank, dtype = x.rank, x.dtype
    assert rank is not None
    assert dtype is not None
    order = [axis, *(a for a in range(rank) if a != axis)]
    if axis:
        x = build.Transpose(x, perm=order)
    shape = (x.shape or ())[1:]
    state = build.constant(_neutral(op, dtype))
    if rank > 1:
        others = np.arange(1, rank)
        state = build.Expand(state, build.Gather(build.Shape(x), others, axis=0))

    def step(inner: Builder, *given: Value) -> Sequence[Value]:
        total = inner.multi(op, given[0], given[1])[0]
        return inner.Identity(total), inner.Identity(total)

    longer = build.Concat(build.Unsqueeze(state, axes=[0]), x, axis=0)
    body = build.body([("total", x.elem_type, shape), ("element", x.elem_type, shape)], step)
    walked = build.multi("Scan", state, longer, outputs=2, body=body, num_scan_inputs=1)[1]
    found = build.Slice(walked, starts=[1], ends=[np.iinfo(np.int64).max], axes=[0])
    return build.Transpose(found, perm=np.argsort(order).tolist()) if axis else found
