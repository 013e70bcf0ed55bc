"""Sizes that the open dimensions of inputs may be fixed to: an example that the model runs at.

Of images they are what the exporter noted (``imgsz`` of Ultralytics), and otherwise a multiple of
the strides of the model; a size that a name is for is the same for all inputs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from graphfix.ir.graph import Graph, Node, Shape, Variable
from graphfix.ir.model import Model

_CHANNELS = (1, 3, 4)
_SIDE = 224  # of an image, at least
_LARGEST_STRIDE = 256
_FIRST = 8  # the first size of anything else; all are different
_OF_WINDOWS = ("kernel_shape", "strides")  # attributes
_WHOLE = re.compile(r"\d+")


def example_sizes(model: Model, inputs: Sequence[Variable]) -> tuple[tuple[int, ...], ...]:
    """Return a shape for each input whose rank is known: its own sizes, and examples of open ones.

    Args:
        model: The model.
        inputs: Some of its inputs.
    """
    noted = {entry.key: entry.value for entry in model.proto.metadata_props}
    known: dict[int | str, int] = {}  # of a symbol, or of one place where there is none
    found: list[tuple[list[int | str], Shape]] = []
    for place, tensor in enumerate(inputs):
        shape = tensor.shape
        if shape is None:
            continue
        keys = [dim if isinstance(dim, str) else place * _FIRST + a for a, dim in enumerate(shape)]
        sides = _sides(shape)
        stride = _stride(model.graph, tensor) if sides is not None else None
        if sides is not None and stride is not None:
            for axis, size in zip(sides, _image(stride, noted), strict=True):
                known.setdefault(keys[axis], size)
        for axis, dim in enumerate(shape):
            small = sum(size <= _FIRST for size in known.values())
            other = 1 if axis == 0 else max(_FIRST - small + (1 in known.values()), 1)
            if not isinstance(dim, int) and len(summands(str(dim))) == 1:
                known.setdefault(keys[axis], other)
        found.append((keys, shape))
    return tuple(tuple(_size(*each, known) for each in zip(*both, strict=True)) for both in found)


def _size(key: int | str, dim: int | str | None, known: Mapping[int | str, int]) -> int:
    """Return the size of an axis; what a file calls ``past + new`` is the sum of both."""
    if isinstance(dim, int):
        return dim
    if key in known:
        return known[key]
    parts = summands(str(dim))
    return sum(int(part) if part.isdigit() else known.get(part, _FIRST) for part in parts)


def summands(name: str) -> list[str]:
    """Return the parts of a symbol that is named as a sum, ``past + new``; itself for another."""
    return [part.strip() for part in name.split("+")]


def _sides(shape: Shape) -> tuple[int, int] | None:
    """Return the axes of height and width of what may be an image, and leaves one of them open."""
    places = ((1, (2, 3)), (3, (1, 2))) if len(shape) == 4 else ()
    for channels, sides in places:
        if shape[channels] in _CHANNELS and not all(isinstance(shape[a], int) for a in sides):
            return sides
    return None


def _image(stride: int, noted: Mapping[str, str]) -> tuple[int, int]:
    """Return height and width that an image may have.

    Args:
        stride: By how much the network makes it smaller.
        noted: What the exporter wrote into the file.
    """
    sizes = [int(text) for text in _WHOLE.findall(noted.get("imgsz", ""))]
    if len(sizes) in (1, 2) and all(sizes):
        return sizes[0], sizes[-1]
    side = -(-_SIDE // stride) * stride
    return side, side


def _stride(graph: Graph, image: Variable) -> int | None:
    """Return by how much windows make an image smaller, at most; None where no window reads it."""
    found = {id(image): 1}
    is_read = False
    for node in graph.nodes:
        read = [found[id(tensor)] for tensor in node.inputs if id(tensor) in found]
        if read:
            is_read |= any(name in node.attrs for name in _OF_WINDOWS)
            step = max(read) * _step(node)
            found.update((id(tensor), min(step, _LARGEST_STRIDE)) for tensor in node.outputs)
    return max(found.values()) if is_read else None


def _step(node: Node) -> int:
    steps: object = node.attrs.get("strides")
    if not isinstance(steps, list | tuple):  # none, or an attribute of a wrong type
        return 1
    return max((s for s in cast("Sequence[object]", steps) if isinstance(s, int)), default=1)
