"""loop-state-declaration: types that the body of a Loop leaves out."""

import numpy as np
import onnx
import pytest

from graphfix.testing import assert_rewrite, outputs_of, run_pass

PASS = "loop-state-declaration"
FEED = {"x": np.array([1.0, 2.0], np.float32)}


def _model(state: str = "s", opset: int = 17) -> str:
    return f"""<ir_version: 8, opset_import: ["" : {opset}]> g (float[2] x) => (float[2] y)
    <int64 n = {{3}}, bool c = {{1}}> {{
      y = Loop (n, c, x) <body = b (int64 i, bool d, {state}) => (bool e, float[2] v) {{
        e = Identity (d) r = ReduceSum (s) v = Add (s, r) }}>
    }}"""


def _declared(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    loops = [node for node in model.graph.node if node.op_type == "Loop"]
    return [info for node in loops for info in node.attribute[0].g.input]


@pytest.mark.parametrize("opset", [13, 17])
def test_the_type_is_declared(opset: int) -> None:
    done = assert_rewrite(PASS, _model(opset=opset), feeds=[FEED])
    state = _declared(done.after)[2]
    assert state.name == "s"
    assert state.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert outputs_of(done.after, FEED)["y"].tolist() == [40, 41]


def test_sequences_are_left_alone() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[N] y)
    <int64 n = {3}, bool c = {1}> {
      q = SequenceEmpty ()
      w = Loop (n, c, q) <body = b (int64 i, bool d, s) => (bool e, t) {
        e = Identity (d) t = SequenceInsert (s, x) }>
      y = ConcatFromSequence <axis = 0> (w)
    }"""
    done = run_pass(PASS, text)
    assert not _declared(done.after)[2].type.HasField("tensor_type")
