"""comparison-of-expanded: the first operand gets the sizes of both."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "comparison-of-expanded"
X = np.array([[-1.0], [0.0], [np.nan], [np.inf], [2.0], [-0.0]], np.float32)
Z = np.array([[0.0, np.inf, -1.0, np.nan]], np.float32)


@pytest.mark.parametrize("op", ["Equal", "Greater", "Less"])
@pytest.mark.parametrize("opset", [11, 13, 17])
def test_each_against_each(opset: int, op: str) -> None:
    text = written(f"@y = {op} (x, z)", "float[6,1] x, float[1,4] z", "bool[6,4]", opset=opset)
    assert_rewrite(PASS, text, feeds=[{"x": X, "z": Z}], after=["Expand", op])
