"""Which passes a finding names: those that can act where it is, and what they need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import onnx
import pytest

import graphfix
from graphfix import APPROXIMATE, EXACT, LOSSY, graph_pass, rewrite
from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import INTERFACE, Pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.registry import shipped_passes
from graphfix.engines.known_rules import all_rules
from graphfix.ir.views import NodeView, Value
from graphfix.pipeline.removers import can_remove, with_removers
from graphfix.pipeline.settings import Settings
from graphfix.rendering.as_json import check_json
from graphfix.rendering.text_check import check_text
from graphfix.report import Finding, NodeRef, Severity
from graphfix.testing import parse

GENERAL = [p for p in shipped_passes() if p.kind == "rewrite"]


def found(rule: str, feature: str, op: str, domain: str = "") -> Finding:
    return Finding(rule, feature, Severity.REJECT, NodeRef("n", 0, op, domain, ("y",)), "m")


@cache
def shown_at(op: str) -> frozenset[str]:
    """Return the features that rules show at an operator."""
    return frozenset(rule.feature.replace("{op}", op) for rule in all_rules())


def keys(declared: Pass, op: str) -> set[str]:
    return {domain for domain, name in declared.matches if name == op}


@pytest.mark.parametrize("declared", GENERAL, ids=lambda p: p.id)
def test_no_listed_pass_contradicts_the_node(declared: Pass) -> None:
    settings = Settings(None, None, None, (declared,))
    own = sorted(f.replace("*", "x") for f in declared.removes)
    ops = {op for _, op in declared.matches[:12]} | {"Relu", "Gelu", "Det"}
    shown = set[str]().union(*(shown_at(op) for op in ops))
    features = own[:12] + [f for f in shown if declared.removes_feature(f)]
    # Where `keys` is empty, the pass says of no domain that it is for the operator.
    places = [
        (op, domain)
        for op in ops
        if keys(declared, op)
        for domain in ("", "com.microsoft", "acme", *keys(declared, op))
    ]
    findings = [found("r", feature, op, domain) for feature in features for op, domain in places]
    for opset in (1, 13, 21):
        for named in with_removers(findings, settings, {"main": opset}):
            if not named.removed_by:
                continue
            assert {"*", named.node.domain} & keys(declared, named.node.op), named
            assert declared.since <= opset
            assert not declared.until or opset <= declared.until


@pytest.mark.parametrize("declared", GENERAL, ids=lambda p: p.id)
def test_each_pass_is_named_where_its_own_feature_is_found(declared: Pass) -> None:
    for feature in declared.removes:
        kind, _, name = feature.partition(":")
        domain, _, op = name.rpartition("::")
        if kind != "op" or domain == "aten" or op == "*":
            continue
        finding = found("r", feature, op, domain)
        assert can_remove(declared, finding, declared.since or 21), feature


@rewrite("acme::Mish", removes=("op:Mish", "op:acme::Mish"), emits="Tanh", accuracy=EXACT)
def of_another_domain(node: NodeView, build: Builder) -> Value:
    """Replace Mish of another domain."""
    return build.Tanh(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Tanh", accuracy=EXACT, since=19)
def of_a_newer_opset(node: NodeView, build: Builder) -> Value:
    """Replace newer Mish."""
    return build.Tanh(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Tanh", accuracy=EXACT, until=17)
def of_an_older_opset(node: NodeView, build: Builder) -> Value:
    """Replace older Mish."""
    return build.Tanh(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Tanh", accuracy=APPROXIMATE)
def fitting(node: NodeView, build: Builder) -> Value:
    """Replace Mish."""
    return build.Tanh(node.need(0))


@rewrite("Mish", removes="op:Mish", emits="Tanh", accuracy=LOSSY)
def losing(node: NodeView, build: Builder) -> Value:
    """Replace Mish, and lose something."""
    return build.Tanh(node.need(0))


@graph_pass(removes="op:Mish", stage=INTERFACE, accuracy=LOSSY)
def both(editor: Editor) -> None:
    """Change the interface and lose something."""


MISH = parse(
    '<ir_version: 8, opset_import: ["": 18]> g (float[2,3] x) => (float[2,3] y) { y = Mish (x) }'
)
ALL = (of_another_domain, of_a_newer_opset, of_an_older_opset, fitting, losing, both)


def only(passes: Sequence[Pass] = ALL) -> Finding:
    (finding,) = [f for f in graphfix.check(MISH, "trt8.2", passes=passes) if f.blocks]
    return finding


def test_domain_and_opset_of_a_pass_have_to_be_those_of_the_node() -> None:
    assert only().removed_by == ("fitting", "both", "losing")


def test_a_function_has_an_opset_of_its_own() -> None:
    finding = Finding("r", "op:Mish", Severity.REJECT, NodeRef("n", 0, "Mish"), "m")
    inside = NodeRef("n", 0, "Mish", scope="function:acme::F:")
    assert can_remove(of_an_older_opset, finding, 17)
    settings = Settings(None, None, None, (of_an_older_opset,))
    opsets: dict[str, int | None] = {"main": 18, "function:acme::F:": 17}
    there = Finding("r", "op:Mish", Severity.REJECT, inside, "m")
    reported = with_removers([finding, there], settings, opsets)
    assert [f.removed_by for f in reported] == [(), ("of-an-older-opset",)]


def test_what_is_about_a_node_before_it_names_what_replaces_that() -> None:
    for rule in ("misread-form", "reported-here"):
        finding = found(rule, "op:Mish", "Reshape")
        assert can_remove(fitting, finding, 18), rule
        assert not can_remove(of_another_domain, finding, 18)
        assert not can_remove(of_a_newer_opset, finding, 18)


def test_a_feature_of_all_operators_is_not_removed_by_a_pass_for_others() -> None:
    finding = found("r", "dtype:mixed", "Add")
    named = [p.id for p in GENERAL if can_remove(p, finding, 17)]
    assert "pow-exponent-like-base" not in named
    assert can_remove(
        next(p for p in GENERAL if p.id == "pow-exponent-like-base"),
        found("r", "dtype:mixed", "Pow"),
        17,
    )


def test_what_replaces_the_reader_of_a_sequence_removes_its_maker() -> None:
    finding = found("r", "op:SequenceConstruct", "SequenceConstruct")
    named = {p.id for p in GENERAL if can_remove(p, finding, 17)}
    assert {"sequence-at-to-slice", "concat-from-sequence-to-concat"} <= named


def test_text_marks_the_passes_that_need_consent_and_json_lists_ids() -> None:
    finding = only()
    assert finding.needs == (
        ("both", "--allow-io-change and --allow-lossy"),
        ("losing", "--allow-lossy"),
    )
    said = " ".join(check_text("m.onnx", "trt8.2", [finding]).split())
    assert (
        "removed by fitting, both (needs --allow-io-change and --allow-lossy), losing (needs "
        "--allow-lossy)"
    ) in said
    listed = check_json("trt8.2", [finding])["findings"]
    assert isinstance(listed, list)
    assert listed[0]["removed_by"] == ["fitting", "both", "losing"]


def test_a_consent_that_was_given_is_not_asked_for() -> None:
    finding = only()
    consented = Settings(None, None, None, ALL, allow_lossy=True)
    (reported,) = with_removers([finding], consented, {"main": 18})
    assert reported.removed_by == finding.removed_by
    assert reported.needs == (("both", "--allow-io-change"),)


def test_onnx_operators_of_other_domains_name_no_pass_of_the_default_one() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18, "acme": 1]> g (float[2,3] x) => (float[2,3] y) '
        "{ y = acme.Mish (x) }"
    )
    (finding,) = [f for f in graphfix.check(model, "trt8.2", passes=[fitting]) if f.blocks]
    assert finding.removed_by == ()


def test_a_step_of_the_opset_is_named_where_it_took_the_node_away() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 22]>'
        "g (float[1,1,3,3] x, float[1,8,2,2] o) => (float[1,1,2,2] y) "
        "<float[1,1,2,2] w = {1, 2, 3, 4}> { y = DeformConv (x, w, o) }"
    )
    report = graphfix.run(model, "trt8.6", skip=["deform-conv-to-grid-sample"]).report
    (gone,) = [f for f in report.findings_before if f.feature == "op:DeformConv"]
    assert gone.removed_by == ("opset",)
    assert all(f.feature != "op:DeformConv" for f in report.findings_after)
