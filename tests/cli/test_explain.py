"""`graphfix explain`: text and JSON, with a model and without one, and wrong usage."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of
from tests.rendering.html.pages import model

Capture = pytest.CaptureFixture[str]
SCHEMA = schema_of("explain")
MOD = (
    "[TRT] TensorRT version: 8.4.1\n"
    '[TRT] [E] ModelImporter.cpp:773: While parsing node number 1 [Mod -> "m"]:\n'
    "[TRT] [E] 3: getPluginCreator could not find plugin: Mod version: 1\n"
)


def reported(capsys: Capture) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    return found


def written(folder: Path, text: str) -> str:
    path = folder / "log.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_with_a_model_the_node_and_the_cure_are_named(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model().SerializeToString())
    assert main(["explain", written(tmp_path, MOD), str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("PROBLEMS: 1 message recognised in the log of trt8.4\n")
    assert "    node      modulo\n" in said
    assert "mod-elimination" in said
    assert f"    cure      graphfix run {path} --target trt8.4\n" in said


def test_without_a_model_passes_are_those_for_the_feature(tmp_path: Path, capsys: Capture) -> None:
    assert main(["explain", written(tmp_path, MOD), "--json"]) == 0
    (answer,) = reported(capsys)["answers"]
    assert answer["rule"] == "operator-not-supported"
    assert (answer["op"], answer["node"], answer["line"]) == ("Mod", "m", 3)
    assert "mod-elimination" in answer["passes"]
    assert answer["command"] == "graphfix run MODEL.onnx --target trt8.4"


def test_no_cure_is_named_where_no_pass_is(tmp_path: Path, capsys: Capture) -> None:
    log = "[TRT] No importer registered for op: DCNv2_TRT"
    assert main(["explain", written(tmp_path, log)]) == 0
    said = capsys.readouterr().out
    assert "cure" not in said
    assert "graphfix reduce MODEL.onnx --fails 'YOUR COMMAND {}'" in said


def test_a_model_without_the_problem(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model().SerializeToString())
    log = MOD.replace("Mod", "NonMaxSuppression")
    assert main(["explain", written(tmp_path, log), str(path), "--json"]) == 0
    (answer,) = reported(capsys)["answers"]
    assert answer["nodes"] == []
    assert answer["command"] is None
    assert f"no rule for trt8.4 finds this in {path}, which may not" in answer["advice"]


def test_what_names_only_a_node_leads_to_check(tmp_path: Path, capsys: Capture) -> None:
    log = "OpenCV(4.10.0)\n> Node [Slice@ai.onnx]:(onnx_node!/s) parse error"
    assert main(["explain", written(tmp_path, log), "--json"]) == 0
    (answer,) = reported(capsys)["answers"]
    assert (answer["op"], answer["node"], answer["passes"]) == ("Slice", "/s", [])
    assert answer["advice"].startswith("`graphfix check MODEL.onnx --target opencv4.10` says")


def test_an_unknown_log(tmp_path: Path, capsys: Capture) -> None:
    assert main(["explain", written(tmp_path, "all is well"), "--json"]) == 1
    assert reported(capsys)["answers"] == []
    assert main(["explain", written(tmp_path, "all is well")]) == 1
    said = capsys.readouterr().out
    assert said.startswith("NOT DONE: no message of this log ")
    assert "graphfix reduce" in said


def test_a_general_message_of_no_known_engine_is_not_known(tmp_path: Path, capsys: Capture) -> None:
    assert main(["explain", written(tmp_path, "Segmentation fault (core dumped)")]) == 1
    said = capsys.readouterr().out
    assert said.startswith("NOT DONE: no message of this log (its engine is not known) is ")
    assert "ended in native code" in said


def test_a_log_of_another_engine_than_the_target(tmp_path: Path, capsys: Capture) -> None:
    assert main(["explain", written(tmp_path, MOD), "--target", "ort-1.18"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("PROBLEMS: 1 message recognised in the log of trt8.4\n")
    note = " ".join(said.split("\n\n")[0].split())
    assert note.endswith(
        "the log reads as one of trt8.4, and shows nothing of ort-1.18, which --target names: "
        "give --target trt8.4, or leave --target out"
    )
    assert "    cure      graphfix run MODEL.onnx --target trt8.4\n" in said


def test_a_log_that_says_no_version(tmp_path: Path, capsys: Capture) -> None:
    log = written(tmp_path, MOD.replace("[TRT] TensorRT version: 8.4.1\n", ""))
    assert main(["explain", log]) == 0
    assert "the log does not say which version it is of" in capsys.readouterr().out
    assert main(["explain", log, "--target", "trt8.4"]) == 0
    assert "  note " not in capsys.readouterr().out


def test_a_long_line_is_cut_after_a_word(tmp_path: Path, capsys: Capture) -> None:
    words = " ".join(["considerably"] * 20)
    log = written(tmp_path, f"[TRT] No importer registered for op: DCNv2 {words}")
    assert main(["explain", log, "--target", "trt8.4"]) == 0
    said = capsys.readouterr().out
    assert {w for w in said.split() if w.startswith("consider")} == {
        "considerably",
        "considerably...",
    }


def test_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(MOD.encode() + b"\xff\x00")))
    assert main(["explain", "-"]) == 0
    assert "operator-not-supported" in capsys.readouterr().out


def test_a_log_as_powershell_writes_it(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "log.txt").write_bytes(MOD.encode("utf-16"))
    assert main(["explain", str(tmp_path / "log.txt")]) == 0
    assert "operator-not-supported" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no.txt"], 2, "the log cannot be read"),
        (["-", "-"], 2, "cannot both come from standard input"),
        (["LOG", "no.onnx"], 3, "no.onnx"),
        (["LOG", "--target", "nothing"], 2, "nothing"),
        (["EMPTY"], 2, "nothing is in the log"),
        (["MODEL"], 2, "this is a model, not a log; for a model run `graphfix check"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, capsys: Capture, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "empty.txt").write_text(" \n", encoding="utf-8")
    text = '<ir_version: 8, opset_import: ["": 17]> g (float x) => (float y) { y = Abs(x) }'
    (tmp_path / "m.onnx").write_bytes(onnx.parser.parse_model(text).SerializeToString())
    paths = {
        "LOG": written(tmp_path, MOD),
        "EMPTY": str(tmp_path / "empty.txt"),
        "MODEL": str(tmp_path / "m.onnx"),
    }
    assert main(["explain", *(paths.get(word, word) for word in words)]) == code
    assert said in capsys.readouterr().err
