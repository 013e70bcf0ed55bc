"""softmax-axis-explicit: the axis that is meant."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "softmax-axis-explicit"
X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize("op", ["LogSoftmax", "Softmax"])
@pytest.mark.parametrize(("opset", "axis"), [(11, 1), (13, -1), (18, -1)])
def test_values(opset: int, axis: int, op: str) -> None:
    model = written(f"@y = {op} (x)", "float[N,3,4] x", "float[N,3,4]", opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X}], after=[op])
    assert done.after.graph.node[0].attribute[0].i == axis
