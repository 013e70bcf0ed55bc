"""pool-strides-explicit: the strides of 1 that are meant."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "pool-strides-explicit"
X = np.random.default_rng(0).standard_normal((1, 2, 5, 6)).astype(np.float32)


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool", "LpPool"])
@pytest.mark.parametrize("opset", [11, 18])
def test_values(opset: int, op: str) -> None:
    body = f"@y = {op} <kernel_shape = [2, 3]> (x)"
    model = written(body, "float[N,2,5,6] x", "float[N,2,4,4]", opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=[op])
    found = {a.name: list(a.ints) for a in done.after.graph.node[0].attribute}
    assert found["strides"] == [1, 1]
    assert found["pads"] == [0, 0, 0, 0]
