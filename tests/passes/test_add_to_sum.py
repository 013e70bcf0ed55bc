"""add-to-sum: the same sum of two tensors."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "add-to-sum"
X = np.array([[1.5, -2.25, np.inf], [1e-30, np.nan, 4.0]], np.float32)
Z = np.array([[0.5, 2.25, -1.0]], np.float32)


@pytest.mark.parametrize("opset", [8, 13, 17])
@pytest.mark.parametrize("sizes", ["2, 3", "N, 3"])
def test_values(sizes: str, opset: int) -> None:
    text = written("@y = Add (x, z)", f"float[{sizes}] x, float[1, 3] z", "float[n, 3]",
                   opset=opset)  # fmt: skip
    done = assert_rewrite(PASS, text, feeds=[{"x": X, "z": Z}], after=["Sum"])
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X, "z": Z})["y"], X + Z)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    text = written("@y = Add (x, x)", "float[2, 3] x", "float[2, 3]", place=place)
    feed = {"x": X} | ({"c": np.array(True)} if place == "branch" else {})
    assert_rewrite(PASS, text, feeds=[feed])


def test_a_sum_of_a_concat_within_a_conv_is_repaired_for_opencv_4() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,2,2] x, float[1,1,2,2] z)'
        " => (float[1,2,2,2] y) <float[2,2,1,1] w = {1, 2, 3, 4}> { a = Relu (z) b = Abs (z)"
        " k = Concat <axis = 1> (a, b) d = Conv <kernel_shape = [1,1]> (x, w) y = Add (d, k) }"
    )
    result = graphfix.run(model, target="opencv4.10")
    assert result.exit_code == 0
    assert result.model.graph.nodes[-1].op == "Sum"
