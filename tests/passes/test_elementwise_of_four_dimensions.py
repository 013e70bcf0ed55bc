"""elementwise-of-four-dimensions: two dimensions joined around an operator of each number."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "elementwise-of-four-dimensions"
OPS = (
    *("Atan", "Ceil", "Cos", "Elu", "Floor", "HardSigmoid", "HardSwish", "Neg", "Round", "Sign"),
    *("Sin", "Softplus", "Sqrt", "Tanh"),
)
X = np.random.default_rng(2).standard_normal((2, 3, 1, 2, 2)).astype(np.float32)


def model(node: str, sizes: str = "2,3,1,2,2", dtype: str = "float", place: str = "main") -> str:
    return written(f"@y = {node}", f"{dtype}[{sizes}] x", f"{dtype}[{sizes}]", place=place)


@pytest.mark.parametrize("op", OPS)
def test_each_operator(op: str) -> None:
    done = assert_rewrite(PASS, model(f"{op} (x)"), feeds=[{"x": np.abs(X)}], rtol=1e-6)
    assert [n.op_type for n in done.after.graph.node if n.op_type != "Constant"] == [
        "Reshape", op, "Reshape",
    ]  # fmt: skip
