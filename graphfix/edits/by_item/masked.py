"""The walk over a model whose rows are filled up to a fixed number: where a mask makes it right.

The rows that count come first. What computes each row from itself, or from those before it, needs
nothing; what adds rows up, picks the largest or slides windows over them is right where those that
only fill are put to a number that changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from onnx import NodeProto

from graphfix.edits.by_item.known import FIXED, Known, Operation
from graphfix.edits.by_item.linear import Linear, UndecidedError
from graphfix.edits.by_item.numbers import computed
from graphfix.edits.by_item.walk import Doubt, Walk
from graphfix.edits.known_tensors import nodes_in_use
from graphfix.ir.protos import normal_domain

_LOW, _HIGH = float("-inf"), float("inf")
# Reductions -> what changes nothing in them, and from which opset on the axes are an input.
_SUMS = {"ReduceL1": 18, "ReduceL2": 18, "ReduceSum": 13, "ReduceSumSquare": 18}
_ENDS = {"ReduceMax": _LOW, "ReduceMin": _HIGH}


@dataclass(frozen=True, slots=True)
class Mask:
    """An input of a node that is to be masked.

    Attributes:
        output: The first output of the node.
        place: Of the input.
        after: How many axes come after that of the rows.
        each: How many places along it belong to one row.
        neutral: What those that only fill become.
    """

    output: str
    place: int
    after: int
    each: int
    neutral: float


@dataclass
class MaskedWalk(Walk):
    """Walks over a model some of whose tensors have rows along an axis.

    Attributes:
        masks: What has to be masked.
    """

    masks: list[Mask] = field(default_factory=list[Mask])

    def rows(self, outputs: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """Return the axis of rows of the outputs that have some, and the places of one row.

        Raises:
            RowsMixedError: It is not shown that a node leaves rows apart.
        """
        self._begin()
        nodes = nodes_in_use(self.proto)
        makers = {name: node for node in nodes for name in node.output}
        for node in nodes:
            self._visit(node)
        found: dict[str, tuple[int, int]] = {}
        for name in outputs:
            known = self._known.get(name)
            if name in self._doubts or known is None:
                raise RowsMixedError(
                    self._doubts.get(name) or Doubt(makers[name], "is unknown", ())
                )
            if known.axis is not None:
                size = self.shapes[name][known.axis]
                assert isinstance(size, int), "each step has checked it"
                found[name] = known.axis, size // self.count
            elif not known.fixed:
                raise RowsMixedError(Doubt(makers[name], "outputs the number of rows", ()))
        return found

    def _results(self, node: NodeProto, read: Sequence[str]) -> Iterable[Known | None]:
        try:
            return super()._results(node, read)
        except UndecidedError:
            rule = None if normal_domain(node.domain) else node.op_type
            if any(self._known.get(name) is None for name in read):
                raise
            try:
                found = self._masked(rule, self._operation(node))
            except UndecidedError:
                found = None
            if found is None:
                raise
            return [found] * len(node.output)

    def _numbers(self, node: NodeProto) -> Known | None:
        """Return integers that hold without rows too: others are followed from one item on."""
        found = super()._numbers(node)
        if found is None or found.numbers is None or node.op_type in ("Shape", "Size"):
            return found
        operation = self._operation(node)
        none = [_without_rows(known) for known in operation.inputs]
        then = computed(replace(operation, inputs=none))
        if then is None or any(
            a.base != b.base for a, b in zip(found.numbers.flat, then.flat, strict=True)
        ):
            raise UndecidedError("gives another number where there are no rows")
        return found

    def _masked(self, op: str | None, operation: Operation) -> Known | None:
        """Return what is known of a result once its inputs are masked, if anything."""
        first = operation.known(0).axis if operation.inputs else None
        if op == "MatMul":
            ranks, second = (operation.rank(0), operation.rank(1)), operation.known(1).axis
            if min(ranks) < 2 or first != ranks[0] - 1 or second != ranks[1] - 2:
                return None
            self._mask(operation, 0, 0.0)
            self._mask(operation, 1, 0.0)
            return FIXED
        if first is None:
            return None
        operation.need_fixed_but(0)
        rank = operation.rank(0)
        if op in _SUMS or op in _ENDS:
            axes = operation.axes(1, rank, _SUMS.get(op, 18))
            if axes is not None and first not in axes:
                return None
            self._mask(operation, 0, _ENDS.get(op, 0.0))
            return FIXED
        if op == "Softmax" and operation.opset >= 13:
            self._mask(operation, 0, _LOW)
            return Known(first)
        if op == "CumSum" and operation.integers(1)[0] % rank == first:
            return None if operation.attribute("reverse", 0) else Known(first)
        if op in ("Conv", "ConvTranspose") and first >= 2 and self._slides(op, operation, first):
            self._mask(operation, 0, 0.0)
            return Known(first)
        return None

    def _slides(self, op: str, operation: Operation, axis: int) -> bool:
        """Say whether windows give as many places for each row, as zeros around them would."""
        kernel = operation.shapes[1]
        size = kernel[axis] if kernel is not None else None
        if not isinstance(size, int) or operation.attribute("auto_pad", "NOTSET") != "NOTSET":
            return False
        at, spatial = axis - 2, operation.rank(0) - 2
        pads = operation.attribute("pads", [0] * 2 * spatial)
        stride = operation.attribute("strides", [1] * spatial)[at]
        reach = operation.attribute("dilations", [1] * spatial)[at] * (size - 1)
        around = pads[at] + pads[at + spatial]
        if op == "Conv":
            return bool(stride == 1 and around == reach)
        if operation.attribute("output_shape", None):
            return False
        more = operation.attribute("output_padding", [0] * spatial)[at]
        return bool(more + reach + 1 - around == stride)

    def _mask(self, operation: Operation, place: int, neutral: float) -> None:
        axis = operation.known(place).axis or 0
        after = operation.rank(place) - axis - 1
        each = operation.sizes(place)[axis].slope
        self.masks.append(Mask(operation.node.output[0], place, after, each, neutral))


def _without_rows(known: Known | None) -> Known | None:
    """Return what is known of an input where there are no rows."""
    if known is None or known.numbers is None:
        return known
    numbers = known.numbers.copy()
    for place, each in enumerate(numbers.flat):
        numbers.flat[place] = Linear(0, each.base)
    return replace(known, numbers=numbers)


class RowsMixedError(Exception):
    """It is not shown that a node leaves rows apart.

    Attributes:
        doubt: The node, and what it does.
    """

    def __init__(self, doubt: Doubt) -> None:
        """Name the node."""
        super().__init__(str(doubt))
        self.doubt = doubt
