"""What rules ask of operands: whether a tensor can hold numbers below 0, or 0."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphfix.engines.operands import is_always_positive, is_never_negative
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from tests.engines.cases import model_of


def asked(body: str, question: Callable[[Value | None], bool] = is_never_negative) -> bool:
    graph = (
        "(float[2,3] x) => (float[A,B] y) <float up = {1.5}, float down = {-1.5},"
        f" float two = {{2.0}}, float three = {{3.0}}> {{ {body} y = Neg (a) }}"
    )
    model = Model(model_of(graph))
    (last,) = [node for node in model.graph.nodes if node.op == "Neg"]
    return question(NodeView(last).input(0))


@pytest.mark.parametrize(
    ("body", "never"),
    [
        ("a = Abs (x)", True),
        ("a = Exp (x)", True),
        ("a = Sin (x)", False),
        ("r = Relu (x) a = Add (r, up)", True),
        ("r = Relu (x) a = Add (r, down)", False),
        ("r = Relu (x) a = Sub (r, up)", False),
        ("r = Relu (x) a = Add (r, x)", False),
        ("a = Pow (x, two)", True),
        ("a = Pow (x, three)", False),
        ("r = Sigmoid (x) a = Pow (r, three)", True),
        ("r = Pow (x, two) m = ReduceMean <axes = [1]> (r) a = Mul (m, up)", True),
        ("r = ReduceMean <axes = [1]> (x) a = Mul (r, up)", False),
        ("a = Mul (x, x)", True),
        ("a = Mul (x, up)", False),
        ("r = Abs (x) " + " ".join(f"r{i} = Identity (r{i - 1 if i else ''})" for i in range(20))
         + " a = Identity (r19)", False),  # further up than it looks
    ],
)  # fmt: skip
def test_what_is_never_below_zero(body: str, never: bool) -> None:
    assert asked(body) is never


@pytest.mark.parametrize(
    ("body", "always"),
    [
        ("a = Exp (x)", True),
        ("a = Relu (x)", False),
        ("r = Relu (x) a = Add (r, up)", True),
        ("r = Relu (x) a = Add (r, r)", False),
        ("a = Add (x, up)", False),
        ("a = Max (x, up)", True),
        ("a = Max (x, down)", False),
        ("a = Clip (x, up)", True),
        ("r = Max (x, up) s = Sqrt (r) a = Mul (s, up)", True),
        ("r = Max (x, up) a = Mul (r, x)", False),
        ("r = Sigmoid (x) a = ReduceSum (r)", True),
    ],
)
def test_what_is_always_above_zero(body: str, always: bool) -> None:
    assert asked(body, is_always_positive) is always
