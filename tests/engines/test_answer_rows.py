"""What an engine said no to, as rows of rules that find the same nodes."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphfix.analysis.inference import infer_model
from graphfix.cli.targets_command import targets
from graphfix.engines.answer_examples import example_of
from graphfix.engines.answer_rows import exported, rows_text
from graphfix.engines.answers import EngineAnswer
from graphfix.engines.kept_answers import FOLDER, KeptAnswers, keep_answers
from graphfix.engines.node_forms import form_text, is_of
from graphfix.engines.rule_rows import model_of_probe, rows_of_table
from graphfix.engines.targets import load_target
from graphfix.ir.views import NodeView
from graphfix.pipeline.model_files import as_model
from graphfix.report import Severity
from graphfix.testing import parse

TARGET = load_target("openvino2026.4")
HEAD = '<ir_version: 8, opset_import: ["": 13, "com.microsoft": 1]>'
MODEL = f"""{HEAD}
g (float[2, 3] x, float[N, 3] z, float16[2, 3] h, int64[2, 3] i) => (float[2, 3] y)
<float l = {{-8}}, float u = {{9.5}}, float v = {{2.25}}, int64[1] one = {{1}},
 int64[1] two = {{0}}, int64[2] both = {{0, 1}}, float[2, 3] w = {{1, 2, 3, 4, 5, 6}}>
{{
  a = Clip (x, l, u)  b = Clip (x, l, v)  c = Clip (x, l)  d = Clip (z, l, u)
  e = Softmax <axis = 0> (x)  f = Softmax <axis = 1> (x)  g0 = Softmax <axis = 0> (h)
  k = Add (x, w)  m = Add (x, x)  n = Add (w, x)  o = Add (i, i)
  p = ReduceSum (x, one)  q = ReduceSum (x, two)  r = ReduceSum <keepdims = 0> (x, one)
  s = ReduceSum (x, both)  t = LeakyRelu <alpha = 0.25> (x)  y = LeakyRelu <alpha = 0.5> (x)
  mx = ReduceMax <axes = [0]> (x)  mm = ReduceMax <axes = [0, 1]> (x)
}}"""


def nodes() -> list[NodeView]:
    model = as_model(parse(MODEL))
    infer_model(model)
    return [NodeView(node) for node in model.nodes()]


def said_of(node: NodeView, **further: object) -> EngineAnswer:
    answer = EngineAnswer("OpenVINO 2026.4", node.domain, node.op, form_text(node), refusal="no")
    return replace(answer, example=example_of(node), **further)  # type: ignore[arg-type]


def named(output: str) -> NodeView:
    return next(node for node in nodes() if node.ref().outputs == (output,))


@pytest.mark.parametrize("output", [*"abcefkmnopqrty", "g0"])
def test_a_row_fires_on_the_nodes_that_the_answer_is_of_and_on_no_others(output: str) -> None:
    answer = said_of(named(output))
    found = exported(TARGET, [answer])
    assert found.left == ()
    table = tomllib.loads(rows_text(TARGET, found))
    assert table == found.rows
    ((name, _),) = table.items()
    (row,) = rows_of_table(table, "test")
    assert row.rule.id == name == f"asked-{answer.op.lower()}"
    assert (row.rule.severity, row.rule.text, row.rule.versions) == (
        Severity.REJECT,
        "no",
        "openvino2026.4",
    )
    # A row says nothing of sizes that are open, and d is a with such.
    every = [node for node in nodes() if node.ref().outputs != ("d",)]
    fired = [node.ref().outputs for node in every if row.rule.check(node, TARGET)]
    wanted = [node.ref().outputs for node in every if is_of(answer, node)]
    assert (fired, len(fired) > 0) == (wanted, True)


def test_the_example_of_an_answer_is_of_its_form() -> None:
    for node in nodes():
        model = as_model(model_of_probe(example_of(node)))
        infer_model(model)
        assert form_text(NodeView(model.graph.nodes[-1])) == form_text(node)
    assert example_of(named("k")) == (
        "13 (float[2,3] i0) => (float[2,3] o0) <float[2,3] i1 = {1,1,1,1,1,1}>"
        " { o0 = Add (i0, i1) }"
    )


def test_what_rows_cannot_say_is_left_with_a_reason() -> None:
    plain = said_of(named("a"))
    left = [
        said_of(named("s")),
        said_of(named("mm")),
        said_of(named("mx")),
        replace(plain, sizes="2x3, scalar, scalar"),
        replace(plain, example=""),
        replace(plain, example=example_of(named("e"))),
    ]
    found = exported(TARGET, left)
    assert found.rows == {}
    assert [reason for _, reason in found.left] == [
        "input 1 is [0, 1]",
        "attribute axes is [0, 1]",
        "attribute axes is [0]",
        "it holds for some sizes or one place alone",
        "no model of this node alone is kept, or it cannot be written as text",
        "the model that is kept of it is of another form",
    ]
    comments = rows_text(TARGET, found).splitlines()
    assert f"# no row: {left[0].form}" in comments
    assert tomllib.loads("\n".join(comments)) == {}


def test_a_difference_is_wrong_and_names_are_apart() -> None:
    different = said_of(named("b"), refusal="", difference="y: 1 of 6 numbers differ")
    found = exported(TARGET, [said_of(named("a")), different])
    assert list(found.rows) == ["asked-clip", "asked-clip-2"]
    second = found.rows["asked-clip-2"]
    assert second["severity"] == "wrong"
    assert second["source"] == "OpenVINO 2026.4, asked by graphfix: y: 1 of 6 numbers differ"
    assert second["opset"] == "13.."
    assert second["input"]["2"] == {
        "type": "float32", "rank": "0", "constant": True, "values": "2.25"
    }  # fmt: skip


def test_the_command_prints_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    keep_answers(TARGET, KeptAnswers("OpenVINO 2026.4", [said_of(named("e"))]))
    done = CliRunner().invoke(targets, ["openvino2026.4", "--export-learned"])
    (row,) = rows_of_table(tomllib.loads(done.output), "test")
    assert row.rule.check(named("e"), TARGET) is True
    said = CliRunner().invoke(targets, ["openvino2026.4", "--export-learned", "--json"])
    assert '"left": []' in said.output
