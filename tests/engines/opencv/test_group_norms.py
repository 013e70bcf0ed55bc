"""Group normalizations as PyTorch writes them, which OpenCV 5 joins into a layer of its own."""

from __future__ import annotations

import pytest

from graphfix import run
from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes, model_of

NEW = "opencv5.0"
FEATURE = "form:InstanceNormalization.of-groups"
CONSTANTS = (
    "<float[2] o = {1, 1}, float[2] z = {0, 0}, float[4,1] m = {1, 2, 3, 4}, float h = {2.5},"
    " int64[3] s = {0, 2, -1}, int64[3] t = {0, 4, 9}>"
)
NORMALIZED = "r = Reshape (c, s) i = InstanceNormalization (r, o, z) q = Reshape (i, t)"


def graph(before: str, factor: str, x: str = "float[1,4,9] x", end: str = "y = Add (u, m)") -> str:
    """Return the graph of a group normalization."""
    body = f"{before} {NORMALIZED} u = Mul (q, {factor}) {end}"
    return f"({x}, float[4,4,1] w) => (float[a,b,d] y) {CONSTANTS} {{ {body} }}"


@pytest.mark.parametrize(
    ("before", "factor"),
    [("c = Conv (x, w)", "m"), ("k = Conv (x, w) c = Relu (k)", "m"), ("c = Abs (x)", "h")],
)
def test_what_is_refused(before: str, factor: str) -> None:
    assert_yes(Yes(graph(before, factor), "group-norm-joined", FEATURE, "reject", "1d", NEW))


def test_numbers_of_another_axis_are_wrong() -> None:
    text = graph("c = Abs (x)", "o", "float[1,2,2] x", "y = Add (u, o)")
    text = text.replace("{0, 4, 9}", "{0, 2, 2}")
    assert_yes(Yes(text, "group-norm-joined", FEATURE, "wrong", "", NEW))


@pytest.mark.parametrize(
    ("before", "factor", "end"),
    [
        ("c = Abs (x)", "m", "y = Add (u, m)"),
        ("c = Conv (x, w)", "m", "v = Add (u, m) y = Add (v, q)"),
        ("c = Conv (x, w)", "m", "y = Sub (u, m)"),
    ],
    ids=["right", "read twice", "no sum"],
)
def test_others(before: str, factor: str, end: str) -> None:
    assert_no(No(graph(before, factor, end=end), "group-norm-joined", NEW))


def test_open_sizes_are_unknown() -> None:
    text = graph("c = Abs (x)", "m", "float[1,N,9] x")
    assert_unknown(Unknown(text, "group-norm-joined", "the shape of c", NEW))


@pytest.mark.parametrize("before", ["c = Conv (x, w)", "k = Conv (x, w) c = Relu (k)"])
def test_it_is_written_out(before: str) -> None:
    result = run(model_of(graph(before, "m")), NEW)
    assert result.exit_code == 0
    assert result.model is not None
    operators = {node.op_type for node in result.model.to_proto().graph.node}
    assert "InstanceNormalization" not in operators
    assert "ReduceMean" in operators
