"""Let NonMaxSuppression select as many boxes as a Slice after it keeps.

What it does: Where only the first so many rows of the result are kept, of one image and one class,
    that many are selected, and the Slice goes. Casts, and what picks or drops other axes, may be in
    between.
Why engines need it: tract 0.23 does not limit the end of a Slice to a size that it finds while it
    runs: "Invalid range 0..300". Exporters of detectors write so: all boxes are selected, and 300
    of them kept.
Before:
    a = NonMaxSuppression (boxes, scores, 9223372036854775807, 0.5)    # boxes: [1, 100, 4]
    b = Gather <axis = 1> (a, {2})
    y = Slice (b, {0}, {300}, {0})
After:
    a = NonMaxSuppression (boxes, scores, 300, 0.5)
    y = Gather <axis = 1> (a, {2})
When it refuses: There are several images or classes, or how many is not known; another part is kept
    than the first rows, or it is computed; the count is; the rows come of another operator.
Accuracy: Exact: boxes are selected by falling score until there are as many.
References: onnxruntime/core/providers/cpu/object_detection/non_max_suppression.cc of
    microsoft/onnxruntime; ultralytics/utils/nms.py of ultralytics/ultralytics (max_det);
    measured on tract 0.23.9
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    axes_of,
    need_rank,
    respell,
    rewrite,
)

_BOXES, _SCORES, _LIMIT = range(3)


@rewrite(
    "Slice",
    removes="form:Slice.beyond",
    emits="Cast Gather Identity NonMaxSuppression Slice Squeeze Transpose Unsqueeze",
    since=10,
)
def nms_slice_to_count(node: NodeView, build: Builder) -> Value:
    """Move the number of rows to the selection, see the module."""
    x = node.need(0)
    starts, ends, axes, steps = (
        axes_of(node.input(place), what, build)
        for place, what in ((1, "starts"), (2, "ends"), (3, "axes"), (4, "steps"))
    )
    if starts != [0] or steps not in (None, [1]) or ends is None or len(ends) != 1 or ends[0] < 1:
        raise Refuse("the first rows of one axis must be kept; others are")
    axis = 0 if axes is None else axes[0] % need_rank(x)
    return _with_at_most(x, axis, ends[0], build)


def _with_at_most(value: Value, axis: int, most: int, build: Builder) -> Value:
    """Return a value again, made of a selection of at most so many boxes along an axis of it."""
    maker = value.producer
    op = "" if maker is None or maker.domain else maker.op
    if maker is not None and op == "NonMaxSuppression":
        return _selected(maker, axis, most, build)
    if maker is None or op not in _SOURCES:
        raise Refuse(f"the rows must come of NonMaxSuppression; {value.name} does not")
    inner = _with_at_most(maker.need(0), _SOURCES[op](maker, axis, build), most, build)
    return _again(maker, build, **{"input" if op in _SAME else "data": inner})


def _again(node: NodeView, build: Builder, **changes: Any) -> Value:
    made = respell(node, build, **changes)[0]
    if made is None:
        raise Refuse(f"{node.op} must have a result; it has none")
    return made


def _selected(node: NodeView, axis: int, most: int, build: Builder) -> Value:
    images, classes = node.need(_SCORES).dim(0), node.need(_SCORES).dim(1)
    if (images, classes) != (1, 1) or axis:
        raise Refuse(f"rows of one image and class must be kept; there are {images} and {classes}")
    limit = axes_of(node.input(_LIMIT), "max_output_boxes_per_class", build)
    if limit is None or len(limit) != 1 or limit[0] < 1:
        raise Refuse("some box must be selected; none ever is")
    count = build.constant(np.array([min(most, *limit)], np.int64))
    return _again(node, build, max_output_boxes_per_class=count)


def _of_gather(node: NodeView, axis: int, build: Builder) -> int:
    along = int(node.attr("axis", 0)) % need_rank(node.need(0))
    more = build.need_const(node.need(1), "what Gather picks").ndim
    if along <= axis < along + more:
        raise Refuse("Gather must pick along another axis than the rows; it picks rows")
    return axis if axis < along else axis - more + 1


def _of_squeeze(node: NodeView, axis: int, build: Builder) -> int:
    rank = need_rank(node.need(0))
    gone = {one % rank for one in _axes(node, build)}
    return [place for place in range(rank) if place not in gone][axis]


def _of_unsqueeze(node: NodeView, axis: int, build: Builder) -> int:
    axes = _axes(node, build)
    rank = need_rank(node.need(0)) + len(axes)
    added = {one % rank for one in axes}
    if axis in added:
        raise Refuse("the axis must be one of the rows; Unsqueeze adds it")
    return axis - sum(one < axis for one in added)


def _of_slice(node: NodeView, axis: int, build: Builder) -> int:
    rank = need_rank(node.need(0))
    if axis in {one % rank for one in _axes(node, build, 3)}:
        raise Refuse("one Slice must keep rows; another one does before it")
    return axis


def _of_same(node: NodeView, axis: int, build: Builder) -> int:
    return axis


def _of_transpose(node: NodeView, axis: int, build: Builder) -> int:
    order: list[int] = list(node.attr("perm") or range(need_rank(node.need(0)) - 1, -1, -1))
    return order[axis]


def _axes(node: NodeView, build: Builder, place: int = 1) -> list[int]:
    given = axes_of(node.input(place), "axes", build)
    written = node.attr("axes") if given is None else given
    if written is None:
        raise Refuse(f"the axes of {node.op} must be given; they are left out")
    return [int(axis) for axis in written]


_SAME = ("Cast", "Identity")
# Operator -> which axis of its data is an axis of its output.
_SOURCES: dict[str, Callable[[NodeView, int, Builder], int]] = {
    **dict.fromkeys(_SAME, _of_same),
    "Gather": _of_gather,
    "Slice": _of_slice,
    "Squeeze": _of_squeeze,
    "Transpose": _of_transpose,
    "Unsqueeze": _of_unsqueeze,
}
