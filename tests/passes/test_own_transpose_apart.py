"""own-transpose-apart: the same products, Max before one operand."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "own-transpose-apart"
X = np.arange(-3, 9, dtype=np.float32).reshape(2, 2, 3)
RIGHT = "@t = Transpose <perm = [0, 2, 1]> (x)\n@y = MatMul (x, @t)"
LEFT = "@t = Transpose <perm = [0, 2, 1]> (x)\n@y = MatMul (@t, x)"


@pytest.mark.parametrize("opset", [8, 12, 13, 17])
@pytest.mark.parametrize("sizes", ["2, 2, 3", "B, N, M"])
def test_values_of_either_side(sizes: str, opset: int) -> None:
    text = written(RIGHT, f"float[{sizes}] x", "float[b, n, m]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=1e-6)
    found = outputs_of(done.after, {"x": X})["y"]
    np.testing.assert_allclose(found, X @ X.transpose(0, 2, 1), rtol=1e-6)
    text = written(LEFT, f"float[{sizes}] x", "float[b, n, m]", opset=opset)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=1e-6)
    found = outputs_of(done.after, {"x": X})["y"]
    np.testing.assert_allclose(found, X.transpose(0, 2, 1) @ X, rtol=1e-6)


def test_what_is_made_of_the_tensor() -> None:
    text = written("@n = Neg (x)\n" + RIGHT.replace("(x, @t)", "(@n, @t)"), "float[2, 2, 3] x",
                   "float[2, 2, 2]")  # fmt: skip
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=1e-6)
    assert "Max" in [node.op_type for node in done.after.graph.node]
