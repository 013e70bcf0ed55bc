"""Wrong cells of a pool that nothing reads, and indices that cannot be negative."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

NEW = "opencv5.0"
POOLED = (
    "(float[1,2,9,10] x) => (float[a,b,c,d] y) <int64[1] zero = {{0}}, int64[1] one = {{1}},"
    " int64[1] two = {{2}}, int64[1] three = {{3}}, int64[1] five = {{5}}, int64[1] four = {{4}},"
    " float half = {{0.5}}> {{ p = AveragePool <kernel_shape = [3,3], strides = [2,2],"
    " ceil_mode = 1, count_include_pad = 1> (x) {} }}"
)
FOUND = (
    "(float[3,4] x, int64[3] n) => (float[a,4] y)"
    " <int64[3] c = {{1, 0, 2}}, int64 size = {}, int64 z = {{0}}, int64[1] at = {{0}},"
    " int64[1] last = {{-1}}>"
    " {{ u = Unsqueeze (n, last) l = Less (c, u) b = Cast <to = 7> (l)"
    " s = ReduceSum <keepdims = 0> (b, at) d = Sub (size, s) i = Unsqueeze (d, last)"
    " y = GatherND (x, i) }}"
)
COUNTED = (
    "(float[3,4] x, int64[1] n) => (float[a,4] y) <int64 z = {{0}}, int64 m = {{{}}},"
    " int64[1] last = {{-1}}> {{ o = ConstantOfShape <value = int64[1] {{1}}> (n)"
    " c = CumSum (o, z) d = Add (c, m) i = Unsqueeze (d, last) y = GatherND (x, i) }}"
)


def sliced(of: str, to: str, starts: str = "zero") -> str:
    """Return the graph of a pool whose last column, the fifth, is wrong, and what is read of it."""
    body = f"q = Mul (p, half) r = Abs (q) y = Slice (r, {starts}, {to}, {of}, one)"
    return POOLED.format(body)


@pytest.mark.parametrize(
    "graph",
    [
        POOLED.format("y = Abs (p)"),
        sliced("three", "five"),
        sliced("two", "one"),
        sliced("three", "five", "one"),
        POOLED.format(
            "s = Slice (p, zero, four, three, one) y = Add (s, half) w = Relu (p)"
        ).replace("(float[a,b,c,d] y)", "(float[a,b,c,d] y, float[1,2,4,5] w)"),
        POOLED.format(
            "r = ReduceSum <keepdims = 1> (p, three) y = Slice (r, zero, one, three, one)"
        ),
    ],
    ids=["all", "to the end", "another axis", "moved", "adjacent", "summed"],
)
def test_cells_that_are_read_are_reported(graph: str) -> None:
    feature = "attr:AveragePool.count_include_pad"
    assert_yes(Yes(graph, "average-beyond-padding", feature, "wrong", "", NEW, 19))


@pytest.mark.parametrize(
    "graph",
    [
        sliced("three", "four"),
        POOLED.format(
            "s = Slice (p, zero, one, two, one) t = Slice (s, zero, one, three, one) y = Sqrt (t)"
        ),
    ],
    ids=["one slice", "two slices"],
)
def test_cells_that_are_cut_off_are_not(graph: str) -> None:
    assert_no(No(graph, "average-beyond-padding", NEW, 19))


NEGATIVE = ("gather-nd-negative", "form:GatherND.negative-indices")


@pytest.mark.parametrize(
    "graph", [FOUND.format("{3}"), COUNTED.format(-1)], ids=["truths taken off", "counted"]
)
def test_indices_that_cannot_be_negative_are_right(graph: str) -> None:
    assert_no(No(graph, NEGATIVE[0], NEW))


@pytest.mark.parametrize("graph", [FOUND.format("{2}"), COUNTED.format(-2)])
def test_indices_that_may_be_negative_are_unknown(graph: str) -> None:
    assert_unknown(Unknown(graph, NEGATIVE[0], "the indices, which must not be negative", NEW))
