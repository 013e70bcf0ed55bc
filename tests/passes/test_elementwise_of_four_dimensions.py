"""elementwise-of-four-dimensions: two dimensions joined around an operator of each number."""

from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "elementwise-of-four-dimensions"
OPS = (
    *("Atan", "Ceil", "Cos", "Elu", "Floor", "HardSigmoid", "HardSwish", "Neg", "Round", "Sign"),
    *("Sin", "Softplus", "Sqrt", "Tanh"),
)
X = np.random.default_rng(2).standard_normal((2, 3, 1, 2, 2)).astype(np.float32)
# The types that onnxruntime computes.
TYPES: dict[str, Any] = {"float": np.float32, "double": np.float64, "int32": np.int32}


def model(node: str, sizes: str = "2,3,1,2,2", dtype: str = "float", place: str = "main") -> str:
    return written(f"@y = {node}", f"{dtype}[{sizes}] x", f"{dtype}[{sizes}]", place=place)


@pytest.mark.parametrize("op", OPS)
def test_each_operator(op: str) -> None:
    done = assert_rewrite(PASS, model(f"{op} (x)"), feeds=[{"x": np.abs(X)}], rtol=1e-6)
    assert [n.op_type for n in done.after.graph.node if n.op_type != "Constant"] == [
        "Reshape", op, "Reshape",
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_types(dtype: str, place: str) -> None:
    feed: dict[str, Any] = {"x": (X * 5).astype(TYPES[dtype])}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, model("Neg (x)", dtype=dtype, place=place), feeds=[feed], rtol=0)


def test_attributes_stay() -> None:
    for node in ("Elu <alpha = 0.5> (x)", "HardSigmoid <alpha = 0.3, beta = 0.4> (x)"):
        assert_rewrite(PASS, model(node), feeds=[{"x": X}], rtol=1e-6)


def test_from_the_finding_to_the_end() -> None:
    result = run(onnx.parser.parse_model(model("Sqrt (x)")), "qnn2", verify="full")
    assert "rank:Sqrt.5" in [f.feature for f in result.report.findings_before if f.blocks]
    assert not [f for f in result.report.findings_after if f.blocks]
