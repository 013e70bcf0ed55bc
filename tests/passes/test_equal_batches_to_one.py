"""equal-batches-to-one: constants whose batches are all the same."""

from typing import Any

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "equal-batches-to-one"
K = "@k = Constant <value = float[2,1,3] {1.5, 2.0, 4.0, 1.5, 2.0, 4.0}> ()\n"
X = np.array([[[1, np.nan, np.inf]], [[-0.0, 3, 9]]], np.float32)
ENDS = ("float[2,1,3] x", "float[2,1,3]")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["Add", "Div", "Max", "Min", "Mul", "Pow", "Sub"])
@pytest.mark.parametrize("operands", ["x, @k", "@k, x"])
def test_the_same_numbers(operands: str, op: str, place: str) -> None:
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(f"{K}@y = {op} ({operands})", *ENDS, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert done.ops == [op]
        (stored,) = done.after.graph.initializer
        assert list(stored.dims) == [1, 1, 3]


def test_what_ncnn_misreads_is_repaired() -> None:
    body = (
        "r = Constant <value = int64[3] {2, 1, 3}> ()\np = MaxPool <kernel_shape = [1, 1]> (x)\n"
        f"@m = Reshape (p, r)\n{K}@y = Add (@m, @k)"
    )
    model = parser.parse_model(written(body, "float[2,1,1,3] x", "float[2,1,3]"))
    assert "form:Add.constant" in {found.feature for found in graphfix.check(model, "ncnn1.0")}
    result = graphfix.run(model, "ncnn1.0", trust_rules=True)
    assert (result.exit_code, result.report.findings_after) == (0, ())
