"""loop-to-rounds: every loop with a known number of rounds written out."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.shape_models import text

PASS = "loop-to-rounds"
BODY = (
    "<body = b (int64 i, bool ci, {t} a) => (bool co, {t} an, {t} sc) "
    "{{ co = Identity (ci) d = Add (a, a) an = Add (d, x) sc = Neg (an) }}>"
)
TYPES = {"float": np.float32, "int64": np.int64, "double": np.float64}


def model(
    dtype: str = "float", trips: str = "<int64 t = {3}, bool c = {1}>", inputs: str = ""
) -> str:
    body = BODY.format(t=f"{dtype}[N]")
    return (
        f"g ({dtype}[N] x{inputs}) => ({dtype}[N] y, {dtype}[K,N] s) {trips} "
        f"{{ y, s = Loop (t, c, x) {body} }}"
    )


@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_rounds_and_what_they_leave(dtype: str, opset: int) -> None:
    feed = {"x": np.array([1, -2]).astype(TYPES[dtype])}
    done = assert_rewrite(PASS, text(model(dtype), opset), feeds=[feed])
    assert "Loop" not in done.ops
    assert done.ops.count("Neg") == 3
    found = outputs_of(done.after, feed)
    np.testing.assert_array_equal(found["y"], feed["x"] * 15)
    np.testing.assert_array_equal(found["s"], -feed["x"] * np.array([[3], [7], [15]]))
