"""What each kind of mixing makes of axes; see `graphfix.operators.axes`.

Every function returns the dims of the results of a node, and raises `Unknown` where the node may
mix all axes.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx

from graphfix.operators.axes import Axes, Mixing
from graphfix.proving.inputs.uses import attribute_of, int_attribute
from graphfix.proving.sites.axes import Axis, Dims, Side, Unknown, bind, place_of, without
from graphfix.proving.sites.windows import scaled, slid

Results = list[Dims | None]


def _elementwise(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    places = [place for place, name in enumerate(node.input) if name]
    shape = side.broadcast([side.dims_of(node, place) for place in places])
    return [list(shape) for _ in node.output]


def _scales(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, row.data)
    if int_attribute(node, "block_size", 0):
        raise Unknown
    for place in row.along:
        if side.has(node, place):
            side.go_along(side.dims_of(node, place), x, int_attribute(node, "axis", row.axis))
    return [x]


def _channels(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    if int_attribute(node, "training_mode", 0) or len(node.output) > 1:
        raise Unknown
    for place in row.along:
        side.go_along(side.dims_of(node, place), x, 1)
    return [x]


def _planes(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    for place in row.along:
        side.go_along(side.dims_of(node, place), x, 1)
    bind(x[2:])
    return [x]


def _batch(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    for place in range(1, len(node.input)):
        bind(side.dims_of(node, place))
    bind(x[1:])
    mixed: Dims = [Axis(None, bound=True) for _ in x[1:]]
    return [[x[0], *mixed]]


def _along(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    side.only_single(node, 0)
    axis = place_of(int_attribute(node, "axis", row.axis), x)
    bind([x[axis]])
    x[axis] = Axis(None, bound=True)
    return [list(x) for _ in node.output]


def _from(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    for place in range(1, len(node.input)):
        if side.has(node, place):
            bind(side.dims_of(node, place))
    axis = place_of(int_attribute(node, "axis", row.axis), x)
    bind(x[axis:])
    few: Dims = [*x[:axis], *(1 for _ in x[axis:])]
    return [x, *(list(few) for _ in node.output[1:])]


def _pooled(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    side.only_single(node, 0)
    if int_attribute(node, "channels_last", 0):
        raise Unknown
    bind(x[2:])
    return [[*x[:2], *(1 for _ in x[2:])]]


def _reduced(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    named = attribute_of(node, "axes")
    axes = list(named.ints) if named is not None else []
    if side.has(node, 1):
        axes = [int(number) for number in side.numbers(node, 1)]
    if not axes and int_attribute(node, "noop_with_empty_axes", 0):
        return [x]
    places = {place_of(axis, x) for axis in axes} or set(range(len(x)))
    return [without(x, places, keep=bool(int_attribute(node, "keepdims", 1)))]


def _chosen(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    axis = place_of(int_attribute(node, "axis", row.axis), x)
    return [without(x, {axis}, keep=bool(int_attribute(node, "keepdims", 1)))]


def _joined(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    places = range(row.data, len(node.input), row.each)
    side.only_single(node, *places)
    parts = [side.dims_of(node, place) for place in places]
    axis = place_of(int_attribute(node, "axis", row.axis), parts[0])
    result = parts[0]
    for part in parts:
        bind([part[axis]])
        for place, dim in enumerate(part):
            if place != axis and part is not parts[0]:
                result[place] = side.join(result[place], dim)
    result[axis] = Axis(None, bound=True)
    return [result]


def _divided(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    axis = place_of(int_attribute(node, "axis", row.axis), x)
    bind([x[axis]])
    x[axis] = Axis(None, bound=True)
    return [list(x) for _ in node.output]


def _picked(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x, indices = side.dims_of(node, 0), side.dims_of(node, 1)
    axis = place_of(int_attribute(node, "axis", row.axis), x)
    bind([x[axis]])
    return [[*x[:axis], *indices, *x[axis + 1 :]]]


def _permuted(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    named = attribute_of(node, "perm")
    order = list(named.ints) if named is not None else list(reversed(range(len(x))))
    return [[x[place] for place in order]]


def _removed(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    return [without(x, {place_of(axis, x) for axis in _axes(side, node)}, keep=False)]


def _inserted(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x, axes = side.dims_of(node, 0), _axes(side, node)
    rank = len(x) + len(axes)
    for place in sorted(axis % rank for axis in axes):
        x.insert(place, 1)
    return [x]


def _ends(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, 0)
    if node.op_type == "Pad":
        named, fourth = attribute_of(node, "pads"), side.has(node, 3)
        pads = list(named.ints) if named is not None else side.numbers(node, 1)
        axes = [int(n) for n in side.numbers(node, 3)] if fourth else list(range(len(x)))
        half = len(pads) // 2
        changed = [a for a, low, high in zip(axes, pads, pads[half:], strict=False) if low or high]
    else:
        named = attribute_of(node, "axes")
        starts = attribute_of(node, "starts")
        count = len(starts.ints) if starts is not None else len(side.numbers(node, 1))
        changed = list(range(count)) if named is None else list(named.ints)
        if side.has(node, 3):
            changed = [int(number) for number in side.numbers(node, 3)]
    for axis in changed:
        bind([x[axis]])
        x[axis] = Axis(None, bound=True)
    return [x]


def _scaled(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    assert row.other is not None
    x = side.dims_of(node, 0)
    if not side.has(node, row.other) or side.has(node, row.other + 1):
        raise Unknown
    return [scaled(node, x, side.numbers(node, row.other), side.made)]


def _windows(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    x = side.dims_of(node, row.data)
    sizes = attribute_of(node, "kernel_shape")
    if len([name for name in node.output if name]) > 1 or sizes is None:
        raise Unknown
    return [[*x[:2], *slid(node, x[2:], list(sizes.ints), side.made)]]


def _filters(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    assert row.other is not None
    x, filters = side.dims_of(node, row.data), side.dims_of(node, row.other)
    side.only_single(node, row.data, row.other, *row.along)
    bind([*x[1:2], *filters[1:]])
    if int_attribute(node, "group", 1) != 1:
        bind(filters[:1])
    sizes = [dim.root().size if isinstance(dim, Axis) else dim for dim in filters[2:]]
    kernel = [size for size in sizes if size is not None]
    if len(kernel) != len(sizes):
        raise Unknown
    result = [x[0], filters[0], *slid(node, x[2:], kernel, side.made)]
    for place in row.along:
        if side.has(node, place):
            side.go_along(side.dims_of(node, place), result, 1)
    return [result]


def _matrices(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    assert row.other is not None
    a, b = side.dims_of(node, row.data), side.dims_of(node, row.other)
    side.only_single(node, row.data, row.other, *row.along)
    if len(a) < 2 or len(b) < 2:
        raise Unknown
    bind([a[-1], b[-2]])
    result = [*side.broadcast([a[:-2], b[:-2]]), a[-2], b[-1]]
    for place in row.along:
        if side.has(node, place):
            side.go_along(side.dims_of(node, place), result, -1)
    return [result]


def _one_matrix(side: Side, node: onnx.NodeProto, row: Axes) -> Results:
    a, b = side.dims_of(node, 0), side.dims_of(node, 1)
    a = a[::-1] if int_attribute(node, "transA", 0) else a
    b = b[::-1] if int_attribute(node, "transB", 0) else b
    bind([a[1], b[0]])
    result: Dims = [a[0], b[1]]
    if side.has(node, 2):
        result = side.broadcast([result, side.dims_of(node, 2)])
    return [result]


def _axes(side: Side, node: onnx.NodeProto) -> list[int]:
    named = attribute_of(node, "axes")
    if named is not None:
        return list(named.ints)
    if not side.has(node, 1):
        raise Unknown
    return [int(number) for number in side.numbers(node, 1)]


HANDLERS: dict[Mixing, Callable[[Side, onnx.NodeProto, Axes], Results]] = {
    Mixing.NONE: _elementwise,
    Mixing.ALONG: _along,
    Mixing.FROM: _from,
    Mixing.BATCH: _batch,
    Mixing.PLANES: _planes,
    Mixing.CHANNELS: _channels,
    Mixing.SCALES: _scales,
    Mixing.POOLED: _pooled,
    Mixing.REDUCED: _reduced,
    Mixing.CHOSEN: _chosen,
    Mixing.JOINED: _joined,
    Mixing.DIVIDED: _divided,
    Mixing.PICKED: _picked,
    Mixing.PERMUTED: _permuted,
    Mixing.REMOVED: _removed,
    Mixing.INSERTED: _inserted,
    Mixing.ENDS: _ends,
    Mixing.SCALED: _scaled,
    Mixing.WINDOWS: _windows,
    Mixing.FILTERS: _filters,
    Mixing.MATRICES: _matrices,
    Mixing.ONE_MATRIX: _one_matrix,
}
