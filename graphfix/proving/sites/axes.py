"""The axes of the inputs of a site, and what is known of the tensors of one of its sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import onnx
from msgspec import Struct

from graphfix.ir.protos import constant_of_node


class Axis(Struct, eq=False):
    """An axis of an input, or what windows or a factor make of one.

    Attributes:
        size: How long it is in the model; None where no one says.
        bound: Whether it has to keep its size.
        least: How long it has to be at least.
        step: What its size has to leave the same remainder by.
        source: The axis that it was made of; None for one of an input.
        stride: How many places of its source one of its own moves on.
        factor: How many places of its own there are for one of its source's.
        reach: How many places of its source one of its own sees.
        same: The axis that has the same size, where that was found.
    """

    size: int | None
    bound: bool = False
    least: int = 1
    step: int = 1
    source: Axis | None = None
    stride: int = 1
    factor: int = 1
    reach: int = 1
    same: Axis | None = None

    def root(self) -> Axis:
        """Return the axis that stands for all that have the same size."""
        found = self
        while found.same is not None:
            found = found.same
        return found

    def bind(self) -> None:
        """Keep the size of it, and of what it is made of."""
        found: Axis | None = self.root()
        while found is not None:
            found.bound = True
            found = found.source.root() if found.source is not None else None


# A size that is fixed, or an axis.
Dim = int | Axis
Dims = list[Dim]
# What an axis was made of, and how: the same gives the same size.
Made = dict[tuple[object, ...], Axis]


class Unknown(Exception):  # noqa: N818 - an answer, not an error
    """Raised where an operator may mix all axes."""


def fixed() -> Axis:
    """Return an axis that is not to be cut, of a size that no one asks for."""
    return Axis(None, bound=True)


def bind(dims: Sequence[Dim]) -> None:
    """Keep the sizes of axes."""
    for dim in dims:
        if isinstance(dim, Axis):
            dim.bind()


def place_of(axis: int, dims: Sequence[Dim]) -> int:
    """Return the place of an axis that may be counted from the end.

    Raises:
        Unknown: There is no such axis.
    """
    if not -len(dims) <= axis < len(dims):
        raise Unknown
    return axis % len(dims)


def without(dims: Sequence[Dim], places: set[int], *, keep: bool) -> Dims:
    """Return dims of which some are mixed, and are 1 or gone."""
    bind([dims[place] for place in places])
    if keep:
        return [1 if place in places else dim for place, dim in enumerate(dims)]
    return [dim for place, dim in enumerate(dims) if place not in places]


class Side:
    """One side of a site: the dims of its tensors as far as they are known.

    Attributes:
        dims: By the name of the tensor; None where its rank is not known.
        made: The axes that windows and factors made.
    """

    def __init__(self, model: onnx.ModelProto, inputs: Mapping[str, Dims]) -> None:
        """Begin with the inputs and the constants of a model."""
        self.dims: dict[str, Dims | None] = dict(inputs)
        self.made: Made = {}
        self._values: dict[str, onnx.TensorProto] = {}
        for tensor in model.graph.initializer:
            self._store(tensor.name, tensor)

    def constant(self, node: onnx.NodeProto) -> bool:
        """Take down what a Constant node holds; says whether it is one."""
        tensor = constant_of_node(node)
        if tensor is not None:
            self._store(node.output[0], tensor)
        return tensor is not None

    def _store(self, name: str, tensor: onnx.TensorProto) -> None:
        self._values[name] = tensor
        self.dims[name] = list(tensor.dims)

    def dims_of(self, node: onnx.NodeProto, place: int) -> Dims:
        """Return the dims of an input.

        Raises:
            Unknown: They are not known.
        """
        found = self.dims.get(node.input[place]) if place < len(node.input) else None
        if found is None:
            raise Unknown
        return list(found)

    def has(self, node: onnx.NodeProto, place: int) -> bool:
        """Say whether a node has an input."""
        return place < len(node.input) and bool(node.input[place])

    def numbers(self, node: onnx.NodeProto, place: int) -> list[float]:
        """Return the values of an input that is constant.

        Raises:
            Unknown: It is not.
        """
        tensor = self._values.get(node.input[place]) if place < len(node.input) else None
        if tensor is None or tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise Unknown
        return [float(number) for number in onnx.numpy_helper.to_array(tensor).reshape(-1)]

    def only_single(self, node: onnx.NodeProto, *but: int) -> None:
        """Check that all inputs but some have one element.

        Raises:
            Unknown: Another one has more.
        """
        for place, name in enumerate(node.input):
            if place not in but and name and any(dim != 1 for dim in self.dims_of(node, place)):
                raise Unknown

    def join(self, one: Dim, two: Dim) -> Dim:
        """Return the axis of two that have to have one size, neither of which is a fixed 1."""
        if isinstance(one, int) or isinstance(two, int):
            bind([one, two])
            return one
        first, second = one.root(), two.root()
        if first is second:
            return first
        if first.size != second.size or first.source is not None or second.source is not None:
            bind([first, second])
            return first
        second.same = first
        first.least = max(first.least, second.least)
        first.step = math.lcm(first.step, second.step)
        if first.bound or second.bound:
            bind([first])
        return first

    def broadcast(self, shapes: Sequence[Dims]) -> Dims:
        """Return the dims of what inputs are broadcast to."""
        result: Dims = []
        for place in range(1, max(map(len, shapes), default=0) + 1):
            wide = [shape[-place] for shape in shapes if place <= len(shape) and shape[-place] != 1]
            found: Dim = wide[0] if wide else 1
            for dim in wide[1:]:
                found = self.join(found, dim)
            result.insert(0, found)
        return result

    def go_along(self, vector: Dims, dims: Dims, axis: int) -> None:
        """Take a vector, or a single value, along an axis.

        Raises:
            Unknown: It has more axes.
        """
        if all(dim == 1 for dim in vector):
            return
        if len(vector) != 1:
            raise Unknown
        self.join(dims[place_of(axis, dims)], vector[0])


def hand_on(axis: Axis) -> None:
    """Tell the axis that another one was made of what that one needs."""
    if axis.source is None:
        return
    found, source = axis.root(), axis.source.root()
    if found.bound:
        source.bind()
    least = -(-found.least // axis.factor)
    source.least = max(source.least, least * axis.stride + axis.reach)
    source.step = math.lcm(source.step, found.step * axis.stride)
