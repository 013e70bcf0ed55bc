"""grid-sample-nan-to-corner: -1 for what of a grid is no number."""

import numpy as np
import pytest
from onnx import numpy_helper

import graphfix
from graphfix.report import Verdict
from graphfix.testing import assert_rewrite, outputs_of, parse

PASS = "grid-sample-nan-to-corner"
X = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
GRID = np.array([[[[np.nan, np.nan], [np.nan, 0], [0, np.nan]], [[0.5, 0], [1, 1], [-1, -1]]]])


AFTER = ["IsNaN", "Where", "GridSample"]


def sampled(words: str, kind: str = "float", opset: int = 16) -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[1,1,3,4] x, {kind}[1,H,3,2] q)'
        f" => (float[1,1,H,3] y) {{ y = GridSample {words} (x, q) }}"
    )


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_values(mode: str, padding: str) -> None:
    words = f'<mode = "{mode}", padding_mode = "{padding}", align_corners = 1>'
    feed = {"x": X, "q": GRID.astype(np.float32)}
    assert_rewrite(PASS, sampled(words), feeds=[feed], after=AFTER, rtol=0)


def test_what_is_read_is_the_first_pixel() -> None:
    feed = {"x": X, "q": GRID.astype(np.float32)}
    done = assert_rewrite(PASS, sampled('<mode = "nearest">'), feeds=[feed], after=AFTER, rtol=0)
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_array_equal(found[0, 0, 0], [1, 5, 3])


def test_the_number_is_of_the_type_of_the_grid() -> None:
    result = graphfix.run(parse(sampled('<mode = "linear">', "double", 20)), passes=[PASS])
    where = result.model.to_proto().graph.node[1]
    stored = {tensor.name: tensor for tensor in result.model.to_proto().graph.initializer}
    assert numpy_helper.to_array(stored[where.input[1]]).dtype == np.float64


@pytest.mark.parametrize("target", ["openvino2026.4", "mnn3.6"])
def test_a_stored_number_is_repaired(target: str) -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 16]> g (float[1,1,3,4] x, float[1,2,3,2] q)'
        " => (float[1,1,2,3] y) <float[1,2,1,1] k = {0, nan}>"
        " { t = Add (q, k) y = GridSample (x, t) }"
    )
    result = graphfix.run(parse(text), target)
    assert [f.rule for f in result.report.findings_before] == ["grid-of-nan"]
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    assert not result.report.findings_after
