"""What follows from the length of a cache alone: shapes, positions, masks, at a few lengths.

Nothing is run and no weight is loaded: sizes are inferred, and what follows from them is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import ModelProto

from graphfix.analysis.folding.known_values import infer_computed_sizes, know
from graphfix.authoring.registry import shipped_passes
from graphfix.edits.declared_sizes import dims_of
from graphfix.ir.graph import Constant, Graph
from graphfix.ir.model import Model
from graphfix.ir.protos import copied
from graphfix.ir.views import Value
from graphfix.pipeline.model_types import infer_types

Array = np.ndarray[Any, Any]
_LIMIT = 1 << 24  # bytes of a mask
_MOST = 1 << 12  # elements of a stored tensor that is looked at
_ROUNDS = 50


class Reading(Struct, frozen=True):
    """What is known at one length of the past.

    Attributes:
        past: The length.
        values: Of tensors that follow from sizes alone.
        shapes: Of tensors of the main graph; None for what is not known of them.
        kinds: The element types of these.
    """

    past: int
    values: Mapping[str, Array]
    shapes: Mapping[str, tuple[int | None, ...]]
    kinds: Mapping[str, int]


def sized(proto: ModelProto, sizes: Mapping[str, int]) -> ModelProto:
    """Return a copy in which symbols of inputs are numbers, and of outputs nothing is declared."""
    copy = copied(proto)
    for info in copy.graph.input:
        for dim in dims_of(info.type):
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
    for info in copy.graph.output:
        info.type.tensor_type.ClearField("shape")
    copy.graph.ClearField("value_info")
    return copy


def read_at(proto: ModelProto, base_dir: str, past: int, sizes: Mapping[str, int]) -> Reading:
    """Read a model at one length of its caches.

    Raises:
        InvalidModel: It is no model.
    """
    model = Model(sized(proto, sizes), base_dir=base_dir)
    infer_types(model, shipped_passes())
    for _ in range(_ROUNDS):
        if not infer_computed_sizes(model):
            break
        infer_types(model, shipped_passes())
    knowledge = know(model, _LIMIT)
    graph: Graph = model.graph
    values: dict[str, Array] = {}
    shapes: dict[str, tuple[int | None, ...]] = {}
    kinds: dict[str, int] = {}
    for tensor in (
        *graph.inputs,
        *(t for node in graph.nodes for t in (*node.inputs, *node.outputs)),
    ):
        if not tensor.name or tensor.name in shapes:
            continue
        shape = Value(tensor).static_shape
        if tensor.elem_type:
            kinds[tensor.name] = tensor.elem_type
        if tensor.shape is not None:
            shapes[tensor.name] = tuple(d if isinstance(d, int) else None for d in tensor.shape)
        is_weight = isinstance(tensor, Constant) and (shape is None or prod(shape) > _MOST)
        value = None if is_weight else knowledge.full(Value(tensor))
        if value is not None:
            values[tensor.name] = value
            shapes[tensor.name] = value.shape
    return Reading(past, values, shapes, kinds)


class Readings:
    """Readings of one model: two of small lengths, one with which what is new fills a cache.

    Attributes:
        new: How many tokens are new.
        length: How long a cache is to be.
        read: The readings.
        beyond: One where the past alone fills a cache, for tensors that are as long as the past.
    """

    def __init__(self, read: Sequence[Reading], beyond: Reading, new: int, length: int) -> None:
        """Take readings at two lengths and at `length` - `new`, and one at `length`."""
        self.read, self.beyond, self.new, self.length = tuple(read), beyond, new, length

    @cached_property
    def _pasts(self) -> Array:
        return np.array([reading.past for reading in self.read])

    def known(self, name: str) -> list[Array] | None:
        """Return the values of a tensor, None where it does not follow from sizes."""
        found = [reading.values.get(name) for reading in self.read]
        values = [value for value in found if value is not None]
        return values if len(values) == len(found) else None

    def sizes(self, name: str, axis: int) -> list[int | None]:
        """Return the sizes of an axis, which may be counted from the end."""
        found: list[int | None] = []
        for reading in self.read:
            shape = reading.shapes.get(name)
            found.append(None if shape is None or axis >= len(shape) else shape[axis])
        return found

    def rank(self, name: str) -> int | None:
        """Return the rank of a tensor."""
        shape = self.read[0].shapes.get(name)
        return None if shape is None else len(shape)

    def grows(self, name: str) -> list[int]:
        """Return the axes of a tensor that are longer where there is more in the cache."""
        rank = self.rank(name) or 0
        return [axis for axis in range(rank) if len(set(self.sizes(name, axis))) > 1]

    def line(self, values: Sequence[Any]) -> tuple[Array, Array] | None:
        """Return a and b of a + b past, elementwise; None where values are on no line."""
        arrays = [np.asarray(value) for value in values]
        if len({array.shape for array in arrays}) > 1 or arrays[0].dtype.kind not in "iuf":
            return None
        first, second = (array.astype(np.float64) for array in arrays[:2])
        slope = (second - first) / (self._pasts[1] - self._pasts[0])
        begin = first - slope * self._pasts[0]
        fits = all(
            np.array_equal(begin + slope * past, array.astype(np.float64))
            for past, array in zip(self._pasts, arrays, strict=True)
        )
        return (begin, slope) if fits else None

    def as_size(self, values: Sequence[Any]) -> Array | None:
        """Return what sizes are where the cache has a fixed length; None where that is not plain.

        A size is a multiple of the past, or of the past and what is new together, each of which is
        the length of the cache then, or does not depend on the past.
        """
        line = self.line(values)
        if line is None:
            return None
        begin, slope = line
        right = (slope == 0) | (begin == 0) | (begin == slope * self.new)
        if not right.all():
            return None
        return np.where(slope == 0, begin, slope * self.length).astype(np.asarray(values[0]).dtype)
