"""loop-to-scan: loops that count, along the numbers of their rounds."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of

PASS = "loop-to-scan"
X = np.arange(12, dtype=np.float32).reshape(3, 4)
H = np.ones(4, np.float32)
BODY = (
    "body = b (int64 i, bool c, float[4] a) => (bool d, float[4] n, float[4] r) "
    "{ d = Identity (c) row = Gather (x, i) n = Add (a, row) r = Mul (n, row) }"
)


def model(count: str, rows: str, body: str = BODY, opset: int = 17, more: str = "") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> '
        f"g (float[{rows},4] x, float[4] h{more}) => (float[4] y, float[K,4] z) "
        f"<bool t = {{1}}, int64 first = {{0}}, int64 three = {{3}}> "
        f"{{ s = Shape (x) m = Gather (s, first) y, z = Loop ({count}, t, h) <{body}> }}"
    )


@pytest.mark.parametrize("opset", [11, 13, 17, 21])
def test_as_many_rounds_as_rows(opset: int) -> None:
    feed = {"x": X, "h": H}
    done = assert_rewrite(PASS, model("m", "N", opset=opset), feeds=[feed])
    assert "Loop" not in done.ops
    assert done.ops.count("If") == 1
    found = outputs_of(done.after, feed)
    sums = H + np.cumsum(X, 0)
    np.testing.assert_array_equal(found["y"], sums[-1])
    np.testing.assert_array_equal(found["z"], sums * X)
