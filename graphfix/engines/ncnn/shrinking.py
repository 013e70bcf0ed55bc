"""ncnn: comparisons and choices that pnnx takes as one with others: hardshrink and softshrink.

F_hardshrink.cpp and F_softshrink.cpp of tools/pnnx/src/pass_level2 have three forms of them, as the
exporters of PyTorch write them, in which ncnn needs no layer for a comparison. Nothing but the next
node of the form may read what is between. Nothing else is said of a node in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from graphfix.analysis.memo import kept
from graphfix.ir.views import NodeView, Value

_WITHIN = frozenset({"Abs", "Add", "Greater", "Less", "LessOrEqual", "Mul", "Sign", "Sub", "Where"})
_FAR = 3  # nodes between the first of a form and its last


def is_shrunk(node: NodeView) -> bool:
    """Say whether a node is one of those that become a hardshrink or a softshrink."""
    return node.op in _WITHIN and any(node in _form_at(end) for end in _ends(node))


def _ends(node: NodeView) -> Iterator[NodeView]:
    """Return a node and those that alone read what it gives."""
    yield node
    for _ in range(_FAR):
        y = node.output(0)
        if y is None or y.is_graph_output or len(y.consumers) != 1:
            return
        node = y.consumers[0]
        yield node


@kept
def _form_at(end: NodeView) -> tuple[NodeView, ...]:
    """Return the nodes of the form that ends at a node; none where there is none."""
    if end.op == "Where":
        return _hard(end) or _soft(end)
    return _soft_in_halves(end) if end.op == "Add" else ()


def _hard(end: NodeView) -> tuple[NodeView, ...]:
    """Match Where (LessOrEqual (Abs (x), l), 0, x)."""
    asked = _inner(end.input(0), "LessOrEqual")
    size = None if asked is None else _inner(asked.input(0), "Abs")
    if asked is None or size is None or _number(end.input(1)) != 0:
        return ()
    fits = _are_of(end.input(2), size.input(0)) and _number(asked.input(1)) is not None
    return (size, asked, end) if fits else ()


def _soft(end: NodeView) -> tuple[NodeView, ...]:
    """Match Where (Greater (Abs (x), l), Sub (x, Mul (Sign (x), l)), Mul (x, 0))."""
    asked, less = _inner(end.input(0), "Greater"), _inner(end.input(1), "Sub")
    none = _inner(end.input(2), "Mul")
    size = None if asked is None else _inner(asked.input(0), "Abs")
    step = None if less is None else _inner(less.input(1), "Mul")
    sign = None if step is None else _inner(step.input(0), "Sign")
    if asked is None or size is None or less is None or step is None:
        return ()
    if sign is None or none is None:
        return ()
    limit = _number(asked.input(1))
    x = size.input(0)
    if limit is None or limit != _number(step.input(1)) or _number(none.input(1)) != 0:
        return ()
    fits = all(_are_of(x, value) for value in (sign.input(0), less.input(0), none.input(0)))
    return (size, asked, sign, step, less, none, end) if fits else ()


def _soft_in_halves(end: NodeView) -> tuple[NodeView, ...]:
    """Match Add (Where (x > l, x - l, 0), Where (x < -l, x + l, 0))."""
    found: list[NodeView] = []
    limits: list[float | None] = []
    operands: list[Value | None] = []
    for value, compared, moved in zip(
        end.inputs, ("Greater", "Less"), ("Sub", "Add"), strict=False
    ):
        chosen = _inner(value, "Where")
        asked = None if chosen is None else _inner(chosen.input(0), compared)
        given = None if chosen is None else _inner(chosen.input(1), moved)
        if chosen is None or asked is None or given is None or _number(chosen.input(2)) != 0:
            return ()
        found += [asked, given, chosen]
        limits += [_number(asked.input(1)), _number(given.input(1))]
        operands += [asked.input(0), given.input(0)]
    above, by, below, back = limits
    if above is None or below is None or not above == by == back == -below:
        return ()
    same = all(_are_of(one, two) for one, two in product(operands, repeat=2))
    return (*found, end) if same else ()


def _inner(value: Value | None, op: str) -> NodeView | None:
    """Return the node of an operator that computes a tensor which is read once."""
    maker = None if value is None else value.producer
    if value is None or maker is None or maker.op != op:
        return None
    return maker if len(value.consumers) == 1 and not value.is_graph_output else None


def _are_of(one: Value | None, two: Value | None) -> bool:
    return one is not None and one == two and one.type_name == "float32"


def _number(value: Value | None) -> float | None:
    """Return the number that a constant of one element holds; None where it is none."""
    array = None if value is None or not value.is_constant else value.array()
    return None if array is None or array.size != 1 else float(array.reshape(()))
