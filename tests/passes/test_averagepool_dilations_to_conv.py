"""averagepool-dilations-to-conv: sums over gaps, divided by what counts."""

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import written

PASS = "averagepool-dilations-to-conv"


@pytest.mark.parametrize("opset", [19, 21])
@pytest.mark.parametrize("included", [0, 1])
@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize(
    ("shape", "attributes", "output"),
    [
        ("1, 2, 9", "kernel_shape = [3], dilations = [2], strides = [2], pads = [1, 1]", "1, 2, a"),
        (
            "2, 3, 7, 6",
            "kernel_shape = [2, 2], dilations = [2, 3], pads = [1, 0, 1, 1]",
            "2, 3, a, b",
        ),
        ("1, 1, 5, 5, 5", "kernel_shape = [2, 2, 2], dilations = [2, 2, 2]", "1, 1, a, b, c"),
    ],
)
def test_like_the_standard(
    shape: str, attributes: str, output: str, included: int, ceil: int, opset: int
) -> None:
    if ceil and opset < 21:
        pytest.skip("the sizes of a result with ceil_mode were mended in later opsets")
    text = written(
        f"@y = AveragePool <{attributes}, count_include_pad = {included}, ceil_mode = {ceil}> (x)",
        f"float[{shape}] x",
        f"float[{output}]",
        opset=opset,
    )
    size = [int(n) for n in shape.split(",")]
    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    model = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text))
    assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-4, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(0, 1))
def test_any_window(kernel: int, gap: int, stride: int, pad: int) -> None:
    pad = min(pad, kernel - 1)
    size = (9 + 2 * pad - (kernel - 1) * gap - 1) // stride + 1
    text = written(
        f"@y = AveragePool <kernel_shape = [{kernel}], dilations = [{gap}], strides = [{stride}], "
        f"pads = [{pad}, {pad}]> (x)",
        "float[1, 1, 9] x",
        f"float[1, 1, {size}]",
        opset=19,
    )
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 9)
    if gap == 1 and not pad:
        assert_refused(PASS, text, "there must be dilations or pads")
    else:
        assert_rewrite(PASS, text, feeds=[{"x": x}], rtol=1e-5, atol=1e-5)
