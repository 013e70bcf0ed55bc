"""OpenVINO: sums and means of quantized tensors over the middle axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix.engines.targets import load_target
from tests.engines.hosted import needs, ran
from tests.engines.openvino.test_rules import NEW, OLD, found

TEXT = (
    "g (float[%s] x) => (float y) <float s = {0.1}, int8 z = {0}, int64[1] a = {1}, int64[1] b = "
    "{2}, int64[2] f = {0, -1}, float c = {2}, int16 w = {0}> { q = QuantizeLinear (x, s, z) "
    "d = DequantizeLinear (q, s, z) %s }"
)
WRONG = [("quantized-middle-axis", "wrong")]
SUM = "y = ReduceSum (r, a)"


@pytest.mark.parametrize(
    ("shape", "then", "expected"),
    [
        ("2, 3, 4", "y = ReduceSum (d, a)", WRONG),
        ("N, 3, 4", "y = ReduceMean <axes = [-2]> (d)", WRONG),
        ("2, 3, 4", "y = ReduceMean <axes = [1, 2]> (d)", WRONG),
        ("2, 3, 4", f"t = Relu (d) u = Mul (t, c) r = Concat <axis = 2> (u, d) {SUM}", WRONG),
        ("2, 3, 4", f"u = DequantizeLinear (q, s, z) r = Add (d, u) {SUM}", []),  # of two scales
        ("2, 3, 4", f"r = Exp (d) {SUM}", []),
        ("2, 3, 4", f"r = Max (d, d) {SUM}", []),
        ("2, 3, 4", f"r = Identity (x) {SUM}", []),
        ("2, 3, 4", f"p = QuantizeLinear (x, s, w) r = DequantizeLinear (p, s, w) {SUM}", []),
        ("1, 3, 4", "y = ReduceSum (d, a)", []),
        ("2, 3, 4", "y = ReduceSum (d, b)", []),
        ("2, 3, 4", "y = ReduceSum (d)", []),
        ("2, 3, 4", "y = ReduceMax <axes = [1]> (d)", []),
        ("2, 3, 4, 5", "y = ReduceSum (d, a)", []),
        ("2, 3", "y = ReduceSum (d, a)", []),
    ],
)
def test_the_middle_of_three_axes(shape: str, then: str, expected: list[tuple[str, str]]) -> None:
    said = found(NEW, TEXT % (shape, then), 17)
    assert [one for one in said if one[0] == "quantized-middle-axis"] == expected
    assert not any(rule == "quantized-middle-axis" for rule, _ in found(OLD, TEXT % (shape, then)))


@needs("openvino")
@pytest.mark.parametrize("then", ["y = ReduceSum (d, a)", f"r = Max (d, d) {SUM}"])
def test_the_engine_does_what_the_rule_says(then: str, tmp_path: Path) -> None:
    if load_target("openvino").name != NEW:
        pytest.skip("of 2026.4")
    text = (TEXT % ("2, 3, 4", then)).replace("(float y)", "(float[2, 1, 4] y)")
    x = np.ones((2, 3, 4), np.float32)
    y = ran(NEW, text, tmp_path, x=x)["y"]
    np.testing.assert_allclose(y[0], 3 * x[0, :1], rtol=1e-6)
    assert np.allclose(y[1], 3) is ("Max" in then)
