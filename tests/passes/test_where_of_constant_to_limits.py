"""where-of-constant-to-limits: a constant mask by Max and Min."""

from typing import Any

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "where-of-constant-to-limits"
MASK = "@m = Constant <value = bool[2,2] {1, 0, 1, 1}> ()\n"
X = np.array([[[-np.inf, np.inf], [3, -0.5]], [[1e30, -1e30], [np.inf, 7]]], np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("kept", [True, False])
def test_numbers_and_infinities(kept: bool, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    choices = "x, @k" if kept else "@k, x"
    body = f"{MASK}@k = Constant <value = float {{-2.5}}> ()\n@y = Where (@m, {choices})"
    text = written(body, "float[N,2,2] x", "float[N,2,2]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    mask = np.array([[True, False], [True, True]]) == kept
    wanted = np.where(mask, X, np.float32(-2.5))
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    if place == "main":
        assert done.ops == ["Max", "Min"]


def test_for_engines_without_where() -> None:
    infinity = "@k = Constant <value = float {-inf}> ()"
    body = f"{MASK}{infinity}\n@w = Where (@m, x, @k)\n@y = Softmax <axis = -1> (@w)"
    model = parser.parse_model(written(body, "float[2,2] x", "float[2,2]"))
    done = graphfix.run(model, target="ncnn1.0")
    assert not done.report.findings_after
    ops = [node.op_type for node in done.model.to_proto().graph.node]
    assert ops == ["Max", "Min", "Softmax"]
