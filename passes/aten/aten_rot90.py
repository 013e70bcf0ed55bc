"""Replace what only moves elements: rot90, diagonal, roll, take_along_dim, and the like.

What it does: Reads elements from other places with Transpose, Gather, GatherElements, Slice and
    Concat: rot90, fliplr, flipud, diagonal, linalg_diagonal, roll, take_along_dim, movedim,
    swapaxes, adjoint-like transposes (mT, numpy_T), channel_shuffle.
Why engines need it: ONNX has no such operators, and PyTorch's exporters have written ATen nodes.
Before: y = org.pytorch.aten.ATen <operator = "rot90"> (x, 1, [0, 1])       # x: float[2, 3]
After: y = Gather <axis = 0> (Transpose <perm = [1, 0]> (x), [2, 1, 0])
When it refuses: An axis, a shift or a number of turns is computed at run time, a rank is unknown,
    the two axes are the same, or the size of an axis that is cut is unknown (below opset 10:
    turned, 11: shifted).
Accuracy: Exact, bit by bit: elements only change their places. A negative index of take_along_dim
    is an error in PyTorch and counts from the end here.
References: pytorch/pytorch aten/src/ATen/native/TensorTransformations.cpp (rot90, roll),
    aten/src/ATen/native/TensorShape.cpp (diagonal, movedim, swapaxes),
    aten/src/ATen/native/TensorAdvancedIndexing.cpp (take_along_dim)
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, InferredType, Refuse, Value, counted, needed

from ._arguments import ArrayCall, Call
from ._diagonals import DIAGONALS
from ._family import Family, Function, axis_in, broadcast, by_sizes, ranked


def _size(x: Value, axis: int) -> int:
    return needed(x.dim(axis), f"the size of axis {axis} of {x.name} must be known; it is open")


def _turned(build: Builder, x: Value, axis: int) -> Value:
    size = x.dim(axis)
    if size is not None:
        return build.Gather(x, np.arange(size - 1, -1, -1, dtype=np.int64), axis=axis)
    if build.opset < 10:
        raise Refuse(f"the size of axis {axis} must be known below opset 10; it is open")
    last = int(np.iinfo(np.int32).min)
    return build.Slice(x, starts=[-1], ends=[last], axes=[axis], steps=[-1])


def _axes(call: Call, name: str, rank: int) -> list[int]:
    given = call.integers(name) or ()
    if any(not -max(rank, 1) <= a < max(rank, 1) for a in given):
        raise Refuse(f"{name} must lie in rank {rank}; they are {list(given)}")
    return [a % max(rank, 1) for a in given]


def _swap(build: Builder, x: Value, first: int, second: int) -> Value:
    if first == second:
        return build.Identity(x)
    assert x.rank is not None
    perm = list(range(x.rank))
    perm[first], perm[second] = second, first
    return build.Transpose(x, perm=perm)


def _rot90(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, least=2)
    axes = _axes(call, "dims", rank) if call.entries("dims") is not None else [0, 1]
    if len(axes) != 2 or axes[0] == axes[1]:
        raise Refuse(f"dims must be two different axes; they are {axes}")
    first, second = axes
    turns = int(call.number("k", 1)) % 4
    if turns == 0:
        return build.Identity(x)
    if turns == 2:
        return _turned(build, _turned(build, x, first), second)
    return _turned(build, _swap(build, x, first, second), first if turns == 1 else second)


def _flip(axis: int) -> Callable[[Builder, Call], Value]:
    def write(build: Builder, call: Call) -> Value:
        return _turned(build, ranked(call, least=axis + 1)[0], axis)

    return write


def _roll(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    shifts, axes = call.integers("shifts") or (), _axes(call, "dims", rank)
    if axes and len(axes) != len(shifts):
        raise Refuse(f"there must be a shift for each axis; there are {len(shifts)} of {len(axes)}")
    if not rank:
        return build.Identity(x)
    if not axes:
        if len(shifts) != 1 or x.static_shape is None:
            raise Refuse("without axes there must be one shift, and the shape be known")
        flat = _shifted(build, build.Reshape(x, [-1]), 0, shifts[0])
        return build.Reshape(flat, list(x.static_shape))
    for axis, shift in zip(axes, shifts, strict=True):
        x = _shifted(build, x, axis, shift)
    return x


def _shifted(build: Builder, x: Value, axis: int, shift: int) -> Value:
    size = x.dim(axis)
    if size is None:
        # Wherever the sum goes, Mod takes it into the axis.
        places = build.Sub(counted(x, axis, build), shift)
        count = build.Shape(counted(x, axis, build))
        one = build.constant(np.array([1], np.int64))  # an empty axis divides nothing
        count = build.Where(build.Equal(count, np.zeros(1, np.int64)), one, count)
        return build.Gather(x, build.Mod(places, count), axis=axis)
    first = -shift % size if size else 0
    if not first:
        return build.Identity(x)
    parts = [
        build.Slice(x, starts=[at], ends=[end], axes=[axis])
        for at, end in ((first, size), (0, first))
    ]
    return build.Concat(*parts, axis=axis)


def _taken(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    places, other = ranked(call, "indices")
    build.need_opset(11, " for GatherElements")
    if call.number("dim") is None:
        flat = build.Reshape(x, [-1])
        return build.GatherElements(flat, build.Reshape(places, [-1]), axis=0)
    if rank != other or not rank:
        raise Refuse(f"the ranks must be equal and not 0; they are {rank} and {other}")
    axis = axis_in(call, "dim", rank)
    sizes = [(x.dim(a), places.dim(a)) for a in range(rank) if a != axis]
    if any(a != b or a is None for a, b in sizes):
        one = np.array([axis], np.int64)
        shapes = [build.Shape(v) for v in (x, places)]
        single = build.constant(np.ones(1, np.int64))
        mine, theirs = (
            build.ScatterElements(s, build.constant(one), single, axis=0) for s in shapes
        )
        x, places = build.Expand(x, theirs), build.Expand(places, mine)
    return build.GatherElements(x, places, axis=axis)


def _taken_type(call: Call) -> Sequence[InferredType | None]:
    x, rank = ranked(call)
    places, other = ranked(call, "indices")
    if call.number("dim") is None:
        size = places.static_shape
        return (InferredType(x.elem_type, (int(np.prod(size)) if size is not None else None,)),)
    if rank != other or not rank:
        return (None,)
    axis = axis_in(call, "dim", rank)
    shape = list(broadcast(tuple(x.shape or ()), tuple(places.shape or ())))
    shape[axis] = places.dim(axis)
    return (InferredType(x.elem_type, tuple(shape)),)


def _movedim(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    return build.Transpose(x, perm=_moved(call, rank)) if rank else build.Identity(x)


def _moved(call: Call, rank: int) -> list[int]:
    source, target = _axes(call, "source", rank), _axes(call, "destination", rank)
    if len(source) != len(target) or len({*source}) != len(source) or len({*target}) != len(target):
        raise Refuse("source and destination must be as many different axes each")
    rest = iter(a for a in range(rank) if a not in source)
    return [source[target.index(a)] if a in target else next(rest) for a in range(rank)]


def _swapaxes(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    first, second = (axis_in(call, name, rank) for name in call.schema[1:])
    return _swap(build, x, first, second)


def _turning(operator: str) -> Callable[[Builder, Call], Value]:
    def write(build: Builder, call: Call) -> Value:
        x, rank = ranked(call)
        if operator == "numpy_T":
            return build.Transpose(x, perm=list(range(rank))[::-1]) if rank else build.Identity(x)
        if rank < 2:
            raise Refuse(f"the rank of {x.name} must be at least 2; it is {rank}")
        return _swap(build, x, rank - 2, rank - 1)

    return write


def _shuffled(build: Builder, call: Call) -> Value:
    x, _ = ranked(call, least=3)
    channels, groups = _size(x, 1), int(call.number("groups"))
    if groups <= 0 or channels % groups:
        raise Refuse(f"the {channels} channels must divide into the groups; there are {groups}")
    return build.Gather(x, _shuffled_places(channels, groups), axis=1)


def _shuffled_places(channels: int, groups: int) -> Array:
    every = np.arange(channels, dtype=np.int64).reshape(groups, -1)
    return np.ascontiguousarray(np.transpose(every)).reshape(-1)


def _rot90_shape(sizes: Any, call: Call) -> Any:
    axes = _axes(call, "dims", len(sizes)) or [0, 1]
    if int(call.number("k", 1)) % 2:
        sizes[axes] = sizes[axes[::-1]]
    return sizes


def _entries(call: ArrayCall, name: str) -> tuple[int, ...]:
    return tuple(int(e) for e in call.entries(name) or ())


def _roll_model(call: ArrayCall) -> Any:
    axes = _entries(call, "dims")
    return np.roll(call.need("self"), _entries(call, "shifts"), axes or None)


def _taken_model(call: ArrayCall) -> Any:
    x, places, axis = call.need("self"), call.need("indices"), call.number("dim")
    if axis is None:
        return x.ravel()[places.ravel()]
    axis = int(axis) % x.ndim
    one = [1 if a == axis else s for a, s in enumerate(x.shape)]
    other = [1 if a == axis else s for a, s in enumerate(places.shape)]
    shape = list(np.broadcast_shapes(tuple(one), tuple(other)))
    shape[axis] = x.shape[axis]
    wide = np.broadcast_to(x, shape)
    shape[axis] = places.shape[axis]
    return np.take_along_axis(wide, np.broadcast_to(places, shape), axis)


def _shuffle_model(call: ArrayCall) -> Any:
    x, groups = call.need("self"), int(call.number("groups"))
    return x[:, _shuffled_places(x.shape[1], groups)]


def _rot90_model(call: ArrayCall) -> Any:
    axes: Any = _entries(call, "dims") or (0, 1)
    return np.rot90(call.need("self"), int(call.number("k", 1)), axes).copy()


_SELF = ("self",)
FAMILY = Family(
    {
        "rot90": Function(
            ("self", "k", "dims"), _rot90, _rot90_model, infer=by_sizes(_rot90_shape)
        ),
        "fliplr": Function(
            _SELF,
            _flip(1),
            lambda c: np.fliplr(c.need("self")).copy(),
            infer=by_sizes(lambda sizes, _: sizes),
        ),
        "flipud": Function(
            _SELF,
            _flip(0),
            lambda c: np.flipud(c.need("self")).copy(),
            infer=by_sizes(lambda sizes, _: sizes),
        ),
        **DIAGONALS,
        "roll": Function(
            ("self", "shifts", "dims"), _roll, _roll_model, infer=by_sizes(lambda sizes, _: sizes)
        ),
        "take_along_dim": Function(
            ("self", "indices", "dim"), _taken, _taken_model, infer=_taken_type
        ),
        "movedim": Function(
            ("self", "source", "destination"),
            _movedim,
            lambda c: np.moveaxis(
                c.need("self"), _entries(c, "source"), _entries(c, "destination")
            ).copy(),
        ),
        **{
            name: Function(
                ("self", one, two),
                _swapaxes,
                lambda c: np.swapaxes(
                    c.need("self"), int(c.number(c.schema[1])), int(c.number(c.schema[2]))
                ).copy(),
            )
            for name, one, two in (("swapaxes", "axis0", "axis1"), ("swapdims", "dim0", "dim1"))
        },
        "mT": Function(
            _SELF,
            _turning("mT"),
            lambda c: np.swapaxes(c.need("self"), -1, -2).copy(),
        ),
        "numpy_T": Function(
            _SELF,
            _turning("numpy_T"),
            lambda c: c.need("self").T.copy(),
        ),
        "channel_shuffle": Function(
            ("self", "groups"), _shuffled, _shuffle_model, infer=by_sizes(lambda sizes, _: sizes)
        ),
    }
)


aten_rot90 = FAMILY.replaced(
    __name__,
    emits=(
        "Add Concat Equal Expand Gather GatherElements Identity Less Mod Range Reshape "
        "ScatterElements Shape Slice Squeeze Sub Transpose Unsqueeze Where"
    ),
)
