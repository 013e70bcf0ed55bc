"""Recipes for operators that move values: shapes, slices, gathers, scatters."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from benchmarks.differential.recipes import EXTREME, axis_of, numbers, recipe
from benchmarks.differential.scope import BOOL, F32, I32, I64, U8, Impossible, Input, Known, Scope

STRING = TensorProto.STRING


def indices(s: Scope, shape: tuple[int, ...], size: int, *, negative: bool, elem: int = 0) -> str:
    """Put indices here: a constant, or an input of the model within the bounds."""
    elem = elem or s.rng.choice([I64, I64, I32])
    low = -size if negative and s.rng.random() < 0.6 else 0
    if size <= low:
        raise Impossible
    value = np.array([s.rng.randrange(low, size) for _ in range(int(np.prod(shape)))])
    if s.rng.random() < 0.5 and len(s.root.inputs) < 8:
        name = s.root.name("i")
        s.root.inputs.append(Input(name, elem, shape, low=low, high=size - 1))
        return name
    return s.const(value.reshape(shape), elem)


@recipe("Reshape")
def reshape(s: Scope, op: str) -> None:
    """Add a Reshape in the ways of exporters, computed ones among them."""
    a = s.pick(s.types_of(op), range(5))
    form = s.rng.choice(["flat", "keep", "computed", "tail", "ones", "allowzero", "same"])
    allow = None
    if form == "flat":
        wanted = s.param([-1])
    elif form == "keep" and a.rank:
        wanted = s.param([0, -1])
    elif form == "tail" and a.rank > 1 and isinstance(a.dims[-1], int):
        wanted = s.param([-1, a.dims[-1]])
    elif form == "same":
        wanted = s.emit("Shape", [a.name])[0].name
    elif form == "allowzero" and s.opset >= 14:
        allow, wanted = s.rng.choice([0, 1]), s.emit("Shape", [a.name])[0].name
    elif form == "computed" and a.rank:
        shape = s.emit("Shape", [a.name])[0]
        first = s.emit("Gather", [shape.name, s.const([s.rng.randrange(a.rank)], I64)])[0]
        wanted = s.emit("Concat", [first.name, s.const([-1], I64)], axis=0)[0].name
    else:
        wanted = s.param([1] * s.rng.randint(0, 2) + [-1])
    s.emit(op, [a.name, wanted], allowzero=allow)


@recipe("Squeeze", "Unsqueeze")
def squeeze(s: Scope, op: str) -> None:
    """Take away or add dims of 1."""
    a = s.pick(s.types_of(op), range(5))
    if op == "Unsqueeze":
        count = s.rng.choice([1, 1, 2])
        axes = s.rng.sample(range(a.rank + count), count)
        axes = [x - a.rank - count if s.opset >= 11 and s.rng.random() < 0.4 else x for x in axes]
    else:
        ones = [i for i, d in enumerate(a.dims) if d == 1]
        axes = s.rng.sample(ones, s.rng.randint(1, len(ones))) if ones else []
        if not axes:
            raise Impossible
        axes = [x - a.rank if s.opset >= 11 and s.rng.random() < 0.4 else x for x in axes]
        if s.rng.random() < 0.2:
            s.emit(op, [a.name])
            return
    if s.opset >= 13:
        s.emit(op, [a.name, s.param(axes)])
    else:
        s.emit(op, [a.name], axes=sorted(axes) if min(axes) >= 0 else axes)


@recipe("Transpose", "Flatten", "SpaceToDepth", "DepthToSpace")
def layout(s: Scope, op: str) -> None:
    """Move dims about."""
    if op in ("SpaceToDepth", "DepthToSpace"):
        elem = s.rng.choice(s.types_of(op))
        block = s.rng.choice([2, 3])
        square = op == "SpaceToDepth"
        dims = ("B", 2, block, block * 2) if square else ("B", block * block * 2, "H", "W")
        a = s.new_input(elem, 4, shape=dims)
        mode = s.rng.choice([None, "DCR", "CRD"]) if not square and s.opset >= 11 else None
        s.emit(op, [a.name], blocksize=block, mode=mode)
        return
    a = s.pick(s.types_of(op), range(1, 6))
    if op == "Transpose":
        s.emit(op, [a.name], perm=s.rng.choice([None, s.rng.sample(range(a.rank), a.rank)]))
    else:
        low = -a.rank if s.opset >= 11 else 0
        s.emit(op, [a.name], axis=s.rng.choice([None, s.rng.randint(low, a.rank)]))


@recipe("Concat")
def concat(s: Scope, op: str) -> None:
    """Join values along an axis."""
    a = s.pick(s.types_of(op), range(1, 5))
    axis = axis_of(s, a)
    same = [t.name for t in s.visible() if (t.elem, t.dims) == (a.elem, a.dims)]
    parts = [s.rng.choice(same) for _ in range(s.rng.randint(1, 3))]
    if all(isinstance(d, int) for d in a.dims) and s.rng.random() < 0.5:
        fixed = [d for d in a.dims if isinstance(d, int)]
        fixed[axis] = s.rng.choice([0, 1, 2])
        parts.append(s.const(numbers(s, tuple(fixed), a.elem)))
    s.emit(op, parts, axis=axis)


@recipe("Split")
def split(s: Scope, op: str) -> None:
    """Cut a value, equally or not."""
    a = s.pick(s.types_of(op), range(1, 5), lambda t: any(isinstance(d, int) for d in t.dims))
    axis = s.rng.choice([i for i, d in enumerate(a.dims) if isinstance(d, int)])
    size = a.size(axis)
    parts = s.rng.choice([2, 3])
    given = axis - a.rank if s.opset >= 11 and s.rng.random() < 0.4 else axis
    if s.opset >= 18 and s.rng.random() < 0.5:
        s.emit(op, [a.name], parts, axis=given, num_outputs=parts)
        return
    cut = s.rng.randint(0, size)
    sizes = [cut, size - cut]
    if size % 2 == 0 and s.opset < 18 and s.rng.random() < 0.4:
        s.emit(op, [a.name], 2, axis=given)
    elif s.opset >= 13:
        s.emit(op, [a.name, s.param(sizes, [[0, size], [size, 0]])], 2, axis=given)
    else:
        s.emit(op, [a.name], 2, axis=given, split=sizes)


@recipe("Slice")
def slicing(s: Scope, op: str) -> None:
    """Cut along axes, with ends far outside and steps below 0."""
    a = s.pick(s.types_of(op), range(1, 5))
    axes = s.rng.sample(range(a.rank), s.rng.randint(1, min(a.rank, 2)))
    ends = (2**31 - 1, 2**63 - 1, -1, 1, 2, 3, 0, -2, -(2**31))
    starts = [s.rng.choice([0, 0, 1, -1, -2, 2, -(2**63)]) for _ in axes]
    stops = [s.rng.choice(ends) for _ in axes]
    if s.opset < 10:
        s.emit(op, [a.name], starts=starts, ends=stops, axes=axes)
        return
    if s.rng.random() < 0.4:
        axes = [x - a.rank for x in axes]
    inputs = [a.name, s.param(starts, [[e] * len(axes) for e in EXTREME]),
              s.param(stops, [[e] * len(axes) for e in EXTREME]), s.param(axes)]  # fmt: skip
    if s.rng.random() < 0.6:
        steps = [s.rng.choice([1, 2, -1, -2, 5]) for _ in axes]
        inputs.append(s.param(steps, [[1] * len(axes), [-1] * len(axes), [-3] * len(axes)]))
    s.emit(op, inputs)


@recipe("Tile", "Expand", "ConstantOfShape")
def repeat(s: Scope, op: str) -> None:
    """Repeat a value, no times among them, or make one from nothing."""
    if op == "ConstantOfShape":
        elem = s.rng.choice([F32, I64, BOOL, I32, U8])
        value = helper.make_tensor("", elem, [1], numbers(s, (1,), elem).tolist())
        shape = s.rng.choice([[2, 3], [], [0], [4]])
        extreme = [[0] * len(shape), [1] * len(shape)]
        s.emit(op, [s.param(shape, extreme)], value=s.rng.choice([None, value]))
        return
    a = s.pick(s.types_of(op), range(1, 4))
    if op == "Tile":
        times = [s.rng.choice([1, 2, 3, 0]) for _ in a.dims]
        s.emit(op, [a.name, s.param(times, [[0] * a.rank, [1] * a.rank])])
    else:
        shape = [1 if not isinstance(d, int) else s.rng.choice([1, d]) for d in a.dims]
        shape = [s.rng.choice([2, 0, 1])] * s.rng.choice([0, 1]) + shape
        s.emit(op, [a.name, s.param(shape)])


@recipe("Pad")
def pad(s: Scope, op: str) -> None:
    """Pad in each mode, cropping too."""
    a = s.pick(s.types_of(op), range(1, 5))
    modes = ["constant", "reflect", "edge"] + ["wrap"] * (s.opset >= 19)
    mode = s.rng.choice([None, *modes])
    axes = list(range(a.rank))
    chosen = s.opset >= 18 and s.rng.random() < 0.4
    if chosen:
        axes = s.rng.sample(axes, s.rng.randint(1, a.rank))
    pads = [s.rng.choice([0, 0, 1, 2, -1]) for _ in range(2 * len(axes))]
    if s.opset < 11:
        s.emit(op, [a.name], pads=pads, mode=mode, value=s.rng.choice([None, 0.5]))
        return
    extremes = [[v] * len(pads) for v in (0, 1, -1, 3, -2)]
    inputs = [a.name, s.param(pads, extremes)]
    if s.rng.random() < 0.5 or chosen:
        inputs.append(s.param(1, [0, 3], a.elem) if mode in (None, "constant") else "")
    if chosen:
        inputs.append(s.param(axes if s.rng.random() < 0.6 else [x - a.rank for x in axes]))
    s.emit(op, inputs, mode=mode)


@recipe("Gather", "GatherElements", "GatherND", "Compress")
def gather(s: Scope, op: str) -> None:
    """Take elements by constant or computed indices."""
    a = s.pick(s.types_of(op), range(1, 5))
    axis = axis_of(s, a)
    size = a.size(axis)
    if op == "Gather":
        shape = s.rng.choice([(), (1,), (2,), (2, 3), (0,)])
        index = indices(s, shape, size, negative=s.opset >= 11)
        s.emit(op, [a.name, index], axis=s.rng.choice([axis, axis, None]))
    elif op == "GatherElements":
        shape = tuple(a.size(i) if i != axis % a.rank else s.rng.choice([1, size, 4])
                      for i in range(a.rank))  # fmt: skip
        s.emit(op, [a.name, indices(s, shape, size, negative=True)], axis=axis)
    elif op == "GatherND":
        width = s.rng.randint(1, a.rank)
        batch = s.rng.choice([0, 0, 1]) if s.opset >= 12 and width < a.rank else 0
        lead = (a.size(0),) * batch
        least = min(a.size(i) for i in range(a.rank))
        shape = (*lead, s.rng.choice([1, 3, 0]), width - (batch and width == a.rank))
        s.emit(op, [a.name, indices(s, shape, least, negative=True, elem=I64)],
               batch_dims=batch or None)  # fmt: skip
    else:
        flags = [s.rng.random() < 0.5 for _ in range(s.rng.randint(1, size or 1))]
        s.emit(op, [a.name, s.param(flags, [], BOOL)], axis=s.rng.choice([None, axis]))


@recipe("Scatter", "ScatterElements", "ScatterND")
def scatter(s: Scope, op: str) -> None:
    """Write elements at distinct places, or at the same ones where a reduction is given."""
    a = s.pick(s.types_of(op), range(1, 4))
    reduction: str | None = None
    if s.opset >= 16 and op != "Scatter" and s.rng.random() < 0.6:
        names = ["none", "add", "mul", *(["max", "min"] if s.opset >= 18 else [])]
        reduction = s.rng.choice(names)
    free = reduction not in (None, "none")
    if op == "ScatterND":
        width = s.rng.randint(1, a.rank)
        if not all(a.size(d) for d in range(width)):
            raise Impossible
        rows = s.rng.randint(1, 3)
        first = [s.rng.randrange(a.size(0)) for _ in range(rows)]
        if not free:
            first = sorted(set(first))
        tuples = [[i, *(s.rng.randrange(a.size(d)) for d in range(1, width))] for i in first]
        shape = (len(first), *(a.size(d) for d in range(width, a.rank)))
        index = s.const(tuples, I64)
        s.emit(op, [a.name, index, s.const(numbers(s, shape, a.elem))], reduction=reduction)
        return
    axis = axis_of(s, a)
    size = a.size(axis)
    part = s.rng.randint(1, size) if size else 0
    shape = tuple(part if i == axis % a.rank else a.size(i) for i in range(a.rank))
    line = [s.rng.randrange(-size, size) for _ in range(part)] if free else (
        s.rng.sample(range(size), part))  # fmt: skip
    view = [1] * a.rank
    view[axis] = part
    index = s.const(np.broadcast_to(np.array(line).reshape(view), shape), s.rng.choice([I64, I32]))
    updates = s.const(numbers(s, shape, a.elem))
    s.emit(op, [a.name, index, updates], axis=axis, reduction=reduction)


@recipe("OneHot")
def one_hot(s: Scope, op: str) -> None:
    """Write one number at the place of each index, which may be outside."""
    depth = s.rng.choice([1, 3, 5])
    index = s.pick(s.types_of(op), range(3))
    if index.name.startswith("x") and s.rng.random() < 0.7:
        name = s.root.name("i")
        s.root.inputs.append(Input(name, index.elem, (3,), low=-depth - 1, high=depth + 1))
        index = Known(name, index.elem, (3,))
    elem = s.rng.choice([F32, I64, I32, F32])
    values = s.const(numbers(s, (2,), elem))
    s.emit(op, [index.name, s.param(depth, [1, 2], s.rng.choice([I64, I64, F32])), values],
           axis=s.rng.choice([None, -1, 0]))  # fmt: skip


@recipe("Trilu", "EyeLike")
def triangle(s: Scope, op: str) -> None:
    """Keep a triangle, or write a diagonal."""
    a = s.pick(s.types_of(op), (2, 3) if op == "Trilu" else (2,))
    k = s.rng.choice([0, 1, -1, 9, -9])
    if op == "EyeLike":
        s.emit(op, [a.name], k=k, dtype=s.rng.choice([None, F32, I64]))
        return
    inputs = [a.name] + ([s.param(k, EXTREME)] if s.rng.random() < 0.7 else [])
    s.emit(op, inputs, upper=s.rng.choice([None, 0, 1]))


@recipe("ReverseSequence")
def reverse(s: Scope, op: str) -> None:
    """Reverse the beginnings of sequences."""
    time, batch = s.rng.choice([(0, 1), (1, 0)])
    elem = s.rng.choice(s.types_of(op))
    dims = ("L", 2, "C") if time == 0 else (2, "L", "C")
    a = s.new_input(elem, 3, shape=dims)
    lengths = s.param([1, 3], [[1, 1], [4, 2], [2, 0], [0, 0]])
    s.emit(op, [a.name, lengths], time_axis=time, batch_axis=batch)


@recipe("Unique")
def unique(s: Scope, op: str) -> None:
    """Find the different elements."""
    a = s.pick((F32, I64), range(1, 3))
    axis: Any = s.rng.choice([None, None, axis_of(s, a)])
    s.emit(op, [a.name], s.rng.choice([1, 4]), axis=axis, sorted=s.rng.choice([None, 1]))
