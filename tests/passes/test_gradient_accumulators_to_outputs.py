"""gradient-accumulators-to-outputs: what was written into an input is returned, by consent."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.cli import main
from graphfix.ir.storage.reading import read_model
from graphfix.operators.written_buffers import KEY, buffer_outputs, giving_buffers, read_buffers
from graphfix.proving.models import compare_files
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import Verdict
from graphfix.testing import outputs_of

NUMPY = "graphfix.passes.contrib"
BUFFER, NEW = np.array([[1.0, 2, 3]], np.float32), np.array([[10.0, 20, -30]], np.float32)
STEP = """<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[N, 3] x, float[N, 3] dy, float[N, 3] b, bool[1] o) => (float[N, 3] y, bool[1] f)
{ y = Relu (x)  d = com.microsoft.ReluGrad (dy, y)
  f = com.microsoft.InPlaceAccumulatorV2 (b, d, o) }"""


def step(tmp_path: Path) -> Path:
    path = tmp_path / "step.onnx"
    path.write_bytes(parser.parse_model(STEP).SerializeToString())
    return path


def test_a_training_step_outputs_the_sum_by_consent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = step(tmp_path), tmp_path / "out.onnx"
    words = ["run", str(path), "--target", "trt8", "-o", str(out), "--json"]
    assert main(words) == 1
    assert "--allow-io-change" in capsys.readouterr().out
    assert main([*words, "--force", "--allow-io-change"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["verification"]["status"] == "equal"
    assert not [one for one in reported["findings_after"] if one["severity"] == "reject"]
    result = read_model(out).proto
    assert buffer_outputs(result) == {"f": "b"}
    x = np.array([[-1, 2, 0]], np.float32)
    feed = {"x": x, "dy": NEW, "b": BUFFER, "o": np.array([False])}
    np.testing.assert_array_equal(outputs_of(result, feed)["f"], [[1, 22, 3]])
    feed["o"] = np.array([True])
    np.testing.assert_array_equal(outputs_of(result, feed)["f"], [[0, 20, 0]])


def test_a_wrong_sum_shows(tmp_path: Path) -> None:
    path, out = step(tmp_path), tmp_path / "out.onnx"
    words = ["run", str(path), "--target", "trt8", "-o", str(out), "--allow-io-change"]
    assert main(words) == 0
    options = ComparisonOptions(
        evaluators={
            ("com.microsoft", "InPlaceAccumulatorV2"): (
                f"{NUMPY}.gradient_accumulators_to_add:numbers"
            ),
            ("com.microsoft", "ReluGrad"): f"{NUMPY}.relu_gradient_to_where:numbers",
        }
    )
    assert compare_files(path, out, options).status is Verdict.EQUAL
    wrong = read_model(out).proto
    for node in wrong.graph.node:
        node.op_type = "Sub" if node.op_type == "Add" else node.op_type
    out.write_bytes(wrong.SerializeToString())
    found = compare_files(path, out, options)
    assert found.status is Verdict.MISMATCH
    assert "output f" in found.reason


NOT_GIVEN = [
    ("float[3] x) => (bool[1] f) { b = Neg (x)  f = com.microsoft.InPlaceAccumulatorV2 (b, x) }",
     "the buffer must be an input; b is none"),
    ("float[3] b, float[3] g) => (bool[1] f, bool[1] n) "
     "{ f = com.microsoft.InPlaceAccumulatorV2 (b, g)  n = Not (f) }", "something does"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), NOT_GIVEN)
def test_what_cannot_be_returned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, reason: str
) -> None:
    path = tmp_path / "m.onnx"
    head = '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g ('
    path.write_bytes(parser.parse_model(head + text).SerializeToString())
    words = ["run", str(path), "--target", "trt8", "--allow-io-change", "--json"]
    assert main([*words, "-o", str(tmp_path / "out.onnx")]) == 1
    assert reason in capsys.readouterr().out


def test_what_the_metadata_says_is_taken_of_such_nodes_alone() -> None:
    before = parser.parse_model(STEP)
    after = ModelProto()
    after.CopyFrom(before)
    assert giving_buffers(before, after) is before
    after.metadata_props.add(key=KEY, value='{"f": "x", "y": "b"}')
    untouched = giving_buffers(before, after)
    assert untouched.graph == before.graph
    assert read_buffers("[]") == read_buffers("no") == {}
    assert read_buffers('{"f": 1, "y": "b"}') == {"y": "b"}
