"""declared-symbols-left-out: declarations with symbols between nodes."""

import numpy as np
import onnx

from graphfix.testing import assert_rewrite

PASS = "declared-symbols-left-out"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
TEXT = HEAD + (
    "g (float[N,3] x) => (float[N,3] y) <float[N,3] a, float[2,3] b> "
    "{ a = Relu (x) b = Exp (w) e = ReduceMax <keepdims = 0> (b) y = Add (a, e) }"
).replace("<float[N,3] a", "<float[2,3] w = {1, 2, 3, 4, 5, 6}, float[N,3] a")
X = np.ones((2, 3), np.float32)


def test_symbols_go_and_numbers_stay() -> None:
    done = assert_rewrite(PASS, TEXT, feeds=[{"x": X}])
    assert [info.name for info in done.after.graph.value_info] == ["b"]
    assert done.after.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "N"
    assert done.after.graph.node == done.before.graph.node


def test_the_ends_of_a_body_keep_their_element_type() -> None:
    text = HEAD + (
        "g (float[N,3] x, bool c) => (float[N,3] y) { y = If (c) <"
        "then_branch = a () => (float[N,3] p) { p = Relu (x) }, "
        "else_branch = b () => (float[M,3] q) { q = Exp (x) }> }"
    )
    feeds = [{"x": X, "c": np.array(flag)} for flag in (True, False)]
    done = assert_rewrite(PASS, text, feeds=feeds)
    for attribute in done.after.graph.node[0].attribute:
        kind = attribute.g.output[0].type.tensor_type
        assert kind.elem_type == onnx.TensorProto.FLOAT
        assert not kind.HasField("shape")
