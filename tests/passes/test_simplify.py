"""simplify: onnxsim after guards."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from graphfix.api import run
from graphfix.errors import EngineFailed
from graphfix.report import Status, Verdict
from graphfix.testing import assert_refused, outputs_of, run_pass
from tests.passes.shape_models import text

PASS = "simplify"
MODULE = "graphfix.passes.simplify.simplify"
X = np.array([[1, 2, 3], [-4, 5, -6]], np.float32)
GRAPH = (
    "g (float[N,3] x) => (float[N,3] y) <int64[1] k = {3}, int64[1] i = {0}> "
    "{ s = Shape (x) n = Gather (s, i) p = Concat <axis = 0> (n, k) r = Reshape (x, p) "
    "d = Identity (r) y = Relu (d) }"
)


def test_onnxsim_runs_and_the_model_keeps_what_is_its_own() -> None:
    model = text(GRAPH)
    model.doc_string = "hello"
    model.metadata_props.add(key="who", value="me")
    model.graph.input[0].doc_string = "an input"
    done = run_pass(PASS, model)
    assert done.with_status(Status.APPLIED)
    assert "Identity" not in done.ops
    assert done.after.doc_string == "hello"
    assert [(p.key, p.value) for p in done.after.metadata_props] == [("who", "me")]
    assert done.after.graph.input == model.graph.input
    assert done.after.graph.output == model.graph.output
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    np.testing.assert_array_equal(
        outputs_of(done.after, {"x": X})["y"], outputs_of(model, {"x": X})["y"]
    )


def changed(model: onnx.ModelProto, kind: str) -> onnx.ModelProto:
    """Return what an onnxsim that is wrong in one way would give."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    output = result.graph.output[0]
    if kind == "name":
        result.graph.node[-1].output[0] = output.name = "z"
    elif kind == "type":
        output.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    elif kind == "shape":
        output.type.tensor_type.shape.dim[1].dim_value = 4
    elif kind == "rank":
        output.type.tensor_type.shape.dim.add()
    elif kind == "input":
        del result.graph.input[:]
    elif kind == "invalid":
        result.graph.node[0].input[0] = "nowhere"
    return result


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("name", "other outputs: z"),
        ("type", "gives output 'y' another type"),
        ("shape", "gives output 'y' another shape"),
        ("rank", "gives output 'y' another shape"),
        ("input", "other inputs: none"),
        ("invalid", "the result must pass the ONNX checker; it says: Nodes in a graph must be"),
    ],
)
def test_a_result_that_does_not_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch, kind: str, reason: str
) -> None:
    def wrong(model: onnx.ModelProto, *_: object) -> onnx.ModelProto:
        return changed(model, kind)

    monkeypatch.setattr(f"{MODULE}.simplified", wrong)
    assert_refused(PASS, text(GRAPH), reason)


def test_a_result_with_other_values_is_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(model: onnx.ModelProto, *_: object) -> onnx.ModelProto:
        result = onnx.ModelProto()
        result.CopyFrom(model)
        result.graph.node[-1].op_type = "Abs"
        return result

    monkeypatch.setattr(f"{MODULE}.simplified", wrong)
    result = run(text(GRAPH), passes=[PASS])
    failed = [o for o in result.report.outcomes if o.status is Status.FAILED]
    assert [o.pass_id for o in failed] == [PASS]
    assert "rolled back" in failed[0].reason
    assert result.report.verification.status is Verdict.EQUAL
    assert [n.op_type for n in result.model.to_proto().graph.node][-1] == "Relu"


def test_a_crash_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(model: onnx.ModelProto, *_: object) -> onnx.ModelProto:
        raise EngineFailed("onnxsim ended with code -11: ")

    monkeypatch.setattr(f"{MODULE}.simplified", crash)
    assert_refused(PASS, text(GRAPH), "onnxsim ended with code -11")


def test_too_slow_is_a_refusal() -> None:
    done = run_pass(PASS, text(GRAPH), options={"seconds": 0})
    assert any("took longer than 0 s" in reason for reason in done.reasons)
    assert done.after == done.before


def test_it_runs_only_when_named() -> None:
    result = run(text(GRAPH), target="trt8", verify="off")
    assert PASS not in {o.pass_id for o in result.report.outcomes}


def test_external_weights_are_refused(tmp_path: Path) -> None:
    model = text("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    weights = model.graph.initializer[0]
    weights.CopyFrom(onnx.numpy_helper.from_array(np.array([1, 2], np.float32), "w"))
    path = tmp_path / "model.onnx"
    onnx.save_model(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)  # pyright: ignore[reportUnknownMemberType]
    result = run(path, passes=[PASS], verify="off")
    refused = [o.reason for o in result.report.outcomes if o.status is Status.REFUSED]
    assert refused == ["weights must lie inside the file; onnxsim would load those outside"]


def test_nothing_to_simplify_is_not_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def same(model: onnx.ModelProto, *_: object) -> onnx.ModelProto:
        return model

    monkeypatch.setattr(f"{MODULE}.simplified", same)
    done = run_pass(PASS, text(GRAPH))
    assert not done.with_status(Status.APPLIED)
