"""dequantize-constant-to-float: constants are dequantized ahead of time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "dequantize-constant-to-float"
SCALE = "@s = Constant <value = float {0.1}> ()\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [10, 13, 19, 21])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
def test_one_scale(dtype: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    zero = "" if dtype == "int32" else f"@z = Constant <value = {dtype} {{3}}> ()\n"
    body = SCALE + zero + f"@q = Constant <value = {dtype}[3] {{0, 7, 100}}> ()\n"
    body += f"@d = DequantizeLinear (@q, @s{', @z' if zero else ''})\n@y = Add (x, @d)"
    feed = {"x": np.zeros(3, np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, written(body, "float[3] x", "float[3]", opset=opset, place=place),
                          feeds=[feed])  # fmt: skip
    wanted = (np.array([0, 7, 100]) - (3 if zero else 0)).astype(np.float32) * np.float32(0.1)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


def test_refusals() -> None:
    body = SCALE + "@y = DequantizeLinear (q, @s)"
    assert_refused(
        PASS,
        written(body, "int8[3] q", "float[3]"),
        "the quantized tensor must be a constant; it is computed at run time",
    )
    body = "@q = Constant <value = int8[2] {1, 2}> ()\n@y = DequantizeLinear (@q, s)"
    assert_refused(PASS, written(body, "float s", "float[2]"), "the scale of DequantizeLinear")
    body = SCALE + "@q = Constant <value = int8[4] {1, 2, 3, 4}> ()\n@y = DequantizeLinear (@q, @s)"
    done = run_pass(PASS, written(body, "float x", "float[4]"), options={"max_elements": 3})
    assert done.reasons == ["q must have at most max_elements elements; it has more"]


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=6), st.integers(-128, 127))
def test_any_bytes(values: list[int], zero: int) -> None:
    listed = ", ".join(map(str, values))
    body = SCALE + f"@z = Constant <value = int8 {{{zero}}}> ()\n"
    body += f"@q = Constant <value = int8[{len(values)}] {{{listed}}}> ()\n"
    body += "@y = DequantizeLinear (@q, @s, @z)"
    text = written(body, "float x", f"float[{len(values)}]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(0, np.float32)}])
