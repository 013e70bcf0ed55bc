"""Options that have no effect on a model say so, or are refused with what to do."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from graphfix.cli import main
from graphfix.engines.engine import engine_of

Capture = pytest.CaptureFixture[str]
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 3] x) => (float[N, 3] y) { a = Neg (x) y = Exp (a) }"""
HERE = engine_of("ort").installed()


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    return str(path)


@pytest.mark.parametrize("command", ["run", "check"])
def test_an_operator_that_does_not_occur(command: str, model: str, capsys: Capture) -> None:
    words = [command, model, "--target", "trt8", "--assume-op", "acme::Bar", "--assume-op", "Neg"]
    assert main(words) == 0
    out = capsys.readouterr().out
    said = "--assume-op acme::Bar says nothing here: no node of the model is one"
    assert [line.count(said) for line in out.splitlines() if "--assume-op acme" in line] == [1]
    assert "--assume-op Neg says nothing" not in out


def test_no_plugin_is_asked_for_where_no_node_needs_one(model: str, capsys: Capture) -> None:
    main(["run", model, "--target", "trt8", "--assume-op", "acme::Bar"])
    assert "staticPlugins" not in capsys.readouterr().out
    main(["run", model, "--target", "trt8", "--assume-op", "Neg", "--force"])
    assert "staticPlugins" in capsys.readouterr().out


def test_the_onnxruntime_here_is_asked_anyway(model: str, capsys: Capture) -> None:
    assert main(["check", model, "--target", "ort", "--verify", "engine"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"engine onnxruntime {HERE}, installed here, loaded the file." in out
    assert f"--verify engine adds nothing: onnxruntime {HERE} loads every file" in out
    assert main(["run", model, "--target", "ort", "--verify", "engine"]) == 2
    said = f"--verify engine: onnxruntime {HERE} runs every comparison anyway (leave it out)"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "ort-1.8"], f"this machine has onnxruntime {HERE}, not ONNX Runtime 1.8 ("),
        (["--target", "directml"], "--verify engine: nothing here runs models in DirectML"),
        (["--opset", "18"], "--verify engine: is for a target (give --target NAME as well)"),
    ],
)
def test_an_engine_that_is_not_here(
    words: list[str], said: str, model: str, capsys: Capture
) -> None:
    assert main(["run", model, *words, "--verify", "engine"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert len(line) < 160


def test_nodes_without_names_are_named_otherwise(model: str, capsys: Capture) -> None:
    for words in (
        ["inspect", model, "--nodes", "q"],
        ["run", model, "--opset", "18", "--only", "q"],
    ):
        assert main(words) == 2
        assert (
            "the model has no node 'q' (its nodes have no names: say op:Neg for an operator, or "
            "index:0 for a place)"
        ) in capsys.readouterr().err
    assert main(["inspect", model, "--nodes", "op:Ng"]) == 2
    assert "(it has: op:Neg, op:Exp)" in capsys.readouterr().err
