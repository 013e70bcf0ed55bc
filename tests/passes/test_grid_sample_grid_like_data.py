"""grid-sample-grid-like-data: the grid cast to the type of the image."""

import numpy as np
import pytest

import graphfix
from graphfix.report import Accuracy, Verdict
from graphfix.testing import outputs_of, parse

X = np.random.default_rng(0).standard_normal((1, 2, 4, 5)).astype(np.float32)
GRID = np.random.default_rng(1).uniform(-1.2, 1.2, (1, 3, 3, 2))


def sampled(words: str = "", data: str = "float", grid: str = "double", opset: int = 16) -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({data}[1,2,4,5] x, {grid}[1,H,3,2] q)'
        f" => ({data}[1,2,H,3] y) {{ s = GridSample{words} (x, q) y = Neg (s) }}"
    )


@pytest.mark.parametrize(
    ("words", "opset"),
    [
        ("", 16),
        ("", 20),
        ('<padding_mode = "border">', 16),
        ('<padding_mode = "reflection", align_corners = 1>', 16),
    ],
)
def test_values(words: str, opset: int) -> None:
    result = graphfix.run(parse(sampled(words, opset=opset)), "tvm0.27")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    after = result.model.to_proto()
    assert [node.op_type for node in after.graph.node] == ["Cast", "GridSample", "Neg"]
    found = outputs_of(after, {"x": X, "q": GRID})["y"]
    plain = parse(sampled(words, grid="float", opset=opset))
    wanted = outputs_of(plain, {"x": X, "q": GRID.astype(np.float32)})["y"]
    np.testing.assert_array_equal(found, wanted)


def test_its_accuracy_is_stated() -> None:
    result = graphfix.run(parse(sampled()), "tvm0.27")
    (site,) = [site for outcome in result.report.outcomes for site in outcome.sites]
    assert site.accuracy is Accuracy.APPROXIMATE
    assert [f.feature for f in result.report.findings_before] == ["dtype:GridSample.float64"]
    assert not result.report.findings_after
