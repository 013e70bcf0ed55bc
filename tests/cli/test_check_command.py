"""What `graphfix check` asks of the layers below, and what it prints."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from onnx import parser

from graphfix.cli import main
from graphfix.pipeline.files import CheckRequest
from graphfix.report import Finding, Severity
from graphfix.report.explanations import Candidate, Choice, Explanation
from tests.cli.stub_of_files import FINDING, Pipeline

Capture = pytest.CaptureFixture[str]


def test_check_asks_and_answers(pipeline: Pipeline, capsys: Capture) -> None:
    words = shlex.split("--target trt8 --shape x=1x3 --assume-op Foo --pass-file p.py --json")
    assert main(["check", "m.onnx", *words]) == 0
    assert pipeline.checks == [
        CheckRequest(
            model=Path("m.onnx"),
            target="trt8",
            shapes={"x": (1, 3)},
            assume_ops=("Foo",),
            pass_files=(Path("p.py"),),
            reproducers=Path(tempfile.gettempdir()),
        )
    ]
    out, err = capsys.readouterr()
    assert json.loads(out) == {"schema": 1, "target": "trt8.6", "ok": True, "findings": []}
    assert err == "graphfix: note: trt8 is 8.6\n"


@pytest.mark.parametrize(
    ("finding", "code"),
    [
        (FINDING, 1),
        (replace(FINDING, severity=Severity.WRONG), 1),
        (replace(FINDING, severity=Severity.BUILDER, certain=False), 1),
        (replace(FINDING, severity=Severity.NOTE), 0),
    ],
)
def test_check_fails_for_all_but_notes(
    pipeline: Pipeline, capsys: Capture, finding: Finding, code: int
) -> None:
    pipeline.findings = (finding,)
    assert main(["check", "m.onnx", "--target", "trt8", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["ok"] is (code == 0)
    assert main(["check", "m.onnx", "--target", "trt8"]) == code
    assert capsys.readouterr().out.startswith("PROBLEMS: 1 in" if code else "OK: no")


def test_check_explains_what_the_passes_do(
    pipeline: Pipeline, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    infos = [
        SimpleNamespace(id="mod-elimination", accuracy="exact", summary="Replace Mod."),
        SimpleNamespace(id="other", accuracy="exact", summary="Do another thing."),
    ]

    def all_passes(pass_files: Sequence[Path]) -> list[SimpleNamespace]:
        assert pass_files == ()
        return infos

    monkeypatch.setattr("graphfix.authoring.registry.all_passes", all_passes)
    pipeline.findings = (replace(FINDING, removed_by=("mod-elimination",)),)
    assert main(["check", "m.onnx", "--target", "trt8", "--explain"]) == 1
    out = capsys.readouterr().out
    assert "  - mod-elimination (exact): Replace Mod.\n" in out
    assert "another thing" not in out


def test_check_explains_in_both_views(pipeline: Pipeline, capsys: Capture) -> None:
    pipeline.findings = (FINDING,)
    refused = Candidate("some-pass", Choice.REFUSED, "the rank is unknown")
    pipeline.explanations = (Explanation(FINDING, False, (), (refused,)),)
    assert main(["check", "m.onnx", "--target", "trt8", "--explain"]) == 1
    assert "    refused     some-pass: the rank is unknown\n" in capsys.readouterr().out
    assert main(["check", "m.onnx", "--target", "trt8", "--explain", "--json"]) == 1
    (reported,) = json.loads(capsys.readouterr().out)["explanations"]
    assert reported["candidates"][0]["reason"] == "the rank is unknown"
    assert all(request.explain for request in pipeline.checks)


def test_check_explains_a_file(written: Path, capsys: Capture) -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y) { y = Mish (x) }'
    )
    written.write_bytes(proto.SerializeToString())
    assert main(["check", str(written), "--target", "trt8.6", "--explain", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    removed = [e["removed"] for e in found["explanations"]]
    assert len(removed) == len(found["findings"])
    by_op = dict(zip([f["feature"] for f in found["findings"]], found["explanations"], strict=True))
    chosen = [c["pass"] for c in by_op["op:Mish"]["candidates"] if c["choice"] == "chosen"]
    assert chosen == ["mish-to-softplus"]
