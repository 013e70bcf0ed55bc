"""Rules of operators that move elements, and that reduce over axes."""

from __future__ import annotations

from math import prod

from graphfix.edits.by_item.arithmetic import Rule
from graphfix.edits.by_item.known import FIXED, WHOLE, Known, Operation
from graphfix.edits.by_item.linear import Linear, UndecidedError, product


def _axis_of(operation: Operation, *others: int) -> int:
    """Return the axis of the items of the first input; the rest is fixed, but for some."""
    operation.need_fixed_but(0, *others)
    axis = operation.known(0).axis
    if axis is None:
        raise UndecidedError("cuts or picks by a number that depends on the items or the size")
    return axis


def _all(operation: Operation, axis: int) -> list[Known | None]:
    return [Known(axis)] * len(operation.node.output)


def transpose(operation: Operation) -> list[Known | None]:
    """Transpose."""
    axis, rank = _axis_of(operation), operation.rank(0)
    perm = list(operation.attribute("perm", range(rank - 1, -1, -1)))
    return [Known(perm.index(axis))]


def squeeze(operation: Operation) -> list[Known | None]:
    """Squeeze of axes that are named."""
    axis, rank = _axis_of(operation), operation.rank(0)
    axes = operation.axes(1, rank, 13)
    if axes is None:
        raise UndecidedError("drops every axis of one, which are others where there is one item")
    if axis in axes:
        raise UndecidedError("drops the axis of the items")
    return [Known(axis - sum(each < axis for each in axes))]


def unsqueeze(operation: Operation) -> list[Known | None]:
    """Unsqueeze."""
    axis = _axis_of(operation)
    count = len(operation.integers(1) if operation.opset >= 13 else operation.attribute("axes", ()))
    axes = operation.axes(1, operation.rank(0) + count, 13) or set[int]()
    kept = [each for each in range(operation.rank(0) + count) if each not in axes]
    return [Known(kept[axis])]


def flatten(operation: Operation) -> list[Known | None]:
    """Flatten: the axis of items leads one of the two groups."""
    axis, rank = _axis_of(operation), operation.rank(0)
    at = int(operation.attribute("axis", 1))
    at = at + rank if at < 0 else at
    ahead = operation.sizes(0)[:axis] if axis < at else operation.sizes(0)[at:axis]
    if any(size.base != 1 for size in ahead):
        raise UndecidedError("puts items between each other")
    return [Known(0 if axis < at else 1)]


def reshape(operation: Operation) -> list[Known | None]:
    """Reshape that leaves all of an item together."""
    axis = _axis_of(operation, 1)
    if operation.opset < 5:
        raise UndecidedError("reshapes by rules of an old opset")
    given = operation.sizes(0)
    target = operation.linear(1)
    if not operation.attribute("allowzero", 0):
        target = [
            given[place] if each.known() == 0 and place < len(given) else each
            for place, each in enumerate(target)
        ]
    open_places = [place for place, each in enumerate(target) if each.known() == -1]
    moving = [place for place, each in enumerate(target) if not each.fixed]
    if len(open_places) > 1 or len(moving) > 1:
        raise UndecidedError("reshapes by sizes that are not followed")
    if axis == 0 and (
        (moving == [0] and target[0] == given[0]) or (not moving and open_places == [0])
    ):
        return [Known(0)]  # what is after the items is theirs, whatever the sizes there are
    if any(each.base is None or (each.fixed and each.base == 0) for each in (*target, *given)):
        raise UndecidedError("reshapes by sizes that are not known")
    total = product(given)
    if open_places:
        rest = product(tuple(each for at, each in enumerate(target) if at not in open_places))
        target[open_places[0]] = total.divided(rest)
        moving = [place for place, each in enumerate(target) if not each.fixed]
    if len(moving) != 1 or target[moving[0]].base != 0:
        raise UndecidedError("does not take as many as there are items")
    if product(tuple(target)) != total:
        raise UndecidedError("takes other sizes than there are")
    (place,) = moving
    if _fixed(target[:place]) != _fixed(given[:axis]):
        raise UndecidedError("puts items between each other")
    return [Known(place)]


def _fixed(sizes: list[Linear] | tuple[Linear, ...]) -> int:
    return prod(size.base or 0 for size in sizes)


def expand(operation: Operation) -> list[Known | None]:
    """Expand: of items along other axes, of what is fixed to as many as there are items."""
    rank, axis = operation.rank(0), operation.known(0).axis
    if axis is None:
        operation.need_fixed(0)
    target = operation.linear(1)
    most = max(rank, len(target))
    moving = {place + most - len(target) for place, each in enumerate(target) if not each.fixed}
    at = None if axis is None else axis + most - rank
    if at is None:
        if not moving:
            return [FIXED]
        if len(moving) > 1:
            raise UndecidedError("grows along two axes")
        (at,) = moving
        count = target[at - most + len(target)]
        after = at - most + rank
        if count.base != 0 or (after >= 0 and operation.sizes(0)[after].base != 1):
            raise UndecidedError("meets another size along the axis of the items")
        return [Known(at)]
    if moving - {at}:
        raise UndecidedError("grows along two axes")
    wanted = at - most + len(target)
    if wanted >= 0:
        size = target[wanted]
        if size.known() != 1 and size != operation.sizes(0)[axis or 0]:
            raise UndecidedError("meets another size along the axis of the items")
    return [Known(at)]


def tile(operation: Operation) -> list[Known | None]:
    """Tile: of items along other axes, of what is fixed as often as there are items."""
    axis = operation.known(0).axis
    repeats = operation.linear(1)
    moving = [place for place, each in enumerate(repeats) if not each.fixed]
    if axis is None:
        operation.need_fixed(0)
        if not moving:
            return [FIXED]
        if len(moving) > 1 or repeats[moving[0]].base != 0:
            raise UndecidedError("repeats as often as is not followed")
        return [Known(moving[0])]
    if moving or repeats[axis].known() != 1:
        raise UndecidedError("repeats the items")
    return [Known(axis)]


def constant_of_shape(operation: Operation) -> list[Known | None]:
    """ConstantOfShape: the same number for all items."""
    target = operation.linear(0)
    moving = [place for place, each in enumerate(target) if not each.fixed]
    if not moving:
        return [FIXED]
    if len(moving) > 1 or target[moving[0]].base != 0:
        raise UndecidedError("makes sizes that are not followed")
    return [Known(moving[0])]


def gather(operation: Operation) -> list[Known | None]:
    """Gather along another axis, or by indices of items from what is fixed."""
    data, indices = operation.known(0).axis, operation.known(1).axis
    axis = operation.axis("axis", 0, operation.rank(0))
    if data is None:
        operation.need_fixed(0)
        if indices is None:
            raise UndecidedError("picks by an index that depends on the size")
        return [Known(axis + indices)]
    if indices is not None or data == axis:
        raise UndecidedError("picks items")
    operation.need_fixed(1)
    return [Known(data if data < axis else data + operation.rank(1) - 1)]


def gather_elements(operation: Operation) -> list[Known | None]:
    """GatherElements within items."""
    data, indices = operation.known(0).axis, operation.known(1).axis
    axis = operation.axis("axis", 0, operation.rank(0))
    if data is None:
        operation.need_fixed(0)
        if indices != axis:
            raise UndecidedError("picks by place")
        return [Known(axis)]
    if data != indices or data == axis:
        raise UndecidedError("picks items")
    if operation.sizes(0)[data] != operation.sizes(1)[data]:
        raise UndecidedError("meets items of two sizes")
    return [Known(data)]


def gather_nd(operation: Operation) -> list[Known | None]:
    """GatherND within items, or by indices of items from what is fixed."""
    data, indices = operation.known(0).axis, operation.known(1).axis
    batches = int(operation.attribute("batch_dims", 0))
    if indices is None or indices == operation.rank(1) - 1:
        raise UndecidedError("picks items")
    if data is None and not batches:
        operation.need_fixed(0)
        return [Known(indices)]
    if data is None or data != indices or data >= batches:
        raise UndecidedError("picks items")
    if operation.sizes(0)[data] != operation.sizes(1)[data]:
        raise UndecidedError("meets items of two sizes")
    return [Known(data)]


def cut(operation: Operation) -> list[Known | None]:
    """Slice of other axes."""
    data = operation.known(0).axis
    if data is None:
        operation.need_fixed(0)
        raise UndecidedError("cuts out as many as there are items")
    rank = operation.rank(0)
    operation.need_fixed(3, 4)
    if operation.opset < 10:
        starts, ends = operation.attribute("starts", ()), operation.attribute("ends", ())
        axes = list(operation.attribute("axes", range(len(starts))))
        if data in {each % rank for each in axes}:
            at = [each % rank for each in axes].index(data)
            if starts[at] != 0 or ends[at] < WHOLE:
                raise UndecidedError("picks items")
        return _all(operation, data)
    if operation.has(3):
        axes = operation.integers(3)
    else:
        shape = operation.shapes[1]
        if shape is None or len(shape) != 1 or not isinstance(shape[0], int):
            raise UndecidedError("cuts axes that are not known")
        axes = list(range(shape[0]))
    if data not in {each % rank for each in axes}:
        operation.need_fixed(1, 2)
        return _all(operation, data)
    at = [each % rank for each in axes].index(data)
    steps = operation.integers(4) if operation.has(4) else [1] * len(axes)
    starts, ends = operation.linear(1), operation.linear(2)
    others = [each for place, each in enumerate((*starts, *ends)) if place % len(axes) != at]
    end = ends[at].known()
    whole = ends[at] == operation.sizes(0)[data] or (end is not None and end >= WHOLE)
    if starts[at].known() != 0 or steps[at] != 1 or not whole:
        raise UndecidedError("picks items")
    if not all(each.fixed for each in others):
        raise UndecidedError("cuts as many as there are items")
    return _all(operation, data)


def concat(operation: Operation) -> list[Known | None]:
    """Concat along another axis."""
    places = range(len(operation.inputs))
    found = {operation.known(place).axis for place in places}
    if len(found) != 1 or None in found:
        raise UndecidedError("joins items with what does not follow them")
    axis = operation.known(0).axis
    if axis is None or axis == operation.axis("axis", 1, operation.rank(0)):
        raise UndecidedError("puts items after each other")
    if len({operation.sizes(place)[axis] for place in places}) > 1:
        raise UndecidedError("meets items of two sizes")
    return [Known(axis)]


def split(operation: Operation) -> list[Known | None]:
    """Split along another axis."""
    axis = _axis_of(operation)
    if axis == operation.axis("axis", 0, operation.rank(0)):
        raise UndecidedError("picks items")
    return _all(operation, axis)


def pad(operation: Operation) -> list[Known | None]:
    """Pad along other axes."""
    axis, rank = _axis_of(operation), operation.rank(0)
    pads = operation.integers(1) if operation.opset >= 11 else list(operation.attribute("pads", ()))
    axes = operation.integers(3) if operation.has(3) else list(range(rank))
    for place, each in enumerate(axes):
        if each % rank == axis and (pads[place] or pads[place + len(axes)]):
            raise UndecidedError("puts something before or after the items")
    return [Known(axis)]


def reduce(operation: Operation) -> list[Known | None]:
    """Reductions over other axes."""
    axis, rank = _axis_of(operation), operation.rank(0)
    since = 13 if operation.node.op_type == "ReduceSum" else 18
    axes = operation.axes(1, rank, since)
    if not axes:
        if not operation.attribute("noop_with_empty_axes", 0):
            raise UndecidedError("adds items up")
        return [Known(axis)]
    if axis in axes:
        raise UndecidedError("adds items up")
    kept = operation.attribute("keepdims", 1)
    return [Known(axis if kept else axis - sum(each < axis for each in axes))]


def arg_reduce(operation: Operation) -> list[Known | None]:
    """ArgMax, ArgMin along another axis."""
    axis = _axis_of(operation)
    along = operation.axis("axis", 0, operation.rank(0))
    if along == axis:
        raise UndecidedError("compares items")
    return [Known(axis if operation.attribute("keepdims", 1) else axis - (along < axis))]


def along(operation: Operation) -> list[Known | None]:
    """TopK along another axis."""
    axis = _axis_of(operation)
    if operation.axis("axis", -1, operation.rank(0)) == axis:
        raise UndecidedError("compares items")
    return _all(operation, axis)


def cumulate(operation: Operation) -> list[Known | None]:
    """CumSum along another axis."""
    axis = _axis_of(operation)
    if operation.integers(1)[0] % operation.rank(0) == axis:
        raise UndecidedError("adds items up")
    return [Known(axis)]


def triangle(operation: Operation) -> list[Known | None]:
    """Trilu of matrices that are those of one item."""
    axis = _axis_of(operation)
    if axis >= operation.rank(0) - 2:
        raise UndecidedError("cuts items by their place")
    return [Known(axis)]


def one_hot(operation: Operation) -> list[Known | None]:
    """OneHot of a depth that is fixed."""
    axis, rank = _axis_of(operation), operation.rank(0) + 1
    placed = operation.axis("axis", -1, rank)
    return [Known(axis if axis < placed else axis + 1)]


def blocks(operation: Operation) -> list[Known | None]:
    """DepthToSpace, SpaceToDepth."""
    if _axis_of(operation) != 0:
        raise UndecidedError("mixes places")
    return [Known(0)]


def resize(operation: Operation) -> list[Known | None]:
    """Resize, Upsample that leave the items as many as they are."""
    axis = operation.known(0).axis
    if axis is None:
        raise UndecidedError("resizes to as many as there are items")
    operation.need_fixed_but(0, 3)
    rank = operation.rank(0)
    if operation.attribute("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        raise UndecidedError("crops")
    if operation.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UndecidedError("keeps an aspect ratio")
    axes = [each % rank for each in operation.attribute("axes", range(rank))]
    if axis not in axes:
        operation.need_fixed(3)
        return [Known(axis)]
    at = axes.index(axis)
    if operation.has(3) and operation.shapes[3] != (0,):
        if operation.linear(3)[at] != operation.sizes(0)[axis]:
            raise UndecidedError("resizes the items")
        return [Known(axis)]
    place = 1 if operation.node.op_type == "Upsample" or operation.opset < 11 else 2
    scales = operation.value(place)
    if scales is None or len(scales) != len(axes) or float(scales[at]) != 1.0:
        raise UndecidedError("resizes the items")
    return [Known(axis)]


def reverse(operation: Operation) -> list[Known | None]:
    """ReverseSequence of sequences that are items."""
    operation.need_fixed_but(0, 1)
    batch = operation.attribute("batch_axis", 1)
    if operation.known(0).axis != batch or operation.known(1).axis != 0:
        raise UndecidedError("turns items around")
    return [Known(batch)]


def scatter_elements(operation: Operation) -> list[Known | None]:
    """ScatterElements within items."""
    axis = operation.known(0).axis
    if axis is None or {operation.known(place).axis for place in (1, 2)} != {axis}:
        raise UndecidedError("writes to items by place")
    if axis == operation.axis("axis", 0, operation.rank(0)):
        raise UndecidedError("writes to items by place")
    if len({operation.sizes(place)[axis] for place in range(3)}) > 1:
        raise UndecidedError("meets items of two sizes")
    return [Known(axis)]


def count(_: Operation) -> list[Known | None]:
    """Range up to what depends on the size: the place of an item is no function of the item."""
    raise UndecidedError("counts the items")


_REDUCTIONS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)

MOVING: dict[str, Rule] = {
    "Transpose": transpose,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Flatten": flatten,
    "Reshape": reshape,
    "Expand": expand,
    "Tile": tile,
    "ConstantOfShape": constant_of_shape,
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "Slice": cut,
    "Concat": concat,
    "Split": split,
    "Pad": pad,
    **dict.fromkeys(_REDUCTIONS, reduce),
    "ArgMax": arg_reduce,
    "ArgMin": arg_reduce,
    "TopK": along,
    "CumSum": cumulate,
    "Trilu": triangle,
    "OneHot": one_hot,
    "DepthToSpace": blocks,
    "SpaceToDepth": blocks,
    "Resize": resize,
    "Upsample": resize,
    "Range": count,
    "ReverseSequence": reverse,
    "ScatterElements": scatter_elements,
    "Scatter": scatter_elements,
}
