"""The TVM profile is what its facts make, and TVM itself says the same where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.cli import main
from graphfix.engines.engine import engine_of
from graphfix.engines.targets import load_target, resolve
from graphfix.engines.tvm import generate
from graphfix.report import Severity
from tests.engines.cases import model_of

TAKEN = "(float[1,4] x) => (float[1,4] y) { a = Relu (x) y = Softmax (a) }"


def test_the_profile_is_what_the_facts_make() -> None:
    assert engine_of("tvm").profile("tvm0.27") == generate.profile()
    assert resolve("apache-tvm 0.27")[0].name == "tvm0.27"


@pytest.mark.parametrize(
    ("graph", "rule", "feature"),
    [
        ("(float[1,2,2] x) => (float[1] y) { y = Det (x) }", "stated-operator", "op:Det"),
        (
            "(float[1,2,4] x, float[1,8,4] w, float[1,8,2] r) => (float[a,b,c,d] y)"
            "{ y = LSTM <hidden_size = 2> (x, w, r) }",
            "stated-operator",
            "op:LSTM",
        ),
        (
            "(float[2,4] x, int64[1] k) => (float[a,b] v, int64[a,b] i) { v, i = TopK (x, k) }",
            "stated-constant",
            "const:TopK.K",
        ),
        (
            "(float[2,4] x, int64[1] a) => (float[b,c] y) { y = ReduceSum (x, a) }",
            "stated-constant",
            "const:ReduceSum.axes",
        ),
    ],
)
def test_what_tvm_refuses_is_found_at_its_node(graph: str, rule: str, feature: str) -> None:
    (found,) = graphfix.check(model_of(graph), "tvm0.27")
    assert (found.rule, found.feature, found.severity) == (rule, feature, Severity.REJECT)


def test_what_tvm_takes_is_no_finding() -> None:
    assert graphfix.check(model_of(TAKEN), "tvm0.27") == ()
    branches = "then_branch = t () => (float[1,4] a) { a = Relu (x) }"
    branches += ", else_branch = e () => (float[1,4] b) { b = Neg (x) }"
    graph = f"(bool c, float[1,4] x) => (float[1,4] y) {{ y = If (c) <{branches}> }}"
    assert graphfix.check(model_of(graph), "tvm0.27") == ()
    found = graphfix.check(model_of(TAKEN, 27), "tvm0.27")
    assert [(f.rule, f.severity) for f in found] == [("stated-opset-unknown", Severity.NOTE)]


@pytest.mark.parametrize("rows", ["1", "N"])  # other sizes have it compiled again
def test_a_result_runs_in_tvm(
    rows: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not engine_of("tvm").has(load_target("tvm0.27")):
        pytest.skip("TVM is not here: graphfix targets --install tvm0.27")
    path = tmp_path / "model.onnx"
    graph = f"(float[{rows},4] x) => (float[{rows},4] y) {{ a = Mish (x) y = Celu (a) }}"
    path.write_bytes(model_of(graph, 18).SerializeToString())
    words = ["run", str(path), "--target", "tvm0.27", "--verify", "engine"]
    assert main([*words, "-o", str(tmp_path / "out.onnx")]) == 0
    assert "TVM 0.27" in capsys.readouterr().out
