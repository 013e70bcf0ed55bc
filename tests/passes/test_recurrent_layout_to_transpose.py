"""recurrent-layout-to-transpose: the batch as the first axis."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from benchmarks.opset.comparison import reference
from graphfix.report import Verdict

HEAD = '<ir_version: 8, opset_import: ["" : 14]> g '


def model(op: str, gates: int, layout: int, states: str = "", more: str = "") -> str:
    batch_first = layout == 1
    x = "float[2,5,3] x" if batch_first else "float[5,2,3] x"
    inputs = f"{x}, float[1,{4 * gates},3] w, float[1,{4 * gates},4] r"
    kind = "float[2,1,4]" if batch_first else "float[1,2,4]"
    for state in states.split():
        inputs += f", {kind} {state}"
    out = "float[2,5,1,4] y" if batch_first else "float[5,1,2,4] y"
    last = f", {kind} h" + (f", {kind} c" if op == "LSTM" else "")
    names = "y, h, c" if op == "LSTM" else "y, h"
    given = ", , , " + ", ".join(states.split()) if states else ""
    attributes = f"hidden_size = 4, layout = {layout}{more}"
    return f"{HEAD}({inputs}) => ({out}{last}) {{ {names} = {op} <{attributes}> (x, w, r{given}) }}"


@pytest.mark.parametrize(
    ("op", "gates", "states"),
    [("LSTM", 4, ""), ("LSTM", 4, "h0 c0"), ("GRU", 3, ""), ("GRU", 3, "h0"), ("RNN", 1, "h0")],
)
def test_the_batch_may_come_first(op: str, gates: int, states: str) -> None:
    rng = np.random.default_rng(0)
    proto = parser.parse_model(model(op, gates, 1, states))
    feed = {
        info.name: rng.standard_normal([d.dim_value for d in info.type.tensor_type.shape.dim])
        .astype(np.float32) for info in proto.graph.input
    }  # fmt: skip
    result = graphfix.run(proto, "trt8.6", verify="off").model.to_proto()
    assert [n.op_type for n in result.graph.node].count(op) == 1
    assert not [a for n in result.graph.node for a in n.attribute if a.name == "layout"]
    given = reference(result, feed)
    first = parser.parse_model(model(op, gates, 0, states))
    swapped = {k: v.swapaxes(0, 1) if k in ("x", "h0", "c0") else v for k, v in feed.items()}
    expected = reference(first, swapped)
    assert np.allclose(given[0], np.transpose(expected[0], (2, 0, 1, 3)), atol=1e-6)
    for one, other in zip(given[1:], expected[1:], strict=True):
        assert np.allclose(one, np.swapaxes(other, 0, 1), atol=1e-6)


@pytest.mark.parametrize("target", ["ort-1.10", "ort-1.31"])
def test_onnxruntime_gets_the_sequence_first(target: str) -> None:
    done = graphfix.run(parser.parse_model(model("GRU", 3, 1)), target)
    assert done.exit_code == 0, done.report.findings_after
    assert done.report.verification.status is Verdict.EQUAL
    assert "Transpose" in {node.op_type for node in done.model.to_proto().graph.node}
