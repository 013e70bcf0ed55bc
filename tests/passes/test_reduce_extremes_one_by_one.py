"""reduce-extremes-one-by-one: a node for each axis."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_rewrite

PASS = "reduce-extremes-one-by-one"
X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
HEAD = '<ir_version: 8, opset_import: ["" : {opset}]> g (float[2,3,4] x) => (float[{y}] y) '


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize(
    ("axes", "keepdims", "y"),
    [("1, 2", 0, "2"), ("-1, 0", 0, "3"), ("0, 1, 2", 1, "1,1,1"), ("0, 2", 1, "1,3,1")],
)
def test_values(op: str, axes: str, keepdims: int, y: str) -> None:
    nodes = f"{{ y = {op} <axes = [{axes}], keepdims = {keepdims}> (x) }}"
    after = [op] * len(axes.split(","))
    assert_rewrite(PASS, HEAD.format(opset=13, y=y) + nodes, feeds=[{"x": X}], after=after)


def test_ncnn_takes_what_comes_out() -> None:
    nodes = "{ y = ReduceMin <axes = [1, 2], keepdims = 0> (x) }"
    model = parser.parse_model(HEAD.format(opset=13, y="2") + nodes)
    assert graphfix.run(model, "ncnn1.0").exit_code == 0
