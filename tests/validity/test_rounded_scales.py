"""Sizes that come of a scale: ONNX's inference multiplies doubles, onnxruntime floats."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from graphfix.ir.model import Model
from graphfix.report import Verdict
from graphfix.validity.examination import examine

# 5 rows times 1.8, which is less than that as a float, are 9 for engines and 8 for onnx.
TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,ROWS,5] x, float[1,1,9,9] z) => (float[1,1,h,w] y)
<float[4] s = {1.0, 1.0, 1.8, 1.8}> {
    u = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",
                nearest_mode = "floor"> (x, , s)
    y = OTHER
}
"""


def model(rows: str, other: str = "Add (u, z)") -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT.replace("ROWS", rows).replace("OTHER", other))


def test_a_size_that_inference_rounds_differently_is_no_contradiction() -> None:
    found = examine(Model(model("5")))
    assert (found.inference, found.complaints) == ("", ())


def test_what_else_is_wrong_after_it_is_reported() -> None:
    wrong = "MatMul (w, w)"
    proto = model("5", "Add (u, z) w = Constant <value = float[2,3] {1,2,3,4,5,6}> () v = " + wrong)
    found = examine(Model(proto))
    assert "Incompatible dimensions" in found.inference
    assert [c.node.op for c in found.complaints if c.node is not None] == ["MatMul"]


@pytest.mark.parametrize("rows", ["5", "H"])
def test_such_a_model_is_compared_whole_and_blames_no_pass(rows: str) -> None:
    result = graphfix.run(Model(model(rows)), "trt8", shapes={"x": (1, 1, 5, 5)})
    assert result.report.verification.status is Verdict.EQUAL
