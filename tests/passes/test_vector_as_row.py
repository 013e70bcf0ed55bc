"""vector-as-row: a vector is a matrix of one row to what chooses and normalises."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "vector-as-row"
FEED: dict[str, Any] = {"x": np.array([3, -1, 7, 7, 0], np.float32)}
NORMALISED: dict[str, list[float]] = {
    "Softmax": [0.009069, 0.000166, 0.495157, 0.495157, 0.000452],
    "LogSoftmax": [-4.70288, -8.70288, -0.70288, -0.70288, -7.70288],
    "Hardmax": [0, 0, 1, 0, 0],
}


@pytest.mark.parametrize("size", ["5", "n"])
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("op", NORMALISED)
def test_a_vector_is_normalised_as_a_row(op: str, opset: int, size: str) -> None:
    text = written(f"@y = {op} <axis = 0> (x)", f"float[{size}] x", "float[m]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[FEED])
    assert [node.op_type for node in done.after.graph.node if node.op_type == op] == [op]
    np.testing.assert_allclose(outputs_of(done.after, FEED)["y"], NORMALISED[op], atol=1e-5)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize(
    ("node", "place"),
    [
        ("ArgMax <axis = -1, {keepdims}> (x)", 2),
        ("ArgMin <axis = 0, {keepdims}> (x)", 1),
        ("ArgMax <axis = 0, select_last_index = 1, {keepdims}> (x)", 3),
    ],
)
def test_the_place_in_a_vector_is_that_in_a_row(node: str, place: int, keepdims: int) -> None:
    out = "int64[1]" if keepdims else "int64"
    made = node.replace("{keepdims}", f"keepdims = {keepdims}")
    done = assert_rewrite(PASS, written(f"@y = {made}", "float[5] x", out), feeds=[FEED])
    assert outputs_of(done.after, FEED)["y"].tolist() == ([place] if keepdims else place)


@pytest.mark.parametrize("place", PLACES)
def test_everywhere(place: str) -> None:
    text = written("@y = Softmax (x)", "float[5] x", "float[5]", place=place)
    feed = FEED | ({"c": np.array(True)} if place == "branch" else {})
    assert_rewrite(PASS, text, feeds=[feed])


def test_for_tensorrt_for_rtx() -> None:
    text = written("@y = ArgMax <keepdims = 0> (x)", "float[5] x", "int64")
    result = graphfix.run(parse(text), "trt-rtx1.7", verify="full")
    assert result.exit_code == 0
    assert [f.feature for f in result.report.findings_before if f.blocks] == ["rank:ArgMax.1"]
