"""Many sites: one proof for equal ones, crashes, limits, and the model's own weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Pass, rewrite
from graphfix.ir.views import NodeView, Value
from graphfix.proving.sites import prover as proving
from graphfix.proving.sites.prover import Bounds, Prover
from graphfix.report import EXACT, Accuracy, Certificate, Verdict
from graphfix.worker import service
from tests.proving.sites.conftest import Sites, sites_of


@rewrite("Add", emits=("Sub", "Neg"), accuracy=EXACT)
def add_to_sub(node: NodeView, build: Builder) -> Value:
    """Replace a sum by a difference."""
    return build.Sub(node.need(0), build.Neg(node.need(1)))


@rewrite("mine::Odd", emits=("Neg",), accuracy=EXACT)
def odd_to_neg(node: NodeView, build: Builder) -> Value:
    """Replace an operator that only its numpy model knows."""
    return build.Neg(node.need(0))


@rewrite("Mul", emits=("Identity",), accuracy=EXACT)
def mul_by_ones(node: NodeView, build: Builder) -> Value:
    """Drop a factor that is all ones."""
    factor = build.const(node.need(1))
    assert factor is not None
    assert bool((factor == 1).all())
    return build.Identity(node.need(0))


def _pass(function: object) -> Pass:
    assert isinstance(function, Pass)
    return function


def _chain(count: int) -> onnx.ModelProto:
    nodes = "".join(f"v{n + 1} = Add (v{n}, w)\n" for n in range(count))
    return onnx.parser.parse_model(
        f"""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] v0) => (float[2] v{count}) <float[2] w = {{1, 2}}> {{ {nodes} }}
        """
    )


ODD = """
    <ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
    g (float[2] x) => (float[2] y, float[2] z) { y = mine.Odd (x)  z = Add (x, x) }
"""


def _prove(prover: Prover, sites: Sites) -> dict[str, Certificate]:
    proofs = prover.prove([(evidence, site.accuracy) for site, evidence in sites], {})
    return {s.node.outputs[0]: p for (s, _), p in zip(sites, proofs, strict=True)}


def test_sites_that_do_the_same_share_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask(task: str, folder: Path, *rest: Any) -> object:
        asked.append((folder / "cases.json").read_text(encoding="utf-8").count("number"))
        return service.ask(task, folder, *rest)

    monkeypatch.setattr(proving, "ask", ask)
    sites, _ = sites_of(_chain(30), _pass(add_to_sub))
    prover = Prover({})
    proofs = _prove(prover, sites)
    assert len(proofs) == 30
    assert {proof.status for proof in proofs.values()} == {Verdict.EQUAL}
    assert asked == [1]
    assert _prove(prover, sites) == proofs
    assert asked == [1], "a proof is remembered"
    other = Prover({}, memory=prover.memory)
    assert _prove(other, sites) == proofs
    assert asked == [1], "by other provers too, where they share a memory"
    assert set(prover.memory.costs) == set(prover.memory.known)


def test_an_operator_that_no_one_can_run_is_inconclusive() -> None:
    sites, _ = sites_of(ODD, _pass(odd_to_neg), _pass(add_to_sub))
    proofs = _prove(Prover({}), sites)
    assert proofs["y"].status is Verdict.INCONCLUSIVE
    assert "Odd" in proofs["y"].reason
    assert proofs["z"].status is Verdict.EQUAL


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("return (-inputs[0],)", Verdict.EQUAL, ""),
        ("return (-inputs[0] * np.float32(1.002),)", Verdict.MISMATCH, "elements differ"),
        ("os.kill(os.getpid(), signal.SIGKILL)", Verdict.INCONCLUSIVE, "SIGKILL"),
        ("time.sleep(60)", Verdict.INCONCLUSIVE, "took longer than 1.5 s"),
        ("return (np.ones(2**32),)", Verdict.INCONCLUSIVE, "MemoryError"),
    ],
)
def test_a_site_is_proved_with_the_model_of_its_operator(
    tmp_path: Path, body: str, status: Verdict, reason: str
) -> None:
    place = tmp_path / "odd.py"
    head = "import os, signal, time\nimport numpy as np\n\n\ndef odd(inputs, attributes):\n"
    place.write_text(f"{head}    {body}\n", encoding="utf-8")
    sites, _ = sites_of(ODD, _pass(odd_to_neg), _pass(add_to_sub))
    prover = Prover({("mine", "Odd"): f"{place}:odd"}, Bounds(patience=1.5, memory=2**31))
    proofs = _prove(prover, sites)
    assert proofs["y"].status is status
    assert reason in proofs["y"].reason
    assert proofs["z"].status is Verdict.EQUAL, "one site that crashes costs no other"


def test_what_there_was_no_time_for_says_so() -> None:
    sites, _ = sites_of(_chain(3), _pass(add_to_sub))
    proofs = _prove(Prover({}, Bounds(seconds=0.0)), sites)
    assert {proof.status for proof in proofs.values()} == {Verdict.INCONCLUSIVE}
    assert {p.reason for p in proofs.values()} == {"not looked at: 0 s for all sites were used up"}


def _ones(size: int) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        f"""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[1, {size}] x) => (float[1, {size}] y) {{ y = Mul (x, w) }}
        """
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(size, np.float32), "w"))
    return model


def test_a_pass_that_knows_the_weights_is_judged_by_them() -> None:
    # 200,000 bytes: made up at first, and only then read.
    sites, _ = sites_of(_ones(50_000), _pass(mul_by_ones))
    assert _prove(Prover({}), sites)["y"].status is Verdict.EQUAL


def test_constants_are_computed_together() -> None:
    nodes = "\n".join(f"c{n} = Add (w, k{n})\n y{n} = Mul (x, c{n})" for n in range(40))
    outputs = ", ".join(f"float[2] y{n}" for n in range(40))
    constants = ", ".join(f"float[2] k{n} = {{{n}, {n + 1}}}" for n in range(40))
    sites, _ = sites_of(
        f"""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => ({outputs}) <float[2] w = {{1, 2}}, {constants}> {{ {nodes} }}
        """,
        "fold-constants",
    )
    assert len(sites) == 40
    proofs = _prove(Prover({}), sites)
    assert set(proofs.values()) == {Certificate(Verdict.EQUAL, 0.0, 0.0, 1)}


def test_a_wrong_constant_is_found() -> None:
    @rewrite("Add", emits=(), accuracy=EXACT)
    def badly_folded(node: NodeView, build: Builder) -> Value:
        """Fold a sum, but not quite."""
        left, right = build.const(node.need(0)), build.const(node.need(1))
        assert left is not None
        assert right is not None
        return build.constant(np.asarray(left + right * np.float32(1.01)))

    sites, _ = sites_of(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}>
        { c = Add (a, b)  y = Mul (x, c) }
        """,
        _pass(badly_folded),
    )
    proof = _prove(Prover({}), sites)["c"]
    assert proof.status is Verdict.MISMATCH
    assert "no input" in proof.reason
    assert proof.max_abs == pytest.approx(0.04, rel=0.01)


@pytest.mark.parametrize("accuracy", [Accuracy.EXACT, Accuracy.LOSSY])
def test_labels_do_not_share_a_proof(accuracy: Accuracy) -> None:
    sites, _ = sites_of(_chain(1), _pass(add_to_sub))
    evidence = sites[0][1]
    evidence.after[0].op_type = "Abs"
    found = Prover({}).prove([(evidence, accuracy)], {})
    expected = Verdict.MISMATCH if accuracy is Accuracy.EXACT else Verdict.LOSSY
    assert [proof.status for proof in found] == [expected]
