"""expanded-divisor-left-out: a division broadcasts by itself."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite

PASS = "expanded-divisor-left-out"
HEAD = '<ir_version: 8, opset_import: ["" : 11]> g '
NORM = (
    HEAD + "(float[2,3,4] x) => (float[2,3,4] y) <float e = {1e-12}, int64[3] s = {2,3,4}> "
    "{ n = ReduceL2 <axes = [1], keepdims = 1> (x) c = Clip (n, e) d = Expand (c, s)"
    " y = Div (x, d) }"
)


@pytest.mark.parametrize("opset", [11, 13])
def test_a_norm_is_not_expanded(opset: int) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    x[0, :, 0] = 0
    done = assert_rewrite(PASS, NORM.replace("11", str(opset)), feeds=[{"x": x}])
    assert "Expand" not in done.ops


def test_ncnn_gets_it_without() -> None:
    result = graphfix.run(onnx.parser.parse_model(NORM), target="ncnn1.0", verify="full")
    assert (result.exit_code, result.report.findings_after) == (0, ())
