"""The input that decides an If that is left, and the command that a report then names."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.analysis.inference import infer_model
from graphfix.analysis.switch import switch_of
from graphfix.cli import main
from graphfix.ir.model import Model
from graphfix.rendering.as_json import report_json
from graphfix.rendering.short_lines import next_steps
from graphfix.report import NodeRef
from graphfix.testing import parse

# Gather may fail, so that an If over it cannot become a Where of both branches.
DECODER = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 4] x, int64[2] at, {kind} fresh) => (float[2, 4] y) {{
  {before}
  y = If ({condition}) <
    then_branch = t () => (float[2, 4] a) {{ p = Gather (x, at)  a = Relu (p) }},
    else_branch = e () => (float[2, 4] b) {{ q = Gather (x, at)  b = Neg (q) }}
  >
}}
"""


def model(kind: str = "bool[1]", before: str = "", condition: str = "fresh") -> onnx.ModelProto:
    return parse(DECODER.format(kind=kind, before=before, condition=condition))


def switch(proto: onnx.ModelProto, op: str = "If") -> str:
    read = Model(proto)
    infer_model(read)
    return switch_of(read.graph, [NodeRef(scope="main", op=op, outputs=("y",))])


@pytest.mark.parametrize("kind", ["bool", "bool[1]", "bool[1, 1]"])
def test_one_bool_decides(kind: str) -> None:
    assert switch(model(kind)) == "fresh"


def test_what_gives_the_same_bool_is_looked_through() -> None:
    squeezed = "i = Identity (fresh)  c = Squeeze (i)"
    assert switch(model(before=squeezed, condition="c")) == "fresh"


@pytest.mark.parametrize(
    ("kind", "before", "condition"),
    [
        ("bool[1]", "c = Not (fresh)", "c"),
        ("bool[N]", "", "fresh"),
        ("int64[1]", "c = Cast <to = 9> (fresh)", "c"),
        ("bool[1]", "k = Constant <value = bool {1}> ()", "k"),
    ],
)
def test_what_is_no_bool_of_the_caller_is_none(kind: str, before: str, condition: str) -> None:
    assert switch(model(kind, before, condition)) == ""


def test_another_operator_that_is_left_has_none() -> None:
    assert switch(model(), op="Gather") == ""


def test_the_report_names_the_command_and_it_helps(tmp_path: Path) -> None:
    path = tmp_path / "merged.onnx"
    path.write_bytes(model().SerializeToString())
    report = graphfix.run(path, "trt7", verify="off").report
    assert report_json(report)["switch"] == "fresh"
    (said,) = [step for step in next_steps(report, 1) if "--split-by" in step]
    assert f"graphfix edit {path} --split-by fresh=true.onnx,false.onnx" in said
    parts = [tmp_path / "true.onnx", tmp_path / "false.onnx"]
    assert main(["edit", str(path), "--split-by", f"fresh={parts[0]},{parts[1]}", "-q"]) == 0
    for part, op in zip(parts, ("Relu", "Neg"), strict=True):
        found = graphfix.run(part, "trt7")
        assert found.exit_code == 0
        assert [node.op for node in found.model.graph.nodes] == ["Gather", op]
        assert not found.report.switch
