"""What is known of a tensor, and a node with what is known of its inputs: what rules ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto

from graphfix.edits.by_item.linear import Linear, UndecidedError
from graphfix.ir.schemas import decode_attribute

Numbers = np.ndarray[Any, Any]  # of Linear

WHOLE = (1 << 31) - 1  # an end of Slice that is after all


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a tensor.

    Attributes:
        axis: The axis along which items lie; None where it is the same whatever the items are.
        numbers: Its integers (booleans as 0 and 1), an array of `Linear`; None where they are not
            known. Never next to an axis.
        constant: Whether nothing that a caller gives decides it.
    """

    axis: int | None = None
    numbers: Numbers | None = None
    constant: bool = False

    @property
    def fixed(self) -> bool:
        """Whether it is the same for every number of items."""
        if self.axis is not None:
            return False
        return self.numbers is None or all(each.fixed for each in self.numbers.flat)


FIXED = Known()


@dataclass(frozen=True)
class Operation:
    """A node, with what is known of what it reads.

    Attributes:
        node: The node.
        opset: The version of its operators.
        inputs: What is known of each input; None for one that is left out.
        shapes: The shape of each input with one number of items; None where the rank is not known.
        out_ranks: The rank of each output, None where it is not known.
        unit: By what a size along the axis of items is divided: the number of items in the shapes.
        value: Gives the value of an input that is constant, None where it is not known.
    """

    node: NodeProto
    opset: int
    inputs: list[Known | None]
    shapes: list[tuple[int | str | None, ...] | None]
    out_ranks: list[int | None]
    unit: int
    value: Callable[[int], Numbers | None]
    attributes: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Decode the attributes."""
        found = {a.name: decode_attribute(a) for a in self.node.attribute if not a.HasField("g")}
        object.__setattr__(self, "attributes", found)

    def has(self, place: int) -> bool:
        """Say whether there is such an input."""
        return place < len(self.inputs) and self.inputs[place] is not None

    def known(self, place: int) -> Known:
        """Return what is known of an input that there has to be."""
        found = self.inputs[place] if place < len(self.inputs) else None
        if found is None:
            raise UndecidedError("has no input there")
        return found

    def rank(self, place: int) -> int:
        """Return the rank of an input."""
        shape = self.shapes[place] if place < len(self.shapes) else None
        if shape is None:
            raise UndecidedError("reads a tensor of a rank that is not known")
        return len(shape)

    def sizes(self, place: int) -> tuple[Linear, ...]:
        """Return the shape of an input."""
        shape, axis = self.shapes[place], self.known(place).axis
        if shape is None:
            raise UndecidedError("reads a tensor of a rank that is not known")
        found: list[Linear] = []
        for at, size in enumerate(shape):
            if at != axis:
                found.append(Linear(0, size if isinstance(size, int) else None))
            elif not isinstance(size, int) or size % self.unit or not size:
                raise UndecidedError("reads items of a size that is not known")
            else:
                found.append(Linear(size // self.unit, 0))
        return tuple(found)

    def attribute(self, name: str, default: Any) -> Any:
        """Return an attribute, or its default."""
        return self.attributes.get(name, default)

    def axis(self, name: str, default: int, rank: int) -> int:
        """Return an attribute that is an axis, counted from the first."""
        axis = int(self.attribute(name, default))
        if not -rank <= axis < rank:
            raise UndecidedError("has an axis that its input has not")
        return axis % rank

    def integers(self, place: int) -> list[int]:
        """Return an input of integers that are known and the same for every number of items."""
        numbers = self.known(place).numbers
        if numbers is not None:
            found = [each.known() for each in numbers.flat]
            if all(each is not None for each in found):
                return [each for each in found if each is not None]
            if any(not each.fixed for each in numbers.flat):
                raise UndecidedError("takes a number that depends on the size")
        value = self.value(place)
        if value is None or value.dtype.kind not in "iub":
            raise UndecidedError("takes a number that is computed")
        return [int(each) for each in value.reshape(-1)]

    def linear(self, place: int) -> list[Linear]:
        """Return an input of integers, each of which may depend on the number of items."""
        numbers = self.known(place).numbers
        if numbers is not None:
            return list(numbers.reshape(-1))
        return [Linear(0, each) for each in self.integers(place)]

    def need_fixed(self, *places: int) -> None:
        """Check that inputs, where there are any, are the same for every number of items."""
        for place in places:
            if self.has(place) and not self.known(place).fixed:
                raise UndecidedError("takes a value there that depends on the items or the size")

    def need_fixed_but(self, *places: int) -> None:
        """Check that all other inputs are the same for every number of items."""
        self.need_fixed(*(at for at in range(len(self.inputs)) if at not in places))

    def axes(self, place: int, rank: int, since: int) -> set[int] | None:
        """Return axes that are an input from an opset on, an attribute before; None without any."""
        if self.opset >= since:
            if not self.has(place):
                return None
            given = self.integers(place)
        else:
            stored = self.attribute("axes", None)
            if stored is None:
                return None
            given = [int(each) for each in stored]
        return {each % rank for each in given}
