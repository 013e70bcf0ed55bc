"""bytes-to-floats-through-int32: every byte, held to numpy."""

from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "bytes-to-floats-through-int32"
BODY = "@y = Cast <to = 1> (x)"
ALL = np.arange(256, dtype=np.uint8)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 21])
def test_values(opset: int, place: str) -> None:
    feed: dict[str, Any] = {"x": ALL}
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(BODY, "uint8[N] x", "float[N]", opset=opset, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], ALL.astype(np.float32))
    if place == "main":
        assert [node.attribute[0].i for node in done.after.graph.node] == [6, 1]


def test_from_the_finding_to_the_end() -> None:
    model = onnx.parser.parse_model(written(BODY, "uint8[2] x", "float[2]"))
    result = run(model, "qnn2", verify="full")
    features = [f.feature for f in result.report.findings_before if f.blocks]
    assert features == ["form:Cast.uint8-to-float32"]
    assert not [f for f in result.report.findings_after if f.blocks]
    assert [node.op for node in result.model.graph.nodes] == ["Cast", "Cast"]
