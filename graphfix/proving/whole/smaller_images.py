"""Two models on a corner of the images that they take: to ask something of them at little cost.

Whether a change of a constant shows is no question of size, and a model has values of its own at
the borders of its sites at any size. Where it runs on a corner of its inputs, though it declares a
bigger size, it is asked there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import Struct
from onnx import ModelProto

from graphfix.errors import EngineFailed
from graphfix.protos import copied
from graphfix.proving.inputs.maker import required_inputs
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.whole.interface import Interface

# Sides from `_FROM` on become `_SIDE`: networks halve sides five times or six, and join what they
# double again.
_FROM, _SIDE = 512, 128
# Axes before this one are batches and channels.
_SPATIAL = 2


class Corner(Struct, frozen=True):
    """The second of two models on a corner of an input set, on which both are equal.

    Attributes:
        after: The model, for a smaller size.
        engine: It, loaded.
        feed: The corner, as it takes it.
        expected: What the first model computes there.
    """

    after: RunnableModel
    engine: Engine
    feed: Feed
    expected: dict[str, Value]


def corner(
    before: RunnableModel,
    after: RunnableModel,
    feed: Feed,
    interface: Interface,
    differs: Callable[[dict[str, Value], dict[str, Value]], bool],
) -> Corner | None:
    """Return the models on a corner of an input set.

    Args:
        before: The original.
        after: The other model.
        feed: Inputs of the original.
        interface: How the other is fed, and its outputs read.
        differs: Whether outputs, read, differ from those of the original.

    Returns:
        None where no side is long, one of the models does not run, or they differ there.
    """
    sides = long_sides(before.proto)
    if not sides:
        return None
    small = {name: _cut(value, sides.get(name, {})) for name, value in feed.items()}
    shorter = after.of(with_sides(after.proto, sides))
    given = interface.fed(small)
    try:
        expected = before.of(with_sides(before.proto, sides)).open().run(small)
        engine = shorter.open()
        if differs(expected, interface.read(engine.run(given))):
            return None
    except EngineFailed:
        return None
    return Corner(shorter, engine, given, expected)


def long_sides(model: ModelProto) -> dict[str, dict[int, int]]:
    """Return the axes of images that are long: input -> axis -> the size of a corner."""
    found: dict[str, dict[int, int]] = {}
    for info in required_inputs(model.graph):
        dims = info.type.tensor_type.shape.dim
        sides = {a: _SIDE for a, d in enumerate(dims) if a >= _SPATIAL and d.dim_value >= _FROM}
        if sides:
            found[info.name] = sides
    return found


def _cut(value: Value, sides: Mapping[int, int]) -> Value:
    if not isinstance(value, np.ndarray) or not sides:
        return value
    kept = tuple(slice(sides.get(axis)) for axis in range(value.ndim))
    return np.ascontiguousarray(value[kept])


def with_sides(model: ModelProto, sides: Mapping[str, Mapping[int, int]]) -> ModelProto:
    """Return a copy that declares other sizes for its inputs, and none for what is computed."""
    copy = copied(model)
    del copy.graph.value_info[:]
    for info in copy.graph.input:
        for axis, size in sides.get(info.name, {}).items():
            if axis < len(info.type.tensor_type.shape.dim):
                info.type.tensor_type.shape.dim[axis].dim_value = size
    for info in copy.graph.output:
        if info.type.HasField("tensor_type"):
            for dim in info.type.tensor_type.shape.dim:
                dim.Clear()
    return copy
