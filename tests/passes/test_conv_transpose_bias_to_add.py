"""conv-transpose-bias-to-add: the bias behind the product."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_refused, assert_rewrite

PASS = "conv-transpose-bias-to-add"
W = ", ".join(f"{n / 7 - 1:.3f}" for n in range(24))
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
VOLUME = HEAD + (
    "(float[1,1,2,3,2] x) => (float[A,B,C,D,E] y) "
    f"<float[1,3,2,2,2] w = {{{W}}}, float[3] b = {{0.5, -1.0, 2.0}}> "
    "{ y = ConvTranspose <strides = [2, 1, 1]> (x, w, b) }"
)
LINE = HEAD + (
    "(float[1,1,4] x, float[3] b) => (float[A,B,C] y) "
    f"<float[1,3,8] w = {{{W}}}> {{ y = ConvTranspose <pads = [1, 0]> (x, w, b) }}"
)


@pytest.mark.parametrize(
    ("text", "shape", "after"),
    [
        (VOLUME, (1, 1, 2, 3, 2), ["ConvTranspose", "Add"]),
        (LINE, (1, 1, 4), ["ConvTranspose", "Reshape", "Add"]),
    ],
)
def test_values(text: str, shape: tuple[int, ...], after: list[str]) -> None:
    numbers = np.random.default_rng(0)
    feed = {"x": numbers.standard_normal(shape).astype(np.float32)}
    if len(shape) == 3:
        feed["b"] = np.array([1, 2, -3], np.float32)
    assert_rewrite(PASS, text, feeds=[feed], after=after, rtol=1e-5, atol=1e-6)


def test_without_a_bias_there_is_nothing_to_do() -> None:
    assert_refused(PASS, VOLUME.replace("(x, w, b) }", "(x, w) }"), "there must be a bias")


def test_tflite_gets_the_bias_of_volumes_behind_them() -> None:
    model = parser.parse_model(VOLUME)
    found = [f.feature for f in graphfix.check(model, "tflite1.29")]
    assert found == ["form:ConvTranspose.bias", "attr:ConvTranspose.no-kernel_shape"]
    result = graphfix.run(model, "tflite1.29")
    assert (result.exit_code, result.report.findings_after) == (0, ())
