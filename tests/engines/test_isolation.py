"""A rule or a hook of an engine that raises is a finding; the rest is judged, the run continues."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace as changed

import graphfix
from graphfix.cli import main
from graphfix.engines import checking
from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.known_rules import RuleSet, rules_for
from graphfix.engines.profile import Target
from graphfix.engines.rule import FAILED, NOTE, REJECT, STRICT, Answer, Rule, model_rule, rule
from graphfix.errors import RuleFault
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.reproducers.folder import read_folder
from graphfix.rendering.schemas import schema_of
from graphfix.report import Finding, Severity, Status
from tests.engines.cases import model_of

ROOT = Path(__file__).parents[2]
GRAPH = """(float[2,3] x) => (float[2,3] y) {
    a = Neg (x)
    b = Erf (a)
    y = Mod <fmod = 1> (b, x)
}"""
TARGET = "trt8.2"


@rule("Erf", feature="form:Erf.odd", versions="trt", severity=REJECT, source="here")
def odd_one(node: NodeView, target: Target) -> Answer:
    """An odd Erf is refused."""
    raise IndexError(f"no {node.op}\nsecond line")


@rule("Erf", feature="form:Erf.quiet", versions="trt", severity=NOTE, source="here")
def quiet_one(node: NodeView, target: Target) -> Answer:
    """A quiet Erf is slow."""
    raise ZeroDivisionError


@model_rule(feature="model:odd", versions="trt", severity=REJECT, source="here")
def odd_model(model: Model, target: Target) -> Answer:
    """An odd model is refused."""
    raise KeyError(model.graph.name)


def with_rules(monkeypatch: pytest.MonkeyPatch, *added: Rule) -> None:
    """Let the rules of every target have further ones, and let those that raise be findings."""

    def grown(target: Target) -> RuleSet:
        rules = rules_for(target)
        exact = dict(rules.exact)
        whole = (*rules.whole, *(one for one in added if one.whole))
        for one in added:
            for key in one.ops:
                exact[key] = (*(exact.get(key) or rules.everywhere), one)
        return changed(rules, exact=exact, whole=whole)

    monkeypatch.setattr(checking, "rules_for", grown)
    monkeypatch.delenv(STRICT)


def failing(findings: tuple[Finding, ...]) -> list[Finding]:
    return [finding for finding in findings if finding.fault]


def test_a_rule_that_raises_is_a_possible_finding_at_its_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = graphfix.check(model_of(GRAPH), TARGET)
    with_rules(monkeypatch, odd_one, quiet_one, odd_model)
    found = graphfix.check(model_of(GRAPH), TARGET)
    assert [f for f in found if not f.fault] == list(usual)  # the rest is judged as it was
    model, odd, quiet = failing(found)
    assert (odd.rule, odd.feature, odd.severity) == ("odd-one", "form:Erf.odd", Severity.REJECT)
    assert (odd.certain, odd.missing, odd.fault) == (
        *(False, FAILED),
        "IndexError: no Erf second line",
    )
    assert (odd.node.op, odd.node.index, odd.node.outputs) == ("Erf", 1, ("b",))
    assert "An odd Erf is refused: not known here" in odd.message
    assert (odd.blocks, quiet.blocks) == (True, False)
    assert (model.rule, model.node.op, model.fault) == ("odd-model", "", "KeyError: 'g'")


def test_tests_see_what_a_rule_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    with_rules(monkeypatch, odd_one)
    monkeypatch.setenv(STRICT, "1")
    with pytest.raises(RuleFault, match="the rule odd-one failed: IndexError: no Erf"):
        graphfix.check(model_of(GRAPH), TARGET)


@pytest.mark.parametrize("error", [MemoryError(), graphfix.InvalidModel("no weights")])
def test_what_is_no_fault_of_a_rule_continues_as_it_is(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def raising(node: NodeView, target: Target) -> Answer:
        raise error

    with_rules(monkeypatch, changed(odd_one, check=raising))
    with pytest.raises(graphfix.InvalidModel):
        graphfix.check(model_of(GRAPH), TARGET)


def test_a_run_continues_is_not_called_fixed_and_leaves_a_reproducer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert graphfix.run(model_of(GRAPH), TARGET).exit_code == 0
    with_rules(monkeypatch, odd_one)
    result = graphfix.run(model_of(GRAPH), TARGET, reproducers=tmp_path)
    assert result.exit_code == 1  # Mod is gone, and whether Erf is taken is not known
    assert [f.rule for f in result.report.findings_after if f.blocks] == ["odd-one"]
    assert "Mod" not in {node.op for node in result.model.nodes()}
    (made,) = result.report.reproducers
    assert (made.pass_id, made.kind, made.node.op, made.reason) == ("odd-one", "rule", "Erf", "")
    kept = read_folder(Path(made.folder))
    assert [node.op_type for node in kept.model.graph.node] == ["Erf"]
    assert kept.recipe.target == TARGET
    shown = graphfix.replay(made.folder)
    assert (shown.shows, shown.now) == (True, "IndexError: no Erf second line")
    monkeypatch.undo()
    assert graphfix.replay(made.folder).shows is False


def test_no_pass_is_blamed_for_a_rule_that_failed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mod becomes several nodes at each of which the rule fails; it had failed at one."""

    def everywhere(node: NodeView, target: Target) -> Answer:
        if any(node.node is each for each in node.graph.nodes):  # not in a draft
            raise ValueError(node.op)
        return None

    every = changed(odd_one, ops=tuple(("", op) for op in ("Erf", "Div", "Mul", "Sub", "Floor")))
    with_rules(monkeypatch, changed(every, check=everywhere))
    graph = "(float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Erf (x) z = Mod <fmod=1> (x, y) }"
    result = graphfix.run(model_of(graph), TARGET)
    assert result.exit_code == 1
    assert {f.rule for f in result.report.findings_after if f.blocks} == {"odd-one"}
    assert len(failing(result.report.findings_after)) > len(failing(result.report.findings_before))
    assert {(o.pass_id, o.status) for o in result.report.outcomes if o.sites} >= {
        ("mod-elimination", Status.APPLIED)
    }


class _Faulty(Engine):
    """The hooks of an engine, each of which raises."""

    def computes_early(self, node: NodeView) -> bool:
        raise LookupError(node.op)

    def reads(self, graph: Any) -> bool:
        raise LookupError(graph.scope)

    def as_read(self, model: Any, target: Any, known: Any) -> Any:
        raise LookupError("as read")

    def reported_elsewhere(self, model: Any, target: Any, known: Any) -> Any:
        yield known[0]
        raise LookupError("elsewhere")


@pytest.mark.parametrize(
    ("hook", "severity"),
    [("computes_early", "note"), ("as_read", "wrong"), ("reported_elsewhere", "note"),
     ("reads", "note")],
)  # fmt: skip
def test_a_hook_that_raises_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, hook: str, severity: str
) -> None:
    body = "g () => (float[2,3] v) { v = Mod <fmod = 1> (x, x) }"
    graph = f"""(float[2,3] x, bool c) => (float[2,3] y) {{
        y = If (c) <then_branch = {body}, else_branch = {body.replace("v", "w")}>
    }}"""
    usual = graphfix.check(model_of(graph), TARGET)
    raising: Callable[..., Any] = vars(_Faulty)[hook]
    monkeypatch.setattr(engine_of("trt"), hook, raising.__get__(_Faulty()), raising=True)
    monkeypatch.delenv(STRICT)
    found = graphfix.check(model_of(graph), TARGET)
    faults = failing(found)
    assert {(f.rule, str(f.severity), f.certain) for f in faults} == {
        ("engine-hook", severity, False)
    }
    assert all("LookupError" in f.message and hook in f.message for f in faults)
    lost = {f.rule for f in usual if f not in found}
    assert lost == ({"reported-here"} if hook == "reported_elsewhere" else set())


def test_the_command_line_says_so_and_the_json_is_as_described(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rules(monkeypatch, odd_one)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "m.onnx").write_bytes(model_of(GRAPH).SerializeToString())
    assert main(["check", str(tmp_path / "m.onnx"), "--target", TARGET, "--json"]) == 1
    said = capsys.readouterr()
    schema = schema_of("report")
    reported = json.loads(said.out)
    jsonschema.validate(reported, schema)
    assert reported["ok"] is False
    (odd,) = [f for f in reported["findings"] if f["rule"] == "odd-one"]
    assert (odd["certain"], odd["missing"]) == (False, FAILED)
    (line,) = [each for each in said.err.splitlines() if "odd-one" in each]
    assert line.startswith("graphfix: note: the rule odd-one failed at ")
    folder = line.partition("graphfix replay ")[2].partition("`")[0]
    assert graphfix.replay(folder).shows is True
    out = tmp_path / "out.onnx"
    words = ["run", str(tmp_path / "m.onnx"), "--target", TARGET, "-o", str(out), "--json"]
    assert main(words) == 1
    reported = json.loads(capsys.readouterr().out)
    jsonschema.validate(reported, schema)
    assert [made["kind"] for made in reported["reproducers"]] == ["rule"]


def test_a_note_that_fails_blocks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with_rules(monkeypatch, quiet_one)
    assert graphfix.run(model_of(GRAPH), TARGET).exit_code == 0
