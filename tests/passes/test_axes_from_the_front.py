"""axes-from-the-front: axes that are counted from the end."""

import numpy as np
import pytest
from onnx import helper

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "axes-from-the-front"
X = np.random.default_rng(0).standard_normal((2, 3, 1)).astype(np.float32)


@pytest.mark.parametrize(
    ("call", "result", "name", "meant"),
    [
        ("Concat <axis = -1> (x, x)", "float[N,3,2]", "axis", 2),
        ("Concat <axis = -3> (x, x)", "float[M,3,1]", "axis", 0),
        ("Squeeze <axes = [-1]> (x)", "float[N,3]", "axes", [2]),
        ("Slice <axes = [-2], starts = [1], ends = [3]> (x)", "float[N,2,1]", "axes", [1]),
        ("Slice <axes = [0, -2], starts = [1, 1], ends = [3, 2]> (x)", "float[M,1,1]", "axes",
         [0, 1]),
    ],
)  # fmt: skip
def test_values(call: str, result: str, name: str, meant: int | list[int]) -> None:
    text = written(f"@y = {call}", "float[N,3,1] x", result, opset=9)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=0, atol=0)
    (node,) = done.after.graph.node
    found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    assert found[name] == meant
