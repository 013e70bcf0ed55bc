"""What a pattern is made of: expressions that stand for the values of a graph.

The words are those of onnxscript's rewriter (onnxscript/rewriter/_pattern_ir.py: value patterns,
alternatives, commuted operands) where it has them; inner values with other readers are left alone
as its matcher does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from graphfix.authoring.features import operator_key
from graphfix.errors import PassBug
from graphfix.ir.views import Array, Value
from graphfix.operators.table import COMMUTES

Key = tuple[str, str]


class Sought:
    """What is looked for in the place of one value.

    Arithmetic between two of them, and with numbers, stands for the operators of ONNX: ``+ - * /
    **``, ``@`` for MatMul, and the minus sign for Neg.
    """

    __slots__ = ()

    def __add__(self, other: Sought | float) -> Call:
        """Stand for Add."""
        return _call("Add", self, other)

    def __radd__(self, other: float) -> Call:
        """Stand for Add."""
        return _call("Add", other, self)

    def __sub__(self, other: Sought | float) -> Call:
        """Stand for Sub."""
        return _call("Sub", self, other)

    def __rsub__(self, other: float) -> Call:
        """Stand for Sub."""
        return _call("Sub", other, self)

    def __mul__(self, other: Sought | float) -> Call:
        """Stand for Mul."""
        return _call("Mul", self, other)

    def __rmul__(self, other: float) -> Call:
        """Stand for Mul."""
        return _call("Mul", other, self)

    def __truediv__(self, other: Sought | float) -> Call:
        """Stand for Div."""
        return _call("Div", self, other)

    def __rtruediv__(self, other: float) -> Call:
        """Stand for Div."""
        return _call("Div", other, self)

    def __pow__(self, other: Sought | float) -> Call:
        """Stand for Pow."""
        return _call("Pow", self, other)

    def __matmul__(self, other: Sought) -> Call:
        """Stand for MatMul."""
        return _call("MatMul", self, other)

    def __neg__(self) -> Call:
        """Stand for Neg."""
        return _call("Neg", self)


class Named(Sought):
    """Any value; the same one wherever the name is."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """Give it a name."""
        self.name = name


class Checked(Sought):
    """A value that has to be of a kind.

    Attributes:
        inner: What else it has to be.
        kind: ``value`` for any, ``constant``, or ``number`` for a constant of one element.
        holds: What is asked of the value, the array or the number; None for nothing.
        text: What `holds` asks, as a mismatch says it.
    """

    __slots__ = ("holds", "inner", "kind", "text")

    def __init__(
        self, inner: Sought, kind: str, holds: Callable[..., bool] | None, text: str
    ) -> None:
        """Ask more of `inner`."""
        self.inner = inner
        self.kind = kind
        self.holds = holds
        self.text = text


class Number(Sought):
    """A constant of one element that is this number, as closely as its dtype can say it."""

    __slots__ = ("number",)

    def __init__(self, number: float) -> None:
        """Look for `number`."""
        self.number = number


class Call(Sought):
    """An output of a node: operator, operands and attributes.

    Attributes:
        node: What is asked of the node; the outputs of one node share it.
        place: Which output.
    """

    __slots__ = ("node", "place")

    def __init__(self, node: Operation, place: int) -> None:
        """Stand for one output of `node`."""
        self.node = node
        self.place = place


class Operation:
    """A node that is looked for.

    Attributes:
        key: Domain and operator.
        operands: What its inputs have to be; None for one that is omitted.
        attributes: What its attributes have to be; all others have to be as the schema fills them
            in, unless `others` says that they do not matter.
        others: Whether attributes that are not named here do not matter.
        label: The name by which a match gives the node; empty for none.
        shared: Whether its outputs may have other readers: the node stays then.
        commutes: Whether its two operands may be the other way round.
    """

    __slots__ = ("attributes", "commutes", "key", "label", "operands", "others", "shared")

    def __init__(
        self,
        key: Key,
        operands: tuple[Sought | None, ...],
        attributes: Mapping[str, object],
        *,
        others: bool = False,
        label: str = "",
    ) -> None:
        """Look for a node."""
        self.key = key
        self.operands = operands
        self.attributes = attributes
        self.others = others
        self.label = label
        self.shared = False
        self.commutes = not key[0] and key[1] in COMMUTES and len(operands) == 2

    @property
    def name(self) -> str:
        """The operator as messages name it."""
        domain, op = self.key
        return f"{domain}::{op}" if domain else op

    def orders(self) -> Iterator[Sequence[tuple[int, Sought | None]]]:
        """Yield the places of inputs and what is looked for there; what nodes compute first."""
        yield sorted(enumerate(self.operands), key=_late)
        if self.commutes and self.operands[0] is not self.operands[1]:
            yield sorted(enumerate(self.operands[::-1]), key=_late)


def _late(operand: tuple[int, Sought | None]) -> bool:
    return not isinstance(operand[1], Call)


class Either(Sought):
    """One of several; the first that matches."""

    __slots__ = ("choices",)

    def __init__(self, choices: tuple[Sought, ...]) -> None:
        """Look for any of `choices`."""
        self.choices = choices


class Given(Sought):
    """An input that may be omitted; bound where it is given."""

    __slots__ = ("inner",)

    def __init__(self, inner: Sought) -> None:
        """Look for `inner`, or for nothing."""
        self.inner = inner


class Find:
    """Writes down what a pattern looks for; it has a method for every operator of ONNX.

    ``find.ReduceMean(x, axes=[-1])`` is a node of that operator. Keywords are attributes; one that
    the opset at hand takes as an input (``axes``) is found there, and the other way round. What is
    not named has to be as the schema fills it in.
    """

    def __getattr__(self, op: str) -> Callable[..., Call]:
        """Return what stands for operator `op` of the default domain."""
        if op.startswith("_"):
            raise AttributeError(op)

        def sought(*operands: Sought | float | None, **attributes: object) -> Call:
            return _call(op, *operands, **attributes)

        return sought

    def node(
        self,
        op: str,
        *operands: Sought | float | None,
        label: str = "",
        others: bool = False,
        **attributes: object,
    ) -> Call:
        """Look for the first output of a node.

        Args:
            op: ``Op`` or ``domain::Op``.
            operands: What its inputs have to be.
            label: The name by which `Match.called` gives the node.
            others: Whether attributes that ONNX knows and that are not named do not matter.
            attributes: What its attributes have to be.
        """
        wanted = tuple(_operand(operand) for operand in operands)
        return Call(Operation(operator_key(op), wanted, attributes, others=others, label=label), 0)

    def outputs(self, call: Call, count: int) -> tuple[Call, ...]:
        """Return all outputs of the node that `call` is the first output of."""
        return tuple(Call(call.node, place) for place in range(count))

    def value(self, inner: Sought, holds: Callable[[Value], bool], text: str) -> Sought:
        """Ask of a value that `holds` is true of it; `text` says what that is.

        For example ``find.value(x, lambda v: v.rank == 4, "of four dimensions")``.
        """
        return Checked(inner, "value", holds, text)

    def constant(
        self, inner: Sought, holds: Callable[[Array], bool] | None = None, text: str = ""
    ) -> Sought:
        """Ask of a value that it is known without running the model, and `holds` of its array."""
        return Checked(inner, "constant", holds, text)

    def number(
        self, inner: Sought, holds: Callable[[float], bool] | None = None, text: str = ""
    ) -> Sought:
        """Ask of a value that it is a constant of one element, and `holds` of that number.

        It must not give the result dimensions that the other operands lack.
        """
        return Checked(inner, "number", holds, text)

    def either(self, *choices: Sought) -> Sought:
        """Look for one of several; what is bound in the others is not there then."""
        return Either(choices)

    def optional(self, op: str, x: Sought, **attributes: object) -> Sought:
        """Look for a node of one operand, or for that operand itself."""
        return Either((_call(op, x, **attributes), x))

    def given(self, inner: Sought | float) -> Sought:
        """Look for an input that a node may also leave out."""
        return Given(Number(inner) if isinstance(inner, int | float) else inner)

    def shared(self, call: Call) -> Call:
        """Let what a node computes have readers outside of the pattern: the node stays then."""
        call.node.shared = True
        return call


def _call(op: str, *operands: Sought | float | None, **attributes: object) -> Call:
    return Call(Operation(operator_key(op), tuple(_operand(o) for o in operands), attributes), 0)


def _operand(operand: Sought | float | None) -> Sought | None:
    if operand is None or isinstance(operand, Sought):
        return operand
    if isinstance(cast("object", operand), int | float):
        return Number(operand)
    raise PassBug(f"a pattern is made of what find gives, of numbers and None, not {operand!r}")


def within(sought: Sought) -> Iterator[Sought]:
    """Yield an expression and all that it is made of; what is used twice comes twice."""
    yield sought
    inner: tuple[object, ...] = ()
    if isinstance(sought, Checked | Given):
        inner = (sought.inner,)
    elif isinstance(sought, Either):
        inner = sought.choices
    elif isinstance(sought, Call):
        inner = (*sought.node.operands, *sought.node.attributes.values())
    for part in inner:
        if isinstance(part, Sought):
            yield from within(part)


def calls_of(sought: Sought) -> list[Call]:
    """Return the outputs of nodes that an expression may be, through its alternatives."""
    if isinstance(sought, Either):
        return [call for choice in sought.choices for call in calls_of(choice)]
    return [sought] if isinstance(sought, Call) else []
