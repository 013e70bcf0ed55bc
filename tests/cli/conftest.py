"""What tests of commands share: a written model, and a stub in the place of the pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from onnx import parser

from graphfix.pipeline import files
from graphfix.report import (
    FileFacts,
    Outcome,
    Report,
    Site,
    Status,
    Verdict,
    Verification,
)
from tests.cli.stub_of_files import FINDING, Pipeline


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A written model with an open batch size."""
    path = tmp_path / "model.trt8.onnx"
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[batch, 3] x) => (float[batch, 3] y) '
        "{ y = Relu(x) }"
    )
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch, written: Path) -> Pipeline:
    """The stand-in, in the place of `graphfix.pipeline.files`."""
    facts = FileFacts(str(written), "b" * 64, 17, 8, 1, written.stat().st_size)
    report = Report(
        version="0.1.0",
        target="trt8.6",
        input=replace(facts, path="model.onnx"),
        output=facts,
        findings_before=(FINDING,),
        outcomes=(Outcome("mod-elimination", Status.APPLIED, "", (Site(FINDING.node),)),),
        findings_after=(),
        io_changes=(),
        verification=Verification(Verdict.EQUAL),
        notes=("trt8 is 8.6",),
    )
    stand_in = Pipeline(report)
    monkeypatch.setattr(files, "run_file", stand_in.run_file)
    monkeypatch.setattr(files, "check_file", stand_in.check_file)
    return stand_in
