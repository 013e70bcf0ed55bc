"""The score: rows that continue, what is counted, and one file prepared in each way."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import parser

from benchmarks.score import measuring
from benchmarks.score.page import page
from benchmarks.score.rows import Row, append, read, share, targets_of
from graphfix.cli import main

MODULO = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 4] x, float[4] d) => (float[2, 4] y) { m = Mod <fmod = 1> (x, d) y = Relu (m) }
"""
PLAIN = MODULO.replace("m = Mod <fmod = 1> (x, d)", "m = Add (x, d)")


def test_rows_continue_and_targets_are_added(tmp_path: Path) -> None:
    file = tmp_path / "score.tsv"
    assert read(file) == {}
    append(file, Row("exported/a/b", True, {"trt8": "lttt"}))
    append(file, Row("exported/a/c", False, {"trt8": "lfut"}))
    append(file, Row("exported/a/b", True, {"tract": "tttl"}))
    rows = read(file)
    assert rows["exported/a/b"].letters == {"trt8": "lttt", "tract": "tttl"}
    assert not rows["exported/a/c"].runs
    assert targets_of(rows.values()) == ["trt8", "tract"]


def test_shares_are_of_what_runs() -> None:
    rows = [
        Row(f"qdq/a/{at}", True, {"trt8": of}) for at, of in enumerate(("lldt", "ttft", "llll"))
    ]
    rows.append(Row("qdq/a/none", False, {"trt8": "lfut"}))
    assert [
        share(rows, "trt8", way) for way in ("as exported", "onnxsim", "OnnxSlim", "graphfix")
    ] == [
        "33%",
        "33%",
        "0%",
        "67%",
    ]
    assert share(rows, "tract", "graphfix") == "-"


def test_the_page_names_runs_that_ended_otherwise() -> None:
    rows = [Row(f"qdq/a/{at}", True, {"trt8": "lllt"}) for at in range(5)]
    single = [("qdq/a/0", "trt8", "t", "t"), ("qdq/a/1", "trt8", "t", "l")]
    text = page(rows, ["graphfix 1"], single)
    assert "| trt8 | 5 | 0% | 0% | 0% | 100% |" in text
    assert "| qdq | 5 | 0%, 100% |" in text
    assert "as the score says in 1." in text
    assert "- qdq/a/1 for trt8: t here, l alone" in text


class Stub(measuring.Judges):
    """Stands for the other tools: one copies a file that is taken, the other fails."""

    def __init__(self, status: str) -> None:
        self.status = status

    def written(self, path: Path, tool: str, out: Path) -> bool:
        del path
        if tool == "onnxsim":
            out.write_bytes(parser.parse_model(PLAIN).SerializeToString())
        return tool == "onnxsim"

    def said(
        self, path: Path, result: Path | None, scratch: Path, target: str = ""
    ) -> dict[str, object]:
        del path, scratch, target
        return {"runs": True, **({} if result is None else {"status": self.status})}


@pytest.mark.parametrize(("status", "letters"), [("equal", "ltft"), ("different", "ldft")])
def test_a_file_is_prepared_in_each_way(tmp_path: Path, status: str, letters: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(MODULO).SerializeToString())
    row, rows = measuring.measured(path, "exported/own/m", ("trt7",), Stub(status), main, {"trt7"})
    assert row == Row("exported/own/m", True, {"trt7": letters})
    assert [(each.key, each.runs, each.code, each.judged) for each in rows] == [
        (("trt7", "exported/own/m"), True, 0, status)
    ]


def test_a_file_that_is_no_model_is_left(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"no model")
    run = measuring.repair(path, "trt8", main, tmp_path / "kept", tmp_path / "out.onnx")
    assert (run.code, run.resolved, run.written) == (3, "", False)
