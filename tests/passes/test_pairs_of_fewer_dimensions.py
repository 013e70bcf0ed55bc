"""pairs-of-fewer-dimensions: sums of tensors of five dimensions."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite

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
