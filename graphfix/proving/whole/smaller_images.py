"""Two models on a corner of the images that they take: to ask something of them at little cost.

Whether a change of a constant shows is no question of size, and a model has values of its own at
the borders of its sites at any size. Once it was compared at its own size, other values need not
fill that either. Where it runs on a corner of its inputs, though it declares a bigger size, it is
asked there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from onnx import ModelProto

from graphfix.errors import EngineFailed
from graphfix.ir.protos import copied
from graphfix.proving.inputs.maker import FeedMaker, static_limits
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.whole.interface import Interface
from graphfix.proving.whole.options import ComparisonOptions, long_sides

Differs = Callable[[dict[str, Value], dict[str, Value]], bool]


class Corner(Struct, frozen=True):
    """Two models on a corner of an input set, on which both are equal.

    Attributes:
        before: The first model, for a smaller size.
        original: It, loaded.
        after: The second one, for that size.
        engine: It, loaded.
        feed: The corner, as the second one takes it.
        expected: What the first one computes there.
        cut: The inputs that are shorter.
    """

    before: ModelProto
    original: Engine
    after: RunnableModel
    engine: Engine
    feed: Feed
    expected: dict[str, Value]
    cut: frozenset[str]

    def further(
        self,
        numbers: Sequence[int],
        options: ComparisonOptions,
        interface: Interface,
        differs: Differs,
    ) -> list[dict[str, Value]]:
        """Compare on other corners.

        Args:
            numbers: Those of the samples to draw.
            options: By which inputs are drawn.
            interface: How the second model is fed, and its outputs read.
            differs: Whether outputs, read, differ from those of the original.

        Returns:
            What the first model computes on each; nothing where one of the models does not run
            on one of them, or they differ there.
        """
        maker = FeedMaker(
            self.before,
            options.seed,
            {name: shape for name, shape in options.bindings.items() if name not in self.cut},
            static_limits(self.after.proto),
            dict(options.ranges),
        )
        found: list[dict[str, Value]] = []
        try:
            for number in numbers:
                feed = maker.draw(number)
                found.append(self.original.run(feed))
                if differs(found[-1], interface.read(self.engine.run(interface.fed(feed)))):
                    return []
        except EngineFailed:
            return []
        return found


def corner(
    before: RunnableModel,
    after: RunnableModel,
    feed: Feed,
    interface: Interface,
    differs: Differs,
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
    one, two = (model.of(with_sides(model.proto, sides)) for model in (before, after))
    given = interface.fed(small)
    try:
        original, engine = one.open(), two.open()
        expected = original.run(small)
        if differs(expected, interface.read(engine.run(given))):
            return None
    except EngineFailed:
        return None
    return Corner(one.proto, original, two, engine, given, expected, frozenset(sides))


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
