"""A site whose axes are shorter where what it does is the same along them.

Such an axis gets a name in the place of its size, and a few odd sizes that differ from each other
and from all others of the site. One axis at a time is long as well: past 255 and 32,767, where
numbers of 8 and 16 bits end, and past the integers that the site itself has, such as blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx
from msgspec import Struct

from graphfix.ir.protos import all_nodes, copied, required_inputs
from graphfix.proving.sites.axes import Axis
from graphfix.proving.sites.following import input_axes
from graphfix.proving.values.kinds import Feed

# Sites whose inputs have no more elements together are not worth a look.
FEW_ELEMENTS = 4096
# About so many elements an input gets.
_WANTED = 2048
_LEAST = 5
# Past the ends of integers of 8 and of 16 bits, and of their half.
_PAST = (259, 32771, 65539)
_MOST_LONG = 3
_MOST_ELEMENTS = 2**20
# The values of a site that may stand for blocks or tiles.
_BLOCKS = range(16, 2**16)
_MOST_NUMBERS = 16


class Shorter(Struct, frozen=True):
    """A site with shorter axes.

    Attributes:
        before: What was removed, with names in the place of the sizes that are free.
        after: What was added, in the same way.
        sizes: Sizes by name, one set for each sample.
        long: Sets in which one axis is long.
        names: Input -> axis -> name.
        together: The names of axes whose places windows see together.
        forms: What the sizes of each axis have to be like: the least, what they leave the same
            remainder by, and that.
    """

    before: onnx.ModelProto
    after: onnx.ModelProto
    sizes: tuple[dict[str, int], ...]
    long: tuple[dict[str, int], ...]
    names: dict[str, dict[int, str]]
    together: frozenset[str]
    forms: tuple[tuple[int, int, int], ...]

    def elements(self) -> int:
        """Return how many elements the inputs of the first sample have."""
        return _elements(self.before, self.sizes[0])

    def has_room(self, feed: Feed) -> bool:
        """Say whether inputs are long enough to be cut: places alone may be taken twice."""
        return all(
            value.shape[axis] >= (self.sizes[0][symbol] if symbol in self.together else 1)
            for name, axes in self.names.items()
            if isinstance(value := feed.get(name), np.ndarray)
            for axis, symbol in axes.items()
        )

    def cut(self, feed: Feed) -> Feed:
        """Return inputs of the whole size cut to the sizes of the first sample."""
        result = dict(feed)
        for name, axes in self.names.items():
            value = result.get(name)
            if isinstance(value, np.ndarray):
                for axis, symbol in axes.items():
                    size = self.sizes[0][symbol]
                    last = size - 1 if symbol in self.together else value.shape[axis] - 1
                    places = np.linspace(0, last, size).round().astype(np.int64)
                    value = value.take(places, axis=axis)
                result[name] = np.ascontiguousarray(value)
        return result

    def stretched(self, feed: Feed, whole: onnx.ModelProto) -> Feed:
        """Return inputs of shorter axes repeated to the sizes that the inputs of `whole` have."""
        result = dict(feed)
        dims = {info.name: info.type.tensor_type.shape.dim for info in whole.graph.input}
        for name, axes in self.names.items():
            value = result.get(name)
            if isinstance(value, np.ndarray):
                for axis in axes:
                    places = np.arange(dims[name][axis].dim_value) % value.shape[axis]
                    value = value.take(places, axis=axis)
                result[name] = value
        return result


def shorter(before: onnx.ModelProto, after: onnx.ModelProto) -> Shorter | None:
    """Return a site with shorter axes; None where there are none, or they are short enough.

    Args:
        before: The site as it was, see `graphfix.proving.sites.cutting`.
        after: The site as it is.
    """
    if before.functions or after.functions or _elements(before, {}) <= FEW_ELEMENTS:
        return None
    axes = input_axes(before, after)
    roots: dict[int, Axis] = {}
    taken: set[int] = set()
    for dims in axes.values():
        for dim in dims:
            if isinstance(dim, int):
                continue
            root = dim.root()
            if root.bound or root.size is None:
                taken.add(root.size or 0)
            else:
                roots[id(root)] = root
    roots = {key: root for key, root in roots.items() if _most(root) is not None}
    if not roots:
        return None
    symbols = {key: f"cut{number}" for number, key in enumerate(roots)}
    names = {
        name: found
        for name, dims in axes.items()
        if (
            found := {
                place: symbols[id(dim.root())]
                for place, dim in enumerate(dims)
                if isinstance(dim, Axis) and id(dim.root()) in symbols
            }
        )
    }
    named = {symbols[key]: root for key, root in roots.items()}
    sides = [_renamed(model, names) for model in (before, after)]
    wanted = _wanted(sides[0], named)
    first = _chosen(named, wanted, taken)
    second = _chosen(named, wanted, taken | set(first.values()))
    together = frozenset(name for name, root in named.items() if root.least > 1 or root.step > 1)
    if _elements(sides[0], first) >= _elements(before, {}):
        return None
    long = tuple(_long(sides[0], named, _numbers(before, after), taken))
    forms = tuple((r.least, r.step, (r.size or 0) % r.step) for r in named.values())
    return Shorter(sides[0], sides[1], (first, second), long, names, together, forms)


def _most(root: Axis) -> int | None:
    """Return the least size that an axis may have; None where that is its own, or nearly so."""
    least = _fitting(root, max(_LEAST, root.least), set())
    return least if root.size is not None and 2 * least <= root.size else None


def _fitting(root: Axis, least: int, taken: set[int]) -> int:
    """Return the next size from `least` on that leaves the right remainder and nothing else has."""
    assert root.size is not None
    size = least + (root.size - least) % root.step
    odd = root.step % 2 == 1
    while size < root.size and (size in taken or (odd and size % 2 == 0)):
        size += root.step
    return min(size, root.size)


def _wanted(model: onnx.ModelProto, named: Mapping[str, Axis]) -> int:
    """Return about how long axes have to be for the largest input to have enough elements."""
    best = _LEAST
    for info in required_inputs(model.graph):
        dims = info.type.tensor_type.shape.dim
        free = {dim.dim_param for dim in dims} & named.keys()
        if free:
            rest = math.prod(d.dim_value for d in dims if d.HasField("dim_value"))
            best = max(best, round((_WANTED / max(rest, 1)) ** (1 / len(free))))
    return best


def _chosen(named: Mapping[str, Axis], wanted: int, taken: set[int]) -> dict[str, int]:
    result: dict[str, int] = {}
    for name, root in named.items():
        used = taken | set(result.values())
        result[name] = _fitting(root, max(wanted if root.step == 1 else _LEAST, root.least), used)
    return result


def _long(
    model: onnx.ModelProto, named: Mapping[str, Axis], numbers: Sequence[int], taken: set[int]
) -> Iterator[dict[str, int]]:
    """Yield sizes of which one is long and all others are as short as they can be."""
    name = max(named, key=lambda each: named[each].size or 0)
    root = named[name]
    assert root.size is not None
    targets = [*_PAST, *(number + 1 for number in numbers)]
    lengths = dict.fromkeys(min(target, root.size) for target in targets if target <= root.size)
    for length in list(lengths or {root.size: None})[:_MOST_LONG]:
        others = {each: axis for each, axis in named.items() if each != name}
        sizes = _chosen(others, _LEAST, {*taken, length})
        sizes[name] = _fitting(root, length, set())
        if _elements(model, sizes) <= _MOST_ELEMENTS:
            yield sizes


def _numbers(*models: onnx.ModelProto) -> list[int]:
    """Return the integers of a site that may stand for a block or a tile."""
    found: dict[int, None] = {}
    for model in models:
        for node in all_nodes(model.graph.node):
            for attribute in node.attribute:
                found |= dict.fromkeys([attribute.i, *attribute.ints])
        for tensor in model.graph.initializer:
            small = math.prod(tensor.dims) <= _MOST_NUMBERS
            if small and tensor.data_type == onnx.TensorProto.INT64:
                found |= dict.fromkeys(onnx.numpy_helper.to_array(tensor).reshape(-1).tolist())
    return [number for number in found if number in _BLOCKS]


def _renamed(model: onnx.ModelProto, names: Mapping[str, Mapping[int, str]]) -> onnx.ModelProto:
    copy = copied(model)
    for info in copy.graph.input:
        for axis, symbol in names.get(info.name, {}).items():
            info.type.tensor_type.shape.dim[axis].dim_param = symbol
    return copy


def _elements(model: onnx.ModelProto, sizes: Mapping[str, int]) -> int:
    total = 0
    for info in required_inputs(model.graph):
        if info.type.HasField("tensor_type"):
            dims = info.type.tensor_type.shape.dim
            total += math.prod(
                d.dim_value if d.HasField("dim_value") else sizes.get(d.dim_param, 8) for d in dims
            )
    return total
