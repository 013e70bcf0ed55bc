"""constant-of-shape-value-explicit: the zero that is meant is written down."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "constant-of-shape-value-explicit"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 17, 21])
def test_values(opset: int, place: str) -> None:
    body = "@s = Shape (x) @y = ConstantOfShape (@s)"
    model = written(body, "int32[N,2] x", "float[N,2]", opset=opset, place=place)
    feed = {"x": np.ones((3, 2), np.int32)}
    feed |= {"c": np.array(True)} if place == "branch" else {}
    done = assert_rewrite(PASS, model, feeds=[feed])
    found = outputs_of(done.after, feed)["y"]
    assert found.dtype == np.float32
    assert found.tolist() == [[0, 0]] * 3
