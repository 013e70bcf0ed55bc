"""TFLite: an If is a choice element by element where its condition is no scalar."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

T = "tflite1.29"
RULE = "condition-with-an-axis"
FEATURE = "rank:If.cond"


def _choice(one: str, two: str, given: str = "bool[1] c", before: str = "k = Identity (c)") -> str:
    return (
        f"({given}, float[{one}] x, float[{two}] z) => (float[A] y) <int64[0] e = {{}}> {{ {before}"
        " y = If (k) <then_branch = t () => (r) { r = Neg (x) },"
        " else_branch = f () => (q) { q = Exp (z) }> }"
    )


@pytest.mark.parametrize(
    ("graph", "severity"),
    [
        (_choice("N,1", "N,4"), "wrong"),
        (_choice("N", "2,N"), "wrong"),
        (_choice("2,3", "2,4"), "reject"),
        (_choice("N", "N", "bool[1,1] c"), "reject"),
        (_choice("2,3", "2,4", "bool c", "k = Not (c)"), "reject"),
    ],
)
def test_results_of_different_shapes_are_found(graph: str, severity: str) -> None:
    text = "Dimensions must be equal" if severity == "reject" else ""
    assert_yes(Yes(graph, RULE, FEATURE, severity, text, T))


@pytest.mark.parametrize(
    "graph",
    [
        _choice("N,4", "N,4"),
        _choice("2,3", "2,4", before="k = Reshape (c, e)"),
        _choice("2,3", "2,4", "bool c", "h = Reshape (c, e) k = Not (h)"),
    ],
)
def test_a_scalar_or_one_shape_is_right(graph: str) -> None:
    assert_no(No(graph, RULE, T))


def test_sizes_that_are_open_may_differ() -> None:
    missing = "whether both branches give r of one shape"
    assert_unknown(Unknown(_choice("N,4", "M,4"), RULE, missing, T))
