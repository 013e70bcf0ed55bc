"""Input sets beyond those that a model is mostly run with: telling sizes, overridden values.

Sizes come from `graphfix.proving.inputs.telling_sizes`. An initializer that a caller may override
(IR 4 on) is given other values, and another shape where its declaration leaves that open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import onnx
from msgspec import Struct

from graphfix.analysis.shape_inference import OVERRIDABLE_FROM
from graphfix.errors import EngineFailed
from graphfix.ir.protos import required_inputs
from graphfix.proving.inputs.known_sizes import declared_sizes
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.needs import bytes_made
from graphfix.proving.inputs.room import Room, elements
from graphfix.proving.inputs.telling_sizes import telling_sizes
from graphfix.proving.runners.engine import Engine
from graphfix.proving.values.kinds import Array, Feed, Value
from graphfix.proving.whole.ladder import Ladder
from graphfix.proving.whole.samples import all_finite

# Inputs have no more elements than this together.
_MOST_ELEMENTS = 1 << 22
_MOST_SYMBOLS = 6
_MOST_OVERRIDDEN, _MOST_NUMBERS = 8, 64
_MEMORY = 1 << 30
# No engine computes a byte in less. A run too short to show how it grows is followed by one at
# eight times the size, where a mask of that size by itself is 64 times as large.
_SECONDS_PER_BYTE = 5e-10
# To infer the shapes of more nodes takes longer than many a run, and so it does at smaller sizes.
_MOST_NODES, _LEAST_SIZE = 100, 1 << 10

Drawn = tuple[Feed, dict[str, Value]]


class Further(Struct):
    """Draws what is tried once the usual samples came out equal.

    Attributes:
        model: The original.
        maker: What draws its inputs.
        engine: What runs it.
        attempt: The attempt at sizes with which it ran first.
        seconds: The CPU seconds that may go into telling sizes, and as many into overridden values.
        unread: Inputs of which nothing but the shape is read.
        room: Whether there is memory for the model at some sizes; None where no one says.
    """

    model: onnx.ModelProto
    maker: FeedMaker
    engine: Engine
    attempt: int
    seconds: float
    unread: frozenset[str] = frozenset()
    room: Room | None = None

    def at_telling_sizes(self, graphs: Iterable[onnx.GraphProto]) -> Iterator[Drawn]:
        """Yield input sets in which one dimension has a size at which results may change.

        Args:
            graphs: The original and the result, functions inlined.
        """
        names = self.maker.free_sizes()[:_MOST_SYMBOLS]
        sizes = telling_sizes(graphs) if names else []
        for name in names if sizes else ():
            seconds, doubtful = self.seconds / len(names), _LEAST_SIZE
            ladder = Ladder(seconds, _MEMORY)
            for size, is_rung in ladder.climb(sizes):
                edge = self._edge(name, size)
                if edge is not None and size >= doubtful:
                    if self._takes_longer(edge, seconds):
                        break
                    doubtful = 2 * size
                drawn = None if edge is None else self._run(self._drawn(edge))
                ladder.ran()
                if drawn is not None and not is_rung:
                    yield drawn

    def _edge(self, name: str, size: int) -> dict[str, int] | None:
        """Return the size, alone or with all others 1; None where inputs are too big to make."""
        alone = {name: size}
        for edge in (alone, dict.fromkeys(self.maker.free_sizes(), 1) | alone):
            shapes = self.maker.shapes(0, self.attempt, edge)
            read = {name: shape for name, shape in shapes.items() if name not in self.unread}
            if elements(read) <= _MOST_ELEMENTS and (self.room is None or self.room.fits(shapes)):
                return edge
        return None

    def _takes_longer(self, edge: dict[str, int], seconds: float) -> bool:
        """Say whether a run surely takes longer at some sizes."""
        if len(self.model.graph.node) > _MOST_NODES:
            return False
        made = bytes_made(self.model, self.maker.shapes(0, self.attempt, edge))
        return made * _SECONDS_PER_BYTE > seconds

    def overridden(self) -> Iterator[Drawn]:
        """Yield input sets with other values of initializers that a caller may override."""
        ladder = Ladder(self.seconds, _MEMORY)
        tried = [*_overrides(self.model)]
        if not tried:
            return
        feed = self._drawn({})
        for number, _ in ladder.climb(range(1, len(tried) + 1)):
            given = dict([tried[number - 1]])
            drawn = None if feed is None else self._run({**feed, **given})
            if drawn is not None:
                yield drawn

    def _drawn(self, edge: dict[str, int]) -> Feed | None:
        try:
            return self.maker.draw(0, self.attempt, edge=edge)
        except (EngineFailed, MemoryError):
            return None

    def _run(self, feed: Feed | None) -> Drawn | None:
        if feed is None:
            return None
        try:
            outputs = self.engine.run(feed)
        except (EngineFailed, MemoryError):
            return None
        return (feed, outputs) if all_finite(outputs) else None


def _overrides(model: onnx.ModelProto) -> Iterator[tuple[str, Array]]:
    """Yield other values for small initializers that a caller may override, one at a time."""
    if model.ir_version < OVERRIDABLE_FROM:
        return
    required = {info.name for info in required_inputs(model.graph)}
    infos = {info.name: info for info in model.graph.input if info.name not in required}
    small = [
        tensor
        for tensor in model.graph.initializer
        if tensor.name in infos
        and tensor.data_location != onnx.TensorProto.EXTERNAL
        and np.prod(tensor.dims) <= _MOST_NUMBERS
    ]
    for tensor in small[:_MOST_OVERRIDDEN]:
        stored = onnx.numpy_helper.to_array(tensor)
        if stored.dtype.isbuiltin != 1 or stored.dtype.kind not in "biuf":
            continue
        sizes = declared_sizes(infos[tensor.name].type)
        for other in _other_values(stored, sizes):
            if not np.array_equal(other, stored):
                yield tensor.name, other


def _other_values(stored: Array, sizes: list[int | str] | None) -> Iterator[Array]:
    """Yield what may be given for an initializer: other values, and other shapes where allowed."""
    if stored.dtype.kind == "b":
        yield np.logical_not(stored)
        return
    wide = stored.astype(np.float64 if stored.dtype.kind == "f" else object)
    for other in (wide + 1, wide - 1, wide * 2, wide * 0, wide * 0 + 1, wide * -1):
        yield _held(other, stored)
    if stored.ndim == 1 and stored.size:
        yield stored[::-1].copy()
        yield np.roll(stored, 1)
        once = np.ones_like(stored)  # of a shape: as many elements, on one axis
        for axis in (0, -1):
            once[axis] = np.prod(stored)
            yield once.copy()
            once[axis] = 1
    if sizes is None or (len(sizes) == 1 and isinstance(sizes[0], str)):
        flat = stored.ravel()
        one = np.ones(1, stored.dtype)
        yield np.concatenate([flat, one])
        yield np.concatenate([one, flat])
        yield np.concatenate([flat, flat])
        yield flat[: max(len(flat) - 1, 0)].copy()
        yield np.prod(flat, keepdims=True).astype(stored.dtype)
    elif any(isinstance(size, str) for size in sizes):
        for axis in (axis for axis, size in enumerate(sizes) if isinstance(size, str)):
            yield np.concatenate([stored, stored], axis=axis)
            yield np.take(stored, range(1), axis=axis) if stored.shape[axis] else stored


def _held(values: Array, like: Array) -> Array:
    if like.dtype.kind in "iu":
        limits = np.iinfo(like.dtype)
        values = np.clip(values, limits.min, limits.max)
    return np.asarray(values).astype(like.dtype)
