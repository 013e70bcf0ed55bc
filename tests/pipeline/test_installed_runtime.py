"""The onnxruntime installed here is asked itself, where it is the version that is meant."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, external_data_helper, helper, numpy_helper, parser

import graphfix
from graphfix.cli import main
from graphfix.engines.interface import Loaded
from graphfix.engines.onnxruntime.installed import installed_minor, means_installed
from graphfix.engines.targets import load_target
from graphfix.errors import EngineFailed
from graphfix.pipeline import engine_verdict
from graphfix.report import Finding, Severity
from graphfix.worker.service import Crashed

VERSION = version("onnxruntime")
HERE = "ort-" + ".".join(VERSION.split(".")[:2])
RULES = ("does-not-load", "not-opened")
LSTM = """(float[1,3,4] a, float[1,8,4] w, float[1,8,2] r) => (float[1,1,3,2] y) {
    [cell] y = LSTM <hidden_size=2, activations=["Swish","Tanh","Tanh"]> (a, w, r)
}"""


def model_of(graph: str, opset: int = 13) -> ModelProto:
    imports = f'"" : {opset}, "acme" : 1'
    return parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]> g {graph}")


def reported(model: ModelProto, target: str = HERE, **asked: Any) -> list[Finding]:
    return [f for f in graphfix.check(model, target, **asked) if f.rule in RULES]


def test_what_no_rule_knows_is_reported_with_the_whole_message() -> None:
    (found,) = reported(model_of(LSTM))
    assert (found.rule, found.severity, found.certain) == ("does-not-load", Severity.REJECT, True)
    assert found.message.startswith(f"onnxruntime {VERSION}, which is installed")
    assert "Expecting activation to be one of Affine" in found.engine_text
    assert found.engine_text.endswith("Got Swish")


@pytest.mark.parametrize(
    "said",
    [
        "Type 'tensor(float)' of input parameter (h) of operator (Abs) in node (late) is invalid.",
        "Node (late) Op (Abs) [ShapeInferenceError] Incompatible dimensions",
        'In Node, ("late", Abs, "", -1) : ("h": tensor(float),) -> ("y",) , Error Unrecognized',
        "Could not find an implementation for Abs(13) node with name 'late'",
        "(op_type:Abs, node name: late): [TypeInferenceError] no",
        "Fatal error: ai.onnx:Abs(-1) is not a registered function/op",
        "Error: two nodes with same node name (late).",
    ],
)
def test_the_node_that_a_message_names_is_the_node_of_the_finding(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    def refusing(*_: object) -> Loaded:
        return Loaded("1.99", said)

    monkeypatch.setattr(engine_verdict, "ask", refusing)
    graph = "(float[2] x) => (float[2] y) { [early] h = Relu (x) [late] y = Abs (h) }"
    (found,) = reported(model_of(graph))
    assert (found.node.name, found.node.op, found.engine_text) == ("late", "Abs", said)
    assert found.message.startswith("onnxruntime 1.99, which is installed here, does not load")


@pytest.mark.parametrize(
    "graph",
    [
        "(float[2,3] a, float[4,5] b) => (float[2,5] y) { [mm] y = MatMul (a, b) }",
        "(int16[2] a, int16[2] b) => (int16[2] y) { y = Mul (a, b) }",
        "(float[2] a) => (float[2] y) { [r] y = Relu <foo=1> (a) }",
        "(float[2] a) => (float[2] y) { [mine] y = acme.MyNorm (a) }",
        "(float[2] a) => (bool[2] y) { [f] y = IsInf (a) [g] z = acme.MyNorm (a) }",
    ],
)
def test_what_a_rule_has_said_of_the_node_is_not_said_again(graph: str) -> None:
    found = graphfix.check(model_of(graph), HERE)
    assert any(each.blocks for each in found)
    assert not [each for each in found if each.rule in RULES]


def test_a_wrong_declaration_is_said_once() -> None:
    model = model_of("(float[2] a) => (float[2] y) { t = Relu (a) y = Abs (t) }")
    model.graph.value_info.append(helper.make_tensor_value_info("t", TensorProto.INT64, [2]))
    assert [f.rule for f in graphfix.check(model, HERE) if f.blocks] == ["type-declared"]


def test_an_opset_that_is_too_new_is_said_once() -> None:
    model = model_of("(float[2] a) => (float[2] y) { y = Relu (a) }")
    model.opset_import[1].domain, model.opset_import[1].version = "ai.onnx.ml", 99
    assert [f.rule for f in graphfix.check(model, HERE) if f.blocks] == ["runtime-domain"]


def test_a_model_that_it_loads_has_no_finding() -> None:
    assert reported(model_of("(float[2] x) => (float[2] y) { y = Relu (x) }")) == []


def test_external_data_is_found(tmp_path: Path) -> None:
    model = model_of("(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    weights = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    model.graph.initializer[0].CopyFrom(weights)
    external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    onnx.save(model, tmp_path / "m.onnx")  # pyright: ignore[reportUnknownMemberType]
    assert (tmp_path / "w.bin").stat().st_size == 8
    assert [f for f in graphfix.check(tmp_path / "m.onnx", HERE) if f.rule in RULES] == []


def test_what_is_assumed_to_be_there_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_verdict, "ask", forbidden)
    model = model_of("(float[2] x) => (float[2] y) { y = acme.MyNorm (x) }")
    assert reported(model, assume_ops=["acme::MyNorm"]) == []


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.20", "ort-1.4"])
@pytest.mark.parametrize("verify", ["off", None])
def test_no_child_is_started_for_another_version(
    monkeypatch: pytest.MonkeyPatch, target: str, verify: str | None
) -> None:
    monkeypatch.setattr(engine_verdict, "ask", forbidden)
    model = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }", 12)
    if verify is None:
        assert reported(model, target) == []
    else:
        assert graphfix.run(model, target, verify=verify).exit_code == 0


def test_the_result_of_a_run_is_asked_about_too() -> None:
    result = graphfix.run(model_of(LSTM), HERE)
    before = [f.rule for f in result.report.findings_before if f.rule in RULES]
    after = [f.rule for f in result.report.findings_after if f.rule in RULES]
    assert (result.exit_code, before, after) == (1, ["does-not-load"], ["does-not-load"])


def test_a_result_that_is_loaded_is_fixed() -> None:
    model = model_of("(float[2,4] x) => (float[2,4] y) { [late] y = Abs (h) h = Relu (x) }")
    result = graphfix.run(model, HERE)
    assert [site.node.name for o in result.report.outcomes for site in o.sites] == ["late"]
    assert (result.exit_code, result.report.findings_after) == (0, ())


@pytest.mark.parametrize(
    ("raised", "rule", "severity"),
    [
        (EngineFailed("ran out of memory"), "not-opened", Severity.NOTE),
        (Crashed("the engine crashed: SIGFPE"), "does-not-load", Severity.REJECT),
    ],
)
def test_what_cannot_be_asked_is_said_and_a_crash_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch, raised: EngineFailed, rule: str, severity: Severity
) -> None:
    def failing(*_: object) -> None:
        raise raised

    monkeypatch.setattr(engine_verdict, "ask", failing)
    (found,) = reported(model_of("(float[2] x) => (float[2] y) { y = Relu (x) }"))
    assert (found.rule, found.severity) == (rule, severity)
    assert str(raised) in found.message + found.engine_text


def test_which_names_mean_the_installed_version() -> None:
    major, minor = installed_minor()
    assert means_installed(f"ort-{major}.{minor}")
    assert means_installed(f"onnxruntime {major}.{minor}")
    assert not means_installed(f"ort-{major}.{minor - 2}")
    assert not means_installed("trt8.6")
    stands_for_it = load_target(f"ort-{major}.{minor}") == load_target("ort")
    assert means_installed("ort") == stands_for_it


def forbidden(*_: object) -> None:
    raise AssertionError("a child was asked")


@pytest.mark.parametrize(
    ("target", "loads"), [(HERE, True), ("ort-1.12", False), ("trt8.6", False)]
)
def test_check_says_whether_the_engine_has_loaded_the_model(
    target: str, loads: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of("(float[2] a) => (float[2] y) { y = Relu (a) }").SerializeToString())
    assert main(["check", str(path), "--target", target]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (f"engine onnxruntime {HERE[4:]}, installed here, loaded the file." in said) is loads
    assert (" was not run; the rules known of it were applied." in said) is not loads
