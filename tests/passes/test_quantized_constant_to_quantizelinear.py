"""quantized-constant-to-quantizelinear: constant bytes are quantized where the node is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.engines.cases import check

PASS = "quantized-constant-to-quantizelinear"
FEED: dict[str, Any] = {"x": np.array([5, -128, 127, 0], np.int8)}


def graph(body: str, opset: int = 17, constant: str = "{-128, -1, 0, 127}") -> str:
    return (
        f'<ir_version: 8, opset_import: ["": {opset}]> g (int8[N] x) => (int8[M] y) '
        f"<int8[4] w = {constant}> {{ {body} }}"
    )


SCAN = """
<ir_version: 8, opset_import: ["": 17]>
g (int8[T, 2] x) => (int8[2] last, int8[T, 2] y) <int8[2] start = {3, -4}> {
    last, y = Scan <num_scan_inputs = 1, body = b (int8[2] s, int8[2] i) => (int8[2] t, int8[2] o)
        <int8[2] most = {100, 90}> {
        t = Max (s, i)
        o = Min (t, most)
    }> (start, x)
}
"""


@pytest.mark.parametrize("target", ["trt8.6", "trt10.10", "trt11.1", "trt-rtx1.7"])
def test_the_builder_takes_the_result(target: str) -> None:
    model = parse(SCAN)
    before = {finding.feature for finding in check(model, target) if finding.blocks}
    assert before >= {"dtype:Scan.int8-constant"}
    done = assert_rewrite(PASS, model, feeds=[{"x": np.ones((2, 2), np.int8)}])
    after = {finding.feature for finding in check(done.after, target) if finding.blocks}
    assert not {feature for feature in after if feature.endswith("int8-constant")}


@given(st.lists(st.integers(-128, 127), min_size=4, max_size=4))
def test_any_bytes(numbers: list[int]) -> None:
    text = graph("y = Concat <axis = 0> (x, w)", constant="{" + ", ".join(map(str, numbers)) + "}")
    done = assert_rewrite(PASS, text, feeds=[FEED])
    np.testing.assert_array_equal(outputs_of(done.after, FEED)["y"][4:], numbers)
