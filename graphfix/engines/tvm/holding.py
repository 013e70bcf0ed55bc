"""How TVM's Relax importer holds a value while it reads a model.

Sizes of inputs are bound to numbers, so the importer computes what is made of them: as lists of
sizes, as single numbers of Python or as constants, which only some operators read. Read in
apache/tvm@5d4dc87213 python/tvm/relax/frontend/onnx/onnx_frontend.py and measured on the wheel
0.27.0.post1 with a model for each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto

from graphfix.analysis.memo import answers_about
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

# What computes with numbers of Python where no operand is a tensor (BinaryBase).
ARITHMETIC = frozenset({
    "Add", "Div", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mod", "Mul", "Pow", "Sub",
})  # fmt: skip
_COUNTS = frozenset({"Compress", "NonMaxSuppression", "NonZero", "Unique"})


class Held(Enum):
    """How the importer holds a value."""

    CONSTANT = auto()
    SIZES = auto()  # a list of sizes
    SIZE = auto()  # one of them, cast or not
    NUMBER = auto()  # what was computed of one: int64, bool or float64, whatever ONNX says
    TENSOR = auto()


class Holding:
    """How the importer holds each value of a model, node by node as it comes to them."""

    def __init__(self, model: Model) -> None:
        """Walk the model."""
        self._held: dict[Value, Held] = {}
        self._named: set[Value] = set()  # some of their sizes are names instead of numbers
        self._special: dict[str, Callable[[NodeView], Held]] = {
            "Cast": self._cast,
            "Concat": self._concat,
            "ConstantOfShape": self._constant_of_shape,
            "Gather": self._gather,
            "Identity": self._identity,
            "Reshape": self._reshape,
            "Shape": self._shape,
            "Slice": self._slice,
            "Squeeze": self._squeeze,
            "Unsqueeze": self._unsqueeze,
        }
        self.nodes = list(_nodes(model))
        for node in self.nodes:
            self._read(node)

    def of(self, value: Value) -> Held:
        """Return how a value is held."""
        return Held.CONSTANT if value.is_constant else self._held.get(value, Held.TENSOR)

    def all_of(self, node: NodeView) -> list[Held]:
        """Return how the inputs of a node are held, those that are left out left out."""
        return [self.of(value) for value in node.inputs if value is not None]

    def is_computed_range(self, node: NodeView) -> bool:
        """Say whether a node is a Range with a bound that is no constant."""
        return node.op == "Range" and set(self.all_of(node)) != {Held.CONSTANT}

    def _read(self, node: NodeView) -> None:
        made = [value for value in node.outputs if value is not None]
        kept = node.op in _COUNTS or self.is_computed_range(node)
        if kept or any(value in self._named for value in node.inputs):
            self._named.update(made)
        if not node.domain and made:
            self._held[made[0]] = self._result(node)

    def _result(self, node: NodeView) -> Held:
        special = self._special.get(node.op)
        if special is not None:
            return special(node)
        operands = set(self.all_of(node))
        if operands == {Held.CONSTANT} and node.op in (*ARITHMETIC, "Equal", "Range", "Where"):
            return Held.CONSTANT
        if node.op in ARITHMETIC:
            numbers = operands <= {Held.CONSTANT, Held.SIZE, Held.NUMBER}
            return Held.NUMBER if numbers else Held.TENSOR
        if node.op in ("Equal", "Where") and operands <= {Held.CONSTANT, Held.SIZES}:
            return Held.CONSTANT if node.op == "Equal" else Held.SIZES
        return Held.TENSOR

    def _list(self, data: Value) -> Held:
        return Held.SIZES if data in self._named else Held.CONSTANT

    def _shape(self, node: NodeView) -> Held:
        return Held.TENSOR if node.need(0).rank is None else Held.SIZES

    def _slice(self, node: NodeView) -> Held:
        data = node.need(0)
        return self._list(data) if self.of(data) is Held.SIZES else Held.TENSOR

    def _cast(self, node: NodeView) -> Held:
        data = node.need(0)
        before = self.of(data)
        if before is Held.SIZES:
            return Held.TENSOR if data in self._named else Held.CONSTANT
        return Held.SIZE if before is Held.NUMBER else before

    def _gather(self, node: NodeView) -> Held:
        if set(self.all_of(node)) == {Held.CONSTANT}:
            return Held.CONSTANT
        index = node.need(1)
        single = index.is_constant and index.rank == 0
        return Held.SIZE if single and self.of(node.need(0)) is Held.SIZES else Held.TENSOR

    def _squeeze(self, node: NodeView) -> Held:
        before = self.of(node.need(0))
        if before is Held.SIZES:
            return Held.SIZE
        return before if before is Held.CONSTANT else Held.TENSOR

    def _unsqueeze(self, node: NodeView) -> Held:
        before = self.of(node.need(0))
        if before in (Held.SIZE, Held.NUMBER):
            return Held.SIZES
        return before if before is Held.CONSTANT else Held.TENSOR

    def _concat(self, node: NodeView) -> Held:
        parts = [part for part in node.inputs if part is not None]
        known = {self.of(part) for part in parts}
        lists = all(part.rank == 1 and part.type_name == "int64" for part in parts)
        if lists and known <= {Held.CONSTANT, Held.SIZES}:
            return Held.SIZES
        return Held.CONSTANT if known == {Held.CONSTANT} else Held.TENSOR

    def _reshape(self, node: NodeView) -> Held:
        data, shape = node.need(0), node.need(1)
        if self.of(data) is Held.SIZES:
            target = shape.array()
            flat = target is not None and target.tolist() == [-1]
            return Held.SIZES if flat else Held.TENSOR
        return Held.CONSTANT if set(self.all_of(node)) == {Held.CONSTANT} else Held.TENSOR

    def _constant_of_shape(self, node: NodeView) -> Held:
        shape = node.need(0)
        known = self.of(shape) in (Held.CONSTANT, Held.SIZES) and shape not in self._named
        return Held.CONSTANT if known and shape.static_shape == (1,) else Held.TENSOR

    def _identity(self, node: NodeView) -> Held:
        return self.of(node.need(0))


def holding_of(model: Model) -> Holding:
    """Return how the importer holds the values of a model, walked once until it is edited."""
    answers = answers_about(model.graph)
    if Holding not in answers:
        answers[Holding] = Holding(model)
    held: Holding = answers[Holding]
    return held


def _nodes(model: Model) -> Iterator[NodeView]:
    for graph in model.graphs():
        yield from map(NodeView, graph.nodes)
