"""`graphfix reduce`: what is written, text, JSON, exit codes, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from onnx import ModelProto

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of
from tests.reduction.long_models import checked, long_model, looking_for

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[2]
SCHEMA = schema_of("reduce")


def written(path: Path, model: ModelProto) -> str:
    path.write_bytes(model.SerializeToString())
    return str(path)


def test_text_and_the_file(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path / "long.onnx", long_model(1000, {400: "Erf"}))
    before = Path(model).read_bytes()
    assert main(["reduce", model, "--fails", looking_for("Erf", tmp_path)]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "CHANGED: long.onnx reduced"
    assert "1 node, 0 B of weights" in " ".join(out.split())
    assert "  failure   exit code 3" in lines
    assert lines[-1] == "  it cannot do Erf"
    result = checked(tmp_path / "long.reduced.onnx")
    assert [node.op_type for node in result.graph.node] == ["Erf"]
    assert Path(model).read_bytes() == before
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["long.onnx", "long.reduced.onnx", "looks.py"]
    # What graphfix wrote may be written over.
    assert main(["reduce", model, "--fails", looking_for("Erf", tmp_path), "--json"]) == 0


def test_what_is_as_small_as_it_gets_is_not_called_reduced(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path / "one.onnx", long_model(1, {0: "Erf"}))
    assert main(["reduce", model, "--fails", looking_for("Erf", tmp_path)]) == 0
    said = "OK: nothing smaller than one.onnx was found to fail, a copy was written"
    assert capsys.readouterr().out.splitlines()[0] == said


def test_json_elsewhere(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path / "long.onnx", long_model(100, {40: "Erf"}))
    path = tmp_path / "small.onnx"
    words = ["reduce", model, "--fails", looking_for("Erf", tmp_path), "-o", str(path), "--json"]
    assert main([*words, "--match", "cannot do"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert (found["input"]["nodes"], found["output"]["nodes"]) == (100, 1)
    assert found["output"]["path"] == str(path)
    assert found["output"]["bytes"] == path.stat().st_size
    assert (found["failure"], found["said"]) == ("exit code 3", "it cannot do Erf")
    assert found["complete"] is True
    assert found["runs"] <= 40
    assert main([*words, "--max-runs", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert (found["runs"], found["complete"]) == (3, False)


def test_bad_input(tmp_path: Path, capsys: Capture) -> None:
    model = written(tmp_path / "long.onnx", long_model(10, {}))
    (tmp_path / "bad.onnx").write_bytes(b"\x89PNG is no model")
    (tmp_path / "mine.onnx").write_bytes(b"precious")
    fails = looking_for("Tanh", tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for words, code, said in (
        ([model, "--fails", looking_for("Erf", tmp_path)], 3, "the command does not fail"),
        ([model, "--fails", fails, "--match", "else"], 3, "but does not say 'else'"),
        ([str(tmp_path / "none.onnx"), "--fails", fails], 3, "none.onnx: no such file"),
        ([str(tmp_path / "bad.onnx"), "--fails", fails], 3, "it looks like a PNG picture"),
        ([model, "--fails", "trtexec model.onnx"], 2, "has no {} ({} stands for the path"),
        ([model, "--fails", "'{}"], 2, "cannot be split into words"),
        ([model, "--fails", "no-such-engine {}"], 2, "there is no such command"),
        ([model], 2, "missing option '--fails'"),
        ([model, "--fails", fails, "--max-runs", "0"], 2, "--max-runs"),
        ([model, "--fails", fails, "--timeout", "0"], 2, "--run-timeout"),
        ([model, "--fails", fails, "-o", model], 2, "would overwrite the input"),
        ([model, "--fails", fails, "-o", str(tmp_path / "mine.onnx")], 2, "not written by"),
        ([model, "--fails", fails, "-o", str(tmp_path / "no" / "x.onnx")], 2, "does not exist"),
    ):
        assert main(["reduce", *words]) == code, words
        captured = capsys.readouterr()
        assert captured.out == ""
        assert len(captured.err.splitlines()) == 1
        assert said in captured.err
        assert main(["reduce", *words, "--json"]) == code
        assert json.loads(capsys.readouterr().out)["error"]["code"] == code
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after == before, "nothing is written"
