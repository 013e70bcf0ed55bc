"""gather-axis-left-out: an axis that a Gather has anyway."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.api import run
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "gather-axis-left-out"
BODY = "@y = Gather <axis = 0> (x, i)"
TYPES: dict[str, Any] = {
    "float": np.float32, "float16": np.float16, "double": np.float64, "int64": np.int64,
    "int32": np.int32, "uint8": np.uint8, "bool": np.bool_,
}  # fmt: skip


@pytest.mark.parametrize("opset", [1, 11, 13, 17])
@pytest.mark.parametrize("dtype", sorted(TYPES))
def test_values(dtype: str, opset: int) -> None:
    text = written(BODY, f"{dtype}[N,4] x, int64[2,M] i", f"{dtype}[2,M,4]", opset=max(opset, 7))
    x = np.arange(20).reshape(5, 4).astype(TYPES[dtype])
    indices = (np.array([[4, 0], [1, 4]]), np.zeros((2, 0), np.int64))
    feeds = [{"x": x, "i": index} for index in indices]
    done = assert_rewrite(PASS, text, feeds=feeds, rtol=0, atol=0)
    (node,) = done.after.graph.node
    assert node.op_type == "Gather"
    assert not node.attribute


def test_ncnn_takes_the_rows() -> None:
    numbers = ", ".join(["0.5"] * 32)
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (int64[1,3] i) => (float[1,3,4] y) '
        f"<float[8,4] w = {{{numbers}}}> {{ e = Gather <axis = 0> (w, i) y = Exp (e) }}"
    )
    done = run(onnx.parser.parse_model(text), target="ncnn1.0")
    assert graphfix.check(done.model, "ncnn1.0") == ()
    assert done.model.graph.inputs[0].elem_type == onnx.TensorProto.INT64
