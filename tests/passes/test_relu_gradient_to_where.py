"""relu-gradient-to-where: what was positive is let through."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from passes.contrib.relu_gradient_to_where import numbers
from tests.passes.gradient_cases import done_by, inside_a_branch, text_of

PASS = "relu-gradient-to-where"
Y = np.array([[0.0, 0, -0.5, 0.2, 1.0, 4.0]], np.float32)
DY = np.array([[1.0, -2.0, 0.5, 3.0, -1.0, 2.0]], np.float32)
EXPECTED = [[0, 0, 0, 3, -1, 2]]


@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_values(kind: str) -> None:
    dtype: Any = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    node = "dx = com.microsoft.ReluGrad (dy, y)"
    text = text_of(node, f"{kind}[N, 6] dy, {kind}[N, 6] y", f"{kind}[N, 6] dx")
    feed = {"dy": DY.astype(dtype), "y": Y.astype(dtype)}
    models = {("com.microsoft", "ReluGrad"): numbers}
    assert_rewrite(PASS, text, feeds=[feed], after=["Greater", "Where"], evaluators=models)
    _, (found,) = done_by(PASS, text, feed)
    np.testing.assert_array_equal(found, EXPECTED)


def test_in_a_branch() -> None:
    node = "t = com.microsoft.ReluGrad (dy, y)"
    text = inside_a_branch(node, "float[1, 6] dy, float[1, 6] y", "float[1, 6]")
    _, (found,) = done_by(PASS, text, {"c": np.array(True), "dy": DY, "y": Y})
    np.testing.assert_array_equal(found, EXPECTED)
