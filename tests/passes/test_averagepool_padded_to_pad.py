"""averagepool-padded-to-pad: the padding in a node of its own."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "averagepool-padded-to-pad"
X = np.random.default_rng(0).standard_normal((1, 2, 5, 6, 4)).astype(np.float32)
POOL = (
    "@y = AveragePool <kernel_shape = [3, 2, 2], strides = [2, 2, 1], pads = [1,1,1,1,0,1]{}> (x)"
)


@pytest.mark.parametrize("opset", [7, 11, 19, 22])
@pytest.mark.parametrize("counted", [0, 1])
def test_values(opset: int, counted: int) -> None:
    body = POOL.format(f", count_include_pad = {counted}")
    model = written(body, "float[N,2,5,6,4] x", "float[N,2,3,3,5]", opset=opset)
    after = ["Pad", "AveragePool", *(["Mul"] if not counted else [])]
    assert_rewrite(PASS, model, feeds=[{"x": X}], after=after, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("counted", [0, 1])
@pytest.mark.parametrize("pads", ["0, 0, 0, 0", "1, 1, 1, 1", "1, 0, 0, 1"])
def test_windows_that_reach_beyond_the_end(counted: int, pads: str) -> None:
    words = f"kernel_shape = [3, 3], strides = [2, 2], pads = [{pads}], ceil_mode = 1"
    body = f"@y = AveragePool <{words}, count_include_pad = {counted}> (x)"
    x = np.random.default_rng(1).standard_normal((1, 2, 8, 10)).astype(np.float32)
    model = written(body, "float[N,2,8,10] x", "float[N,2,A,B]", opset=19)
    assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-5, atol=1e-6)


def test_the_engine_takes_pads_that_differ_at_both_ends() -> None:
    body = (
        "@y = AveragePool <kernel_shape = [3, 3], pads = [2, 0, 0, 2], count_include_pad = 0,"
        " ceil_mode = 1> (x)"
    )
    model = onnx.parser.parse_model(written(body, "float[2,1,5,7] x", "float[2,1,5,7]", opset=11))
    result = graphfix.run(model, target="trt7.2")
    assert result.exit_code == 0
    assert [outcome.pass_id for outcome in result.report.outcomes] == [PASS]
