"""Limits that a profile states, and what the engine after a target runs in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.engines.known_rules import rules_for
from graphfix.engines.profile import Limit, Target
from graphfix.engines.targets import load_target
from graphfix.errors import UsageError
from graphfix.report import Finding, Severity
from graphfix.testing import parse
from tests.engines.cases import model_of

PROFILE = """
name = "reef3.0"
family = "reef"
version = "3.0"
title = "Reef 3.0"
source = "made up for this test"
domains = ["", "com.microsoft"]
functions = true
contrib = ["Gelu"]
[opset]
max = 17
rejects_above = true
[ops]
Relu = { supported = true }
Add = { supported = true }
Mul = { supported = true }
HardSigmoid = { supported = true }
Reshape = { supported = true, lacks = ["14"] }
Constant = { supported = true }
Conv = { supported = true, limits = ["rank X: 3, 4", "constant W", "attribute group: 1"] }
DepthToSpace = { supported = true, limits = ["attribute mode: DCR"] }
MaxPool = { supported = true, limits = ["without Indices", "without dilations"] }
GRU = { supported = true, limits = ["without clip", "without sequence_lens"] }
"""
CONV = "(float[1,4,8,8] x, float[4,4,3,3] k) => (float[1,4,6,6] y) "
KERNEL = "<float[4,4,3,3] w = {1}>"


def target_of(folder: Path, more: str = "") -> Target:
    path = folder / "reef.toml"
    path.write_text(PROFILE.replace("[opset]", f"{more}\n[opset]"))
    return load_target(path)


def reported(graph: str, target: Target) -> list[tuple[str, str, Severity]]:
    found = graphfix.check(model_of(graph), target)
    return [(f.rule, f.feature, f.severity) for f in found]


def test_a_limit_is_read_as_it_is_spelled(tmp_path: Path) -> None:
    assert target_of(tmp_path).ops["Conv"].limits == (
        Limit("rank", "X", ("3", "4")),
        Limit("constant", "W"),
        Limit("attribute", "group", ("1",)),
    )
    path = tmp_path / "reef.toml"
    path.write_text(PROFILE.replace("constant W", "constants W"))
    with pytest.raises(UsageError, match="limits has 'constants W', which is no limit"):
        load_target(path)


@pytest.mark.parametrize(
    ("graph", "rule", "feature"),
    [
        (CONV + "{ y = Conv (x, k) }", "stated-constant", "const:Conv.W"),
        (
            "(float[1,4,8,8,8] x) => (float[1,4,8,8,8] y) <float[4,4,1,1,1] w = {1}>"
            "{ y = Conv (x, w) }",
            "stated-rank",
            "rank:Conv.5",
        ),
        (
            "(float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,2,1,1] w = {1,2,3,4,5,6,7,8}>"
            "{ y = Conv <group = 2> (x, w) }",
            "stated-attribute",
            "attr:Conv.group=2",
        ),
        (
            "(float[1,4,2,2] x) => (float[1,1,4,4] y)"
            '{ y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }',
            "stated-attribute",
            "attr:DepthToSpace.mode=CRD",
        ),
        (
            "(float[1,1,4,4] x) => (float[1,1,3,3] y, int64[1,1,3,3] i)"
            "{ y, i = MaxPool <kernel_shape = [2, 2]> (x) }",
            "stated-absence",
            "form:MaxPool.indices",
        ),
        (
            "(float[1,1,4,4] x) => (float[1,1,2,2] y)"
            "{ y = MaxPool <kernel_shape = [2, 2], dilations = [2, 2]> (x) }",
            "stated-absence",
            "form:MaxPool.dilations",
        ),
    ],
)
def test_what_a_limit_forbids_is_refused(
    graph: str, rule: str, feature: str, tmp_path: Path
) -> None:
    target = target_of(tmp_path)
    assert (rule, feature, Severity.REJECT) in reported(graph, target)


def test_what_keeps_the_limits_passes(tmp_path: Path) -> None:
    target = target_of(tmp_path)
    kernel = ",".join("1" for _ in range(144))
    constant = f"(float[1,4,8,8] x) => (float[1,4,6,6] y) <float[4,4,3,3] w = {{{kernel}}}>"
    assert reported(constant + "{ y = Conv <group = 1> (x, w) }", target) == []
    unused = "{ y, i = MaxPool <kernel_shape = [2, 2]> (x) }"
    assert reported(f"(float[1,1,4,4] x) => (float[1,1,3,3] y) {unused}", target) == []
    plain = "{ y = DepthToSpace <blocksize = 2> (x) }"
    assert reported(f"(float[1,4,2,2] x) => (float[1,1,4,4] y) {plain}", target) == []


def test_a_rank_that_no_one_knows_is_reported(tmp_path: Path) -> None:
    graph = (
        "(float[4] x, int64[k] s) => (float[n,m,l] y) <float[1,1,1] w = {1}>"
        "{ a = Reshape (x, s) y = Conv (a, w) }"
    )
    found = graphfix.check(model_of(graph), target_of(tmp_path))
    (rank,) = [finding for finding in found if finding.rule == "stated-rank"]
    assert (rank.certain, rank.missing) == (False, "rank of a")


def test_open_sizes_of_inputs_where_shapes_have_to_be_static(tmp_path: Path) -> None:
    graph = "(float[N, 2] x, float[1, 2] z) => (float[N, 2] y) { y = Add (x, z) }"
    assert reported(graph, target_of(tmp_path)) == []
    (found,) = graphfix.check(model_of(graph), target_of(tmp_path, "static_shapes = true"))
    assert (found.rule, found.feature) == ("stated-static-shapes", "io:dynamic-input")
    assert found.severity is Severity.REJECT
    assert found.message.endswith("fix those of input x: --shape 'x=<N>x2'")
    after = target_of(tmp_path, 'static_shapes = true\nfallback = "ort-1.17"')
    (found,) = graphfix.check(model_of(graph), after)
    assert found.severity is Severity.FALLBACK


@pytest.fixture
def reef(tmp_path: Path) -> Target:
    return target_of(tmp_path, 'fallback = "ort-1.17"')


def only(graph: str, target: Target) -> Finding:
    (found,) = graphfix.check(model_of(graph), target)
    return found


def test_nodes_of_the_fallback_engine_do_not_block(reef: Target) -> None:
    found = only("(float[2] x) => (float[2] y) { y = Acosh (x) }", reef)
    assert (found.rule, found.severity, found.blocks) == (
        "stated-operator",
        Severity.FALLBACK,
        False,
    )
    assert found.node.op == "Acosh"
    assert found.message == (
        "Reef 3.0 has no Acosh: ONNX Runtime 1.17 runs the node on the CPU instead"
    )


def test_what_the_engine_after_refuses_as_well_is_refused_in_its_words(reef: Target) -> None:
    found = only("(float[2] x) => (float[2] y) { y = com.microsoft.Nowhere (x) }", reef)
    assert (found.severity, found.feature) == (Severity.REJECT, "op:com.microsoft::Nowhere")
    assert "Reef" not in found.message


def test_what_only_the_first_engine_has_needs_nothing_after_it(reef: Target) -> None:
    found = graphfix.check(model_of("(bfloat16[2] x) => (bfloat16[2] y) { y = Relu (x) }"), reef)
    assert found == ()


def test_a_run_moves_a_node_to_the_engine_where_all_of_it_runs_there(reef: Target) -> None:
    model = parse(
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) '
        "{ a = HardSwish (x) y = Acosh (a) }"
    )
    result = graphfix.run(model, target=reef)
    assert result.exit_code == 0
    assert [node.op for node in result.model.nodes()] == ["HardSigmoid", "Mul", "Acosh"]
    left = [(f.node.op, f.severity) for f in result.report.findings_after]
    assert left == [("Acosh", Severity.FALLBACK)]
    assert not [o for o in result.report.outcomes if o.status == "refused"]


def test_a_node_that_would_only_partly_move_stays(reef: Target) -> None:
    model = parse(
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y){ y = Softplus (x) }'
    )
    result = graphfix.run(model, target=reef)
    assert [node.op for node in result.model.nodes()] == ["Softplus"]
    assert result.exit_code == 0


def test_a_run_lowers_the_opset_to_a_form_that_the_engine_has(reef: Target) -> None:
    graph = "(float[2] x, int64[k] s) => (float[n] y) { y = Reshape (x, s) }"
    assert only(graph, reef).feature == "form:Reshape.14"
    result = graphfix.run(model_of(graph), target=reef)
    assert (result.exit_code, result.model.opset, result.report.findings_after) == (0, 13, ())


def test_a_run_leaves_the_opset_where_no_node_moves(reef: Target) -> None:
    graph = "(float[2] x) => (float[2] y) { y = Acosh (x) }"
    assert graphfix.run(model_of(graph), target=reef).model.opset == 17


def test_rules_whose_facts_a_profile_does_not_have_are_not_asked(tmp_path: Path) -> None:
    file = tmp_path / "reef.toml"
    file.write_text(PROFILE, encoding="utf-8")
    asked = {each.id for each in rules_for(load_target(str(file))).everywhere}
    assert {"stated-constant", "measured-rank"} <= asked
    assert "measured-wrong" not in asked
    bare = {each.id for each in rules_for(load_target("trt8.6")).everywhere}
    assert not {"stated-constant", "measured-rank", "measured-wrong"} & bare
