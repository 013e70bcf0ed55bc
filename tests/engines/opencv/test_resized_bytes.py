"""What OpenCV makes of halves between bytes that are resized."""

from __future__ import annotations

import numpy as np

import graphfix
from graphfix.report import Verdict
from graphfix.testing import outputs_of, parse

BYTES = (
    "(uint8[1,1,4,5] q) => ({}[1,1,8,10] y) <float s = {{1}}, uint8 z = {{0}},"
    " int64[4] t = {{1,1,8,10}}> {{ d = DequantizeLinear (q, s, z) {} }}"
)
LINEAR = 'r = Resize <mode = "linear"{}> (d, , , t) y = QuantizeLinear (r, s, z)'
ASYMMETRIC = LINEAR.format(', coordinate_transformation_mode = "asymmetric"')


def test_it_is_repaired_and_halves_are_what_they_were() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g ' + BYTES.format("uint8", ASYMMETRIC)
    result = graphfix.run(parse(text), "opencv5.0")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    after = result.model.to_proto()
    assert "Resize" not in {node.op_type for node in after.graph.node}
    q = np.arange(20, dtype=np.uint8).reshape(1, 1, 4, 5)
    found, wanted = (outputs_of(model, {"q": q})["y"] for model in (after, parse(text)))
    np.testing.assert_array_equal(found, wanted)
