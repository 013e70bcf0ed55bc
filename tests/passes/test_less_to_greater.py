"""less-to-greater: the operands change places."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "less-to-greater"
X = np.array([-2.0, -1.0, 0.0, -0.0, np.nan, np.inf, 1.0], np.float32)
Z = np.array([-1.0, -2.0, -0.0, 1.0, np.nan, np.inf, np.nan], np.float32)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17])
def test_floats(opset: int) -> None:
    text = written("@y = Less (x, z)", "float[7] x, float[7] z", "bool[7]", opset=opset)
    assert_rewrite(PASS, text, feeds=[{"x": X, "z": Z}], after=["Greater"])
