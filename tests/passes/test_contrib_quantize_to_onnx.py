"""contrib-quantize-to-onnx."""

import numpy as np
import pytest
from onnx import parser

from benchmarks.coverage.contrib.form import const
from graphfix.api import run
from graphfix.testing import outputs_of
from tests.passes.contrib_models import Form, result_of

PASS = "contrib-quantize-to-onnx"


def test_16_bits_are_arithmetic_below_opset_21() -> None:
    x, zero = np.array([[-1, 0.5, 9e9]], np.float32), const(np.uint16(7))
    form = Form("QuantizeLinear", "", [x, const(np.float32(0.25)), zero], [np.uint16])
    assert result_of(PASS, form)[0].tolist() == [[3, 9, 65535]]


PAIR = """
<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[N, 3] x) => (float[N, 3] y)
<float s = {0.25}, uint16 z = {7}, float t = {0.5}, uint16 u = {3}> {
    q = com.microsoft.QuantizeLinear (x, s, z)
    y = com.microsoft.DequantizeLinear (q, t, u)
}
"""
COLUMNS = PAIR.replace(
    "float s = {0.25}, uint16 z = {7}", "float[3] s = {1, 2, 4}, uint16[3] z = {0, 1, 65535}"
)


@pytest.mark.parametrize(
    ("text", "y"),
    [
        (PAIR, [[0, 3, 32766], [-1.5, 1, 32766]]),
        (PAIR.replace('"" : 17', '"" : 21'), [[0, 3, 32766], [-1.5, 1, 32766]]),
        (COLUMNS, [[-1.5, -1, 32766], [-1.5, -1, 32766]]),
    ],
)
def test_a_pair_of_16_bits_needs_none_on_the_way(text: str, y: list[list[float]]) -> None:
    x = {"x": np.array([[-1, 0.375, 9e9], [-9e9, -0.5, 1e5]], np.float32)}
    model = parser.parse_model(text)
    assert outputs_of(model, x)["y"].tolist() == y
    result = run(model, target="trt8.6")
    assert result.report.verification.status == "equal"
    after = result.model.to_proto()
    operators = [node.op_type for node in after.graph.node]
    assert operators == ["Div", "Round", "Add", "Clip", "Sub", "Mul"]
    assert outputs_of(after, x)["y"].tolist() == y
