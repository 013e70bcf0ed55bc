"""clip-to-min-max: the bounds of integers one after the other."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "clip-to-min-max"


@pytest.mark.parametrize(
    ("kind", "opset"), [("float", 11), ("float", 13), ("float16", 13), ("double", 13)]
)
def test_floats_between_computed_bounds(kind: str, opset: int) -> None:
    inputs = f"{kind}[N] x, {kind} low, {kind} high"
    text = written("@y = Clip (x, low, high)", inputs, f"{kind}[N]", opset=opset)
    dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    x = np.array([-3, -0.5, 0.25, 9], dtype)
    for low, high in ((-1, 2), (2, -1)):
        feed = {"x": x, "low": np.array(low, dtype), "high": np.array(high, dtype)}
        done = assert_rewrite(PASS, text, feeds=[feed])
        wanted = np.minimum(np.maximum(x, low), high).tolist()
        assert outputs_of(done.after, feed)["y"].tolist() == wanted
