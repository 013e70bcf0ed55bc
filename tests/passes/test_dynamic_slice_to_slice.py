"""dynamic-slice-to-slice: Slice under the name that it had as an experiment."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "dynamic-slice-to-slice"
CONSTANTS = (
    "@s = Constant <value = int64[1] {1}> ()\n"
    "@e = Constant <value = int64[1] {3}> ()\n"
    "@a = Constant <value = int64[1] {2}> ()\n"
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["float", "int32"])
def test_constants(kind: str, place: str) -> None:
    text = written(
        CONSTANTS + "@y = DynamicSlice (x, @s, @e, @a)",
        f"{kind}[2,3,4] x",
        f"{kind}[2,3,2]",
        opset=9,
        place=place,
    )
    x = np.arange(24).reshape(2, 3, 4).astype(np.float32 if kind == "float" else kind)
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert np.array_equal(outputs_of(done.after, feed)["y"], x[:, :, 1:3])


def test_the_engine_takes_the_result() -> None:
    text = written(
        CONSTANTS + "@y = DynamicSlice (x, @s, @e, @a)", "float[2,3,4] x", "float[2,3,2]", opset=9
    )
    result = graphfix.run(onnx.parser.parse_model(text), target="trt8")
    assert result.exit_code == 0
