"""concat-constant-to-sum: constants at the ends of a Concat, added to what is padded."""

from typing import Any

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "concat-constant-to-sum"
K = "@k = Constant <value = float[2,1,2] {2.5, -3.0, 2.5, -3.0}> ()\n"
L = "@l = Constant <value = float[2,2,2] {4.0, 5.0, inf, 7.0, 4.0, 5.0, inf, 7.0}> ()\n"
X = np.array([[[1, np.nan], [np.inf, -2]], [[3, 4], [-np.inf, 6]]], np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("body", "size", "ops"),
    [
        (K + "@y = Concat <axis = 1> (@k, x)", "2,3,2", ["Pad", "Add"]),
        (K + "@y = Concat <axis = -2> (x, @k)", "2,3,2", ["Pad", "Add"]),
        (K + L + "@y = Concat <axis = 1> (@l, x, @k)", "2,5,2", ["Pad", "Add"]),
        (K + "@y = Concat <axis = 1> (@k, x, x)", "2,5,2", ["Concat", "Pad", "Add"]),
        (L + "@y = Concat <axis = 2> (x, @l)", "2,2,4", ["Pad", "Add"]),
    ],
)
def test_the_same_numbers(body: str, size: str, ops: list[str], place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, "float[2,2,2] x", f"float[{size}]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == ops


def test_what_ncnn_misreads_is_repaired() -> None:
    body = (
        "w = Constant <value = float[2,1,1,1] {1.0, 2.0}> ()\n@c = Conv (x, w)\n"
        "r = Constant <value = int64[3] {2, 2, 2}> ()\n@s = Reshape (@c, r)\n"
        f"{K}@y = Concat <axis = 1> (@k, @s)"
    )
    model = parser.parse_model(written(body, "float[2,1,1,2] x", "float[2,3,2]"))
    assert "form:Concat.constant" in {found.feature for found in graphfix.check(model, "ncnn1.0")}
    result = graphfix.run(model, "ncnn1.0")
    assert (result.exit_code, result.report.findings_after) == (0, ())
