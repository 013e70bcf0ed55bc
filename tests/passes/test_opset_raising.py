"""opset-raising: older forms in the words of opset 11."""

import numpy as np
import pytest
from onnx import parser

from graphfix.api import run
from graphfix.report import Verdict
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import written

PASS = "opset-raising"
X = np.random.default_rng(0).standard_normal((1, 2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize("opset", [7, 9])
def test_topk(opset: int) -> None:
    body = "@y, @i = TopK <axis = 1, k = 2> (x)"
    model = written(body, "float[N,4] x", "float[N,2]", opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X[0, 0]}], after=["TopK"])
    assert done.after.opset_import[0].version == 11
    assert len(done.after.graph.node[0].input) == 2


@pytest.mark.parametrize("opset", [7, 10])
def test_limits_of_clip(opset: int) -> None:
    body = "@y = Clip <min = -0.5, max = 0.25> (x)"
    model = written(body, "float[N,4] x", "float[N,4]", opset=opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": X[0, 0]}], after=["Clip"])
    assert len(done.after.graph.node[0].input) == 3
    result = run(parser.parse_model(model), "qnn2")
    assert "form:Clip.6" in [f.feature for f in result.report.findings_before]
    assert not [f for f in result.report.findings_after if f.rule == "unclipped"]


def test_gather_goes_along() -> None:
    body = "g = Gather <axis = 1> (x, n) @y, @i = TopK <axis = 0, k = 2> (g)"
    model = written(body, "float[N,4] x, int64[2] n", "float[2,2]", opset=9)
    feed = {"x": X[0, 0], "n": np.array([3, 0], np.int64)}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["Gather", "TopK"])
    assert done.after.opset_import[0].version == 11


def test_reverse_sequence_of_open_sizes_is_counted_by_range() -> None:
    text = (
        '<ir_version: 5, opset_import: ["": 10]> g (float[L, 2] x) => (float[L, 2] y) '
        "<int64[2] n = {1, 3}> { y = ReverseSequence <batch_axis = 1, time_axis = 0> (x, n) }"
    )
    result = run(parse(text), "trt7.2")
    assert result.exit_code == 0
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    y = outputs_of(result.model.to_proto(), {"x": x})["y"]
    assert y.tolist() == [[0, 5], [2, 3], [4, 1], [6, 7]]


def test_an_axis_from_the_end_is_raised_where_an_engine_reads_none_before() -> None:
    text = (
        '<ir_version: 4, opset_import: ["" : 9]> g (float[2,3] x) => (int64[2] y) '
        "{ y = ArgMin <axis = -1, keepdims = 0> (x) }"
    )
    result = run(parse(text), "tvm0.27")
    assert [f.feature for f in result.report.findings_before] == ["attr:ArgMin.axis"]
    assert result.exit_code == 0
    x = np.array([[2, 1, 3], [0, 4, -1]], np.float32)
    assert outputs_of(result.model.to_proto(), {"x": x})["y"].tolist() == [1, 2]


@pytest.mark.parametrize("op", ["GRU", "LSTM"])
def test_recurrences_are_unrolled_by_slices_of_a_later_opset(op: str) -> None:
    gates = {"GRU": 3, "LSTM": 4}[op]
    text = (
        '<ir_version: 4, opset_import: ["" : 9]> g '
        f"(float[2,1,3] x, float[1,{gates * 2},3] w, float[1,{gates * 2},2] r) "
        f"=> (float[2,1,1,2] y) {{ y = {op} <hidden_size = 2> (x, w, r) }}"
    )
    result = run(parse(text), "tvm0.27")
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    assert result.model.to_proto().opset_import[0].version == 11
