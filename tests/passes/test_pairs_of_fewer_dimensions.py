"""pairs-of-fewer-dimensions: sums of tensors of five dimensions."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite

PASS = "pairs-of-fewer-dimensions"
HEAD = (
    '<ir_version: 8, opset_import: ["" : 17]> g (float[6,2,2,3] a, float[6,2,2,3] b)'
    " => (float[3,2,4,9] y) <int64[1] m = {-1}, int64[1] n = {3}, int64[4] l = {3,2,4,9}> "
    "{ p = Unsqueeze (a, m) q = Unsqueeze (b, n) "
)
RNG = np.random.default_rng(1)
FEED = {name: RNG.standard_normal((6, 2, 2, 3)).astype(np.float32) for name in "ab"}


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
def test_rows_and_columns(op: str) -> None:
    text = HEAD + f"s = {op} (p, q) y = Reshape (s, l) }}"
    done = assert_rewrite(PASS, text, feeds=[FEED])
    assert done.ops == ["Reshape", "Reshape", op, "Reshape"]


def test_refuses_what_is_read_twice_and_what_cannot_be_joined() -> None:
    twice = HEAD + "s = Add (p, q) t = Reshape (s, l) u = Reshape (s, l) y = Add (t, u) }"
    assert_refused(PASS, twice, "nobody else must read s")
    apart = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,1,3,1,2] a, float[1,2,1,3,1] b)'
        " => (float[72] y) <int64[1] l = {72}> { s = Add (a, b) y = Reshape (s, l) }"
    )
    assert_refused(PASS, apart, "4 dimensions at most must be left; 5 are")


def test_refuses_a_reshape_of_another_domain() -> None:
    text = (
        HEAD.replace('["" : 17]', '["" : 17, "own" : 1]').replace(
            "<int64", "<float[6,2,2,3,1] p, int64"
        )
        + "s = Add (p, q) y = Reshape (s, l) }"
    ).replace("Unsqueeze (a", "own.Reshape (a")
    assert_refused(PASS, text, "p must have 4 dimensions at most; it has 5")
