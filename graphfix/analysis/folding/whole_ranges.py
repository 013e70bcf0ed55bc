"""Between which integers the elements of an integer tensor lie, as far as the graph tells."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from msgspec import Struct, field

from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import MOVES_FIRST, PLACES

Range = tuple[int, int]
_DEPTH = 64
_NARROW = 2  # bytes: what is no wider has limits that say something


class WholeRanges(Struct):
    """The ranges of the integers of one graph, each asked for once.

    Attributes:
        known: The tensor -> its range, None where none is known; tensors are held by `_held`.
    """

    known: dict[int, Range | None] = field(default_factory=dict[int, "Range | None"])
    _held: list[Value] = field(default_factory=list[Value])

    def of(self, value: Value | None, depth: int = _DEPTH) -> Range | None:
        """Return the least and the largest number that an element may be; None for unknown.

        What would leave the type of the tensor wraps around, and has no range but that of the
        type, which is found for types of up to 16 bits.
        """
        if value is None or depth == 0:
            return None
        key = id(value.tensor)
        if key not in self.known:
            self._held.append(value)
            self.known[key] = None  # a loop of tensors ends here
            self.known[key] = self._found(value, depth - 1)
        return self.known[key]

    def _found(self, value: Value, depth: int) -> Range | None:
        dtype = value.dtype
        if dtype is None or dtype.kind not in "biu":
            return None
        if dtype.kind == "b":
            return (0, 1)
        limits = np.iinfo(dtype)
        whole = (int(limits.min), int(limits.max))
        known = value.array()
        if known is not None:
            return (int(known.min()), int(known.max())) if known.size else (0, 0)
        node = value.producer
        found = None if node is None or node.domain else self._computed(node, value, depth)
        if found is not None and whole[0] <= found[0] and found[1] <= whole[1]:
            return found
        return whole if dtype.itemsize <= _NARROW else None

    def _computed(self, node: NodeView, value: Value, depth: int) -> Range | None:
        place = next((i for i, out in enumerate(node.outputs) if out == value), 0)
        if PLACES.get(node.op) == place:
            return _positions(node)
        if node.op in MOVES_FIRST or node.op == "Cast" or _is_extreme(node):
            return self.of(node.input(0), depth)
        operands = self._operands(node)
        ranges = [self.of(operand, depth) for operand in operands]
        return _joined(node, ranges) if operands else None

    @staticmethod
    def _operands(node: NodeView) -> Sequence[Value | None]:
        if node.op == "Where":
            return node.inputs[1:]
        several = ("Add", "Concat", "Div", "Max", "Min", "Mod", "Mul", "Sub", "Sum")
        if node.op in several:
            return node.inputs
        return node.inputs[:1] if node.op in ("Abs", "Neg", "ReduceSum", "Sign") else ()


def _is_extreme(node: NodeView) -> bool:
    """Say whether the result is one of the elements: that of none is a limit of the type."""
    shape = node.need(0).static_shape if node.op in ("ReduceMax", "ReduceMin") else None
    return shape is not None and 0 not in shape


def _positions(node: NodeView) -> Range | None:
    """Return the range of sizes and positions: they count the elements of what is looked at."""
    shape = node.need(0).static_shape
    return None if shape is None else (0, max(prod(shape), *shape, 0))


def _joined(node: NodeView, ranges: Sequence[Range | None]) -> Range | None:
    known = [each for each in ranges if each is not None]
    if node.op == "Sign":
        return (-1, 1)
    if node.op == "Mod" and known and ranges[1] is not None:
        return _remainder(node, ranges[1])
    if len(known) < len(ranges):
        return None
    lows, highs = [low for low, _ in known], [high for _, high in known]
    if node.op in ("Concat", "Where"):
        return min(lows), max(highs)
    if node.op == "Max":
        return max(lows), max(highs)
    if node.op == "Min":
        return min(lows), min(highs)
    if node.op in ("Add", "Sum"):
        return sum(lows), sum(highs)
    return _arithmetic(node, known)


def _arithmetic(node: NodeView, known: Sequence[Range]) -> Range | None:
    low, high = known[0]
    if node.op == "Neg":
        return -high, -low
    if node.op == "Abs":
        return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if node.op == "Div":  # a quotient is no larger than its dividend
        most = max(abs(low), abs(high))
        return (0 if low >= 0 and known[1][0] >= 0 else -most), most
    if node.op == "ReduceSum":
        return _summed(node, (low, high))
    other = known[1]
    if node.op == "Sub":
        return low - other[1], high - other[0]
    products = [one * two for one in known[0] for two in other]
    return min(products), max(products)


def _summed(node: NodeView, each: Range) -> Range | None:
    """Return the range of a sum of as many numbers as the whole tensor holds, at most."""
    shape = node.need(0).static_shape
    if shape is None:
        return None
    count = prod(shape)
    return min(0, count * each[0]), max(0, count * each[1])


def _remainder(node: NodeView, divisor: Range) -> Range:
    most = max(abs(limit) for limit in divisor) - 1
    low = 0 if divisor[0] > 0 and not node.attr("fmod", 0) else -most
    return low, most
