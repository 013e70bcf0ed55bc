"""How findings and refusals are reported: no open placeholders, nodes by position in the file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.authoring.declaring import Unknown
from graphfix.engines.checking import filled, judged
from graphfix.engines.known_rules import all_rules
from graphfix.engines.rule import Rule, Yes
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.reach import reach_of
from graphfix.report import Status
from graphfix.testing import parse
from tests.engines.cases import model_of

ROOT = Path(__file__).parents[4]
RAISED = ("Refuse", "ComputedLate", "UsageError", "InvalidModel", "Blocker")
OPEN = re.compile(r"\{[a-z_]*\}")
NODE = NodeView(Model(model_of("(float[2] x) => (float[2] y) { y = Relu (x) }")).graph.nodes[0])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_no_message_of_a_rule_has_an_open_blank(rule: Rule) -> None:
    node = None if rule.whole else NODE
    for answer in (True, Unknown("dtype of x"), Yes(), "a sentence of {op}"):
        found = judged(rule, answer, node)
        assert found is not None
        for text in (found.message, found.engine_text, found.feature, found.missing):
            assert not OPEN.search(text), text


def test_what_is_not_known_of_an_engine_text_becomes_dots() -> None:
    assert filled("Found invalid input type of {type}", NODE) == "Found invalid input type of ..."
    text = "Could not find an implementation for {op}({since}) node with name '{name}'"
    assert filled(text, NODE) == "Could not find an implementation for Relu(14) node with name ''"


def _literals(path: Path) -> list[str]:
    """Return the plain texts, no f-strings, that are given to Refuse and to errors."""
    found: list[str] = []
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in RAISED):
        return found
    for node in ast.walk(ast.parse(text)):
        name = (
            node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        )
        if isinstance(node, ast.Call) and name in RAISED:
            constants = [a for a in node.args if isinstance(a, ast.Constant)]
            found += [str(a.value) for a in constants if isinstance(a.value, str)]
    return found


def test_no_refusal_or_error_has_an_open_blank() -> None:
    reported = [
        (path, text)
        for folder in ("passes", "graphfix")
        for path in (ROOT / folder).rglob("*.py")
        for text in _literals(path)
    ]
    assert len(reported) > 300
    assert [(path, text) for path, text in reported if OPEN.search(text)] == []


def _unsorted() -> onnx.ModelProto:
    return parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> '
        "g (float[2] x) => (float[2] y, float[] z) "
        "{ a = Relu (x) y = Neg (a) z = acme.Foo (b) b = Unsqueeze (x, k) k = Constant "
        "<value = int64[1] {0}> () }"
    )


def test_findings_name_nodes_by_their_number_in_the_file() -> None:
    result = graphfix.run(_unsorted(), "trt8", verify="off")
    for findings in (result.report.findings_before, result.report.findings_after):
        (found,) = [f for f in findings if f.node.op == "Foo"]
        assert found.node.index == 2
    checked = graphfix.check(_unsorted(), "trt8")
    assert [f.node.index for f in checked if f.node.op == "Foo"] == [2]


def test_findings_after_inlined_functions_keep_the_numbers_of_the_file() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1, "local" : 1]> '
        "g (float[2,2] x) => (float[2,2] y, float[] z) "
        "{ a = local.twice (x) y = local.twice (a) z = acme.Foo (y) }\n"
        '<domain: "local", opset_import: ["" : 17]> '
        "twice (u) => (v) { w = Add (u, u) t = Neg (w) v = Neg (t) }"
    )
    result = graphfix.run(proto, "trt8")
    assert len(result.model.graph.nodes) == 7
    (found,) = [f for f in result.report.findings_after if f.blocks]
    assert (found.node.op, found.node.index) == ("Foo", 2)


def test_refusals_after_an_opset_step_name_the_number_in_the_file() -> None:
    proto = parse(
        '<ir_version: 9, opset_import: ["" : 20, "acme" : 1]> '
        "g (float[2,2] x) => (float[2,2] y, float[] z) "
        "{ h = Gelu (x) y = Neg (h) z = acme.Foo (y) }"
    )
    result = graphfix.run(proto, "trt8", verify="off")
    indices = {f.node.op: f.node.index for f in result.report.findings_after if f.blocks}
    assert indices == {"Foo": 2}


def test_reach_names_nodes_of_the_file() -> None:
    # Mish becomes Softplus and more on the way down, what it stands for is what is in the file.
    proto = parse(
        '<ir_version: 9, opset_import: ["" : 18]> g (float[2,3] x, int64[1] k) => (float[a,b] y) '
        "{ m = Mish (x) t = CenterCropPad <axes = [1]> (m, k) y = Neg (t) }"
    )
    reach = reach_of(graphfix.load(proto))
    assert reach.blockers
    names = {"Mish": 0, "CenterCropPad": 1, "Neg": 2}
    for blocker in reach.blockers:
        assert names[blocker.node.op] == blocker.node.index


def test_refused_sites_stand_in_the_file() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N,3] x, float[3] m) => (float[a,b] y) '
        "{ n = Neg (x) y = Mod <fmod = 1> (n, m) }"
    )
    result = graphfix.run(proto, "trt8.0", verify="off")
    for outcome in result.report.outcomes:
        if outcome.status is Status.REFUSED:
            assert {site.node.index for site in outcome.sites} <= {-1, 0, 1}
