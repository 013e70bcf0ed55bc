"""Rows and page of the benchmark on files of today's exporters."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from onnx import parser

from benchmarks.pipelines import __main__ as pipelines
from benchmarks.pipelines.row import Row, kind_of, run_file
from benchmarks.pipelines.table import faults, page

GOOD = Row("exported/vit/model.onnx", "exported", 0, "equal", "", 1.2, 2.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": 5, "verification": "", "reason": "a fault"}, "exit 5"),
        ({"code": -9}, "exit -9"),
        (
            {"verification": "inconclusive", "reason": "took longer than 12 s; --timeout 120"},
            "not compared for a limit",
        ),
        ({"verification": "skipped", "reason": "needs 3 GiB, 1 GiB available"}, "for a limit"),
        ({"cpu": 15.5}, "15.5 s"),
    ],
)
def test_what_must_not_be_is_named(change: dict[str, object], said: str) -> None:
    wrong = msgspec.structs.replace(GOOD, **change)
    (line,) = faults([GOOD, GOOD, wrong])
    assert line.startswith(GOOD.file)
    assert said in line


def test_what_is_left_for_other_reasons_is_no_fault() -> None:
    other = Row("v/a.qop.onnx", "qop", 1, "inconclusive", "output y is constant", 14.0, 20.0)
    assert faults([GOOD, GOOD, other]) == []
    assert faults([other, other, GOOD]) == ["median 14.0 s"]
    text = page([GOOD, other], "trt8")
    assert "| qop | 1 | 0 | 1 | 0 | 0 | 0 |" in text
    assert "| v/a.qop.onnx | 1 | inconclusive | 14.0 | 20.0 | output y is constant |" in text


def test_names_say_what_wrote_a_file() -> None:
    assert kind_of("variants/t5_encoder_model.int8dyn.onnx") == "int8dyn"
    assert kind_of("exported/t5/encoder_model.onnx") == "exported"


def test_a_file_is_run_and_what_is_done_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) {y = Abs(x)}'
    (tmp_path / "m.onnx").write_bytes(parser.parse_model(text).SerializeToString())
    row = run_file(tmp_path / "m.onnx", "m.onnx", "trt8", ("--verify", "off"), 100.0)
    assert (row.code, row.verification) == (0, "off")
    assert 0.1 < row.cpu < 100.0
    rows = tmp_path / "rows.jsonl"
    rows.write_bytes(msgspec.json.encode(row) + b"\n")

    def run_again(*_: object) -> Row:
        raise AssertionError("it is done")

    monkeypatch.setattr(pipelines, "run_file", run_again)
    out = tmp_path / "page.md"
    words = [str(tmp_path), "--target", "trt8", "--rows", str(rows), "-o", str(out)]
    assert pipelines.main(words) == 0
    assert "| m.onnx | 0 | off |" in out.read_text(encoding="utf-8")
