"""values-of-attention-apart: the same products, Max before the values."""

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "values-of-attention-apart"
X = np.arange(-3, 9, dtype=np.float32).reshape(2, 2, 3)
Z = np.arange(12, dtype=np.float32).reshape(2, 3, 2) - 4
BODY = "@y = MatMul (x, z)"


@pytest.mark.parametrize("opset", [8, 13, 17])
@pytest.mark.parametrize("sizes", ["2, 2, 3", "B, N, 3"])
def test_values(sizes: str, opset: int) -> None:
    other = sizes.replace("2, 2, 3", "2, 3, 2").replace("B, N, 3", "B, 3, M")
    text = written(BODY, f"float[{sizes}] x, float[{other}] z", "float[b, n, m]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X, "z": Z}], after=["Max", "MatMul"])
    np.testing.assert_allclose(outputs_of(done.after, {"x": X, "z": Z})["y"], X @ Z)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    text = written(BODY, "float[2, 2, 3] x, float[2, 3, 2] z", "float[2, 2, 2]", place=place)
    feed = {"x": X, "z": Z} | ({"c": np.array(True)} if place == "branch" else {})
    assert_rewrite(PASS, text, feeds=[feed])


def test_split_heads_are_repaired_for_rknn() -> None:
    weights = ", ".join(str(i % 7 - 3) for i in range(48))
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (float[1,3,4] x) => (float[1,3,4] y)'
        f" <float[4,12] w = {{{weights}}}, int64[4] h = {{1, 3, 2, 2}}, int64[3] s = {{1, 3, 4}}>"
        " { m = MatMul (x, w) a, b, c = Split <axis = 2, num_outputs = 3> (m) ah = Reshape (a, h)"
        " bh = Reshape (b, h) ch = Reshape (c, h) q = Transpose <perm = [0, 2, 1, 3]> (ah)"
        " k = Transpose <perm = [0, 2, 3, 1]> (bh) v = Transpose <perm = [0, 2, 1, 3]> (ch)"
        " p = MatMul (q, k) o = Softmax (p) r = MatMul (o, v)"
        " t = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (t, s) }"
    )
    assert [f.rule for f in graphfix.check(model, target="rknn2.3")] == ["values-of-split-heads"]
    result = graphfix.run(model, target="rknn2.3")
    assert result.exit_code == 0
    assert "Max" in [node.op for node in result.model.graph.nodes]
