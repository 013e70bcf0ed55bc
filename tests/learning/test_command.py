"""`graphfix learn --command`: an engine that is a command, with archives in and out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from graphfix.cli import main
from tests.learning.test_learn import Machine

TOOL = """
import sys

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

_, model, inputs, outputs = sys.argv
loaded = onnx.load(model)
if any(node.op_type == "HardSwish" for node in loaded.graph.node):
    sys.exit("mytool: HardSwish is not supported")
if any(node.op_type == "Abs" for node in loaded.graph.node):
    sys.exit(0)  # without a word and without outputs
if loaded.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.DOUBLE:
    sys.exit(7)
with np.load(inputs) as archive:
    results = ReferenceEvaluator(loaded).run(None, {k: archive[k] for k in archive.files})
np.savez(outputs, **dict(zip((o.name for o in loaded.graph.output), results)))
"""
MODEL = """
<ir_version: 8, opset_import: ["": 15]>
g (float[2, 5] x) => (float[2, 5] y) { a = HardSwish (x) y = Relu (a) }
"""


def test_a_command_is_learned_and_asked(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    tool = tmp_path / "tool.py"
    tool.write_text(TOOL, encoding="utf-8")
    command = f"{sys.executable} {tool} {{model}} {{inputs}} {{outputs}}"
    words = ("--command", command, "--engine-version", "2.3", "--only", "HardSwish,Abs")
    done = machine.run("learn", "opal", *words, "--minutes", "2", "--json")
    assert done.returncode in (0, 1), done.stderr  # the time may be too short for all forms
    found = json.loads(done.stdout)
    assert found["name"] == "opal2.3"
    assert found["lacks"] == ["Abs", "HardSwish"]
    answers = tmp_path / "learned" / "opal" / "answers-2.3.jsonl"
    rows = {
        (r.get("op"), r.get("words")) for r in map(json.loads, answers.read_text().splitlines())
    }
    assert ("HardSwish", "mytool: HardSwish is not supported") in rows
    assert any(op == "Abs" and words.startswith("no outputs were written") for op, words in rows)
    model = machine.model("m.onnx", MODEL)
    asked = ("--target", "opal", "--verify", "engine")
    fixed = machine.run("run", model, *asked, "-o", "out.onnx")
    assert fixed.returncode == 0, fixed.stdout
    assert "outputs equal on 3 inputs (opal 2.3)" in fixed.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--command", "tool {model} {inputs}"], "--command: {outputs} is missing"),
        (["--command", "tool '{model} {inputs}"], '--command: "tool \'{model} {inputs}"'),
        (
            ["--command", "no-such-tool {model} {inputs} {outputs}"],
            "--command: there is no no-such-tool",
        ),
        (["--command", "x", "--program", "y.py"], "--command: excludes --program"),
        (
            ["--command", "false {model} {inputs} {outputs}", "--engine-version", "new"],
            "--engine-version: 'new' is no version such as 1.2",
        ),
        (
            ["--command", "false {model} {inputs} {outputs}"],
            "--command: the engine computes no plain model rightly; refused: exit code 1",
        ),
    ],
)
def test_what_is_no_command(
    words: Sequence[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("GRAPHFIX_LEARNED", str(tmp_path / "learned"))
    assert main(["learn", "opal", *words]) == 2
    assert said in capsys.readouterr().err
