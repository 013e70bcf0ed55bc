"""A model run with every float rounded to 16 bits, next to itself."""

from __future__ import annotations

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.proving.whole.rounded_model import changed_by_rounding
from graphfix.proving.whole.rounding import Rounding
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 13]> model '


def _found(text: str, head: str = HEAD) -> Rounding:
    return changed_by_rounding(RunnableModel(parse(head + text)), ComparisonOptions())


def test_small_numbers_stay() -> None:
    assert _found("(float[N,3] x) => (float[N,3] y) { y = Tanh (x) }") == Rounding()


def test_the_first_tensor_past_the_range_is_reported() -> None:
    found = _found(
        "(float[N,3] x) => (float[N,3] y) <float[1] c = {60000.0}> "
        "{ a = Abs (x) b = Sum (a, c) d = Mul (b, c) e = Mul (d, c) f = Div (e, c) y = Div (f, c) }"
    )
    assert found.tensor == "d"
    assert 60000.0**2 < found.largest < 60020.0**2
    assert set(found.outputs) == {"y"}


def test_an_output_smaller_than_float16_holds_may_be_zero() -> None:
    small = "(float[N,3] x) => (float[N,3] y) <float[1] c = {1e-30}> { a = Tanh (x) "
    assert _found(small + "y = Mul (a, c) }") == Rounding()
    found = _found(small + "b = Mul (a, c) y = Div (b, b) }")
    assert set(found.outputs) == {"y"}
    found = _found(small.replace("1e-30", "1e-6") + "y = Mul (a, c) }")
    assert set(found.outputs) == {"y"}


def test_subgraphs_are_rounded_too() -> None:
    found = _found(
        "(float[2] x, bool c) => (float[2] y) { y = If (c) <"
        "then_branch = t () => (float[2] u) { k = Constant <value = float[1] {40000.0}> () "
        "s = Add (x, k) u = Sub (s, k) }, "
        "else_branch = e () => (float[2] v) { k = Constant <value = float[1] {40000.0}> () "
        "s = Add (x, k) v = Sub (s, k) }> }"
    )
    assert set(found.outputs) == {"y"}
    assert found.tensor == ""


def test_doubles_are_held_in_16_bits_too() -> None:
    found = _found(
        "(double[2] x) => (double[2] y) { a = Exp (x) b = Exp (a) c = Exp (b) y = Log (c) }"
    )
    assert set(found.outputs) == {"y"}


def test_indices_are_not_judged() -> None:
    """Which of two near numbers is the larger one depends on rounding in any arithmetic."""
    assert (
        _found(
            "(float[2,900] x) => (int64[2,1] y) { a = Tanh (x) y = ArgMax <axis = 1> (a) }"
        ).outputs
        == {}
    )


def test_an_opset_whose_cast_names_types_by_text_is_left_alone() -> None:
    head = '<ir_version: 3, opset_import: ["" : 5]> model '
    assert _found("(float[2] x) => (float[2] y) { a = Exp (x) y = Exp (a) }", head) == Rounding()
