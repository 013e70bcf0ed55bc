"""Take one part of an axis by a Split, where an engine joins those that take all of them.

What it does: Parts the axis before, at and after the index, and hands on the part at it; the
    axis is dropped afterwards, by the Squeeze that is there, or by one of its own for a Gather.
Why engines need it: pnnx joins Slices or Gathers that take every part of an axis to one
    torch.unbind, and lays out what that reads with the batch as an axis, where it is not the first;
    ncnn has no layer for the five axes that come of it. A Split joins with none.
Before: a = Slice (x, {1}, {2}, {0})               # x: float[3,2,4], all three parts are taken
After: _, a, _ = Split <axis = 0> (x, {1, 1, 1})
When it refuses: The size of the axis or the index is not known; a Gather has other indices than a
    single number; a Slice takes other parts than a single one of one axis.
Accuracy: Exact.
References: tools/pnnx/src/pass_level5/fuse_select_to_unbind.cpp of Tencent/ncnn;
    measured on ncnn 1.0.20261020 and pnnx 20261020
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, needed, rewrite


@rewrite("Slice", removes="form:Slice.unbind", emits="Split", since=10, claims="nan inf")
def slice_to_split(node: NodeView, build: Builder) -> Value:
    """Take the part, see the module."""
    x = node.need(0)
    start, end = (_number(node, build, place, what) for place, what in ((1, "start"), (2, "end")))
    if node.input(3) is None:
        raise Refuse("the axis must be given; it is left out")
    axis = _number(node, build, 3, "axis") % need_rank(x)
    step = 1 if node.input(4) is None else _number(node, build, 4, "step")
    size = needed(x.dim(axis), f"the size of axis {axis} must be known")
    start, end = (place + size if place < 0 else place for place in (start, end))
    if step != 1 or min(end, size) - start != 1:
        raise Refuse("a single part must be taken; it is another number of them")
    return _part(x, axis, start, size, build)


@rewrite("Gather", removes="form:Gather.unbind", emits="Split Squeeze", claims="nan inf")
def gather_to_split(node: NodeView, build: Builder) -> Value:
    """Take the part and drop the axis, see the module."""
    x, index = node.need(0), build.need_const(node.need(1), "the index")
    axis = int(node.attr("axis", 0)) % need_rank(x)
    size = needed(x.dim(axis), f"the size of axis {axis} must be known")
    if index.ndim:
        raise Refuse(f"the index must be a single number; it has {index.ndim} axes")
    if not -size <= int(index) < size:
        raise Refuse(f"the index must be one of the {size} parts; it is {int(index)}")
    return build.Squeeze(_part(x, axis, int(index) % size, size, build), axes=[axis])


def _number(node: NodeView, build: Builder, place: int, what: str) -> int:
    array = build.need_const(node.need(place), f"the {what}")
    if array.size != 1:
        raise Refuse(f"there must be one {what}; there are {array.size}")
    return int(array.reshape(()))


def _part(x: Value, axis: int, index: int, size: int, build: Builder) -> Value:
    if size == 1:
        raise Refuse("the axis must have several parts; it has one")
    sizes = [index, 1, size - index - 1]
    parts = [part for part in sizes if part]
    at = 1 if index else 0
    return build.multi("Split", x, outputs=len(parts), axis=axis, split=parts)[at]
