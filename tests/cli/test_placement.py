"""What `check` and `run` say of where nodes run, in text, JSON and Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest

from graphfix.cli import main
from graphfix.rendering.schemas import schema_of

Capture = pytest.CaptureFixture[str]
HEAD = '<ir_version: 8, opset_import: ["" : 17, "l" : 1]> g (float[2, 3] x) => (float[2, 3] y) '
MOD = HEAD + "{ a = Relu (x) [n] b = Mod <fmod = 1> (a, a) y = Abs (b) }"
CALL = (
    HEAD
    + '{ a = Relu (x) y = l.F (a) } <domain: "l", opset_import: ["" : 17]> '
    + "F (a) => (b) { b = Abs (a) }"
)
SCHEMA = schema_of("report")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder with the models of this page."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"mod": MOD, "call": CALL}.items():
        model = onnx.parser.parse_model(text)
        Path(f"{name}.onnx").write_bytes(model.SerializeToString())


def said_by(capsys: Capture, *words: str) -> tuple[int, Any]:
    """Return the exit code and the JSON of a command, which the schema describes."""
    code = main([*words, "--json"])
    reported = json.loads(capsys.readouterr().out)
    jsonschema.validate(reported, SCHEMA)
    return code, reported


def test_a_check(capsys: Capture) -> None:
    code, reported = said_by(capsys, "check", "mod.onnx", "--target", "webgpu1.30")
    placement = reported["placement"]
    cuts = [(node["name"], node["op"], node["index"]) for node in placement.pop("cuts")]
    assert (code, cuts) == (0, [("n", "Mod", 1)])
    assert placement == {"provider": 2, "cpu": 1, "parts": 2, "possible": 0}
    assert main(["check", "mod.onnx", "--target", "webgpu1.30"]) == 0
    line = "  placed    2 nodes on the provider in 2 parts, 1 on the CPU; cut at Mod n\n"
    assert line in capsys.readouterr().out
    assert main(["check", "mod.onnx", "--target", "webgpu1.30", "-v"]) == 0
    long = "Placed: 2 nodes on the provider in 2 parts, 1 on the CPU; cut at Mod n.\n"
    assert long in capsys.readouterr().out


def test_a_run_says_what_joined_the_parts(capsys: Capture) -> None:
    words = ["run", "mod.onnx", "--target", "webgpu1.30", "--force", "--no-fallback"]
    code, reported = said_by(capsys, *words)
    placement = reported["placement"]
    assert (code, placement["before"]["parts"], placement["before"]["cpu"]) == (0, 2, 1)
    nodes = len(onnx.load_model_from_string(Path("mod.webgpu1.30.onnx").read_bytes()).graph.node)
    assert placement["after"] == {
        "provider": nodes,
        "cpu": 0,
        "parts": 1,
        "cuts": [],
        "possible": 0,
    }
    (made,) = placement["joined"]
    assert (made["pass"], [node["name"] for node in made["cuts"]]) == ("mod-elimination", ["n"])
    assert main([*words, "--report", "report.md"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    now = f"placed {nodes} nodes on the provider in 1 part, 0 on the CPU"
    then = "before 2 nodes on the provider in 2 parts, 1 on the CPU; cut at Mod n"
    made = "joined by mod-elimination at Mod n"
    assert f"{now} {then} {made}" in said
    page = Path("report.md").read_text(encoding="utf-8")
    rows = "\n".join(f"- {text.replace(' ', ': ', 1)}" for text in (now, then, made))
    assert f"## Placement\n\n{rows}\n" in page
    assert main([*words, "-v"]) == 0
    assert f"Placement {now} {then} {made}" in " ".join(capsys.readouterr().out.split())


def test_a_run_that_joins_nothing(capsys: Capture) -> None:
    code, reported = said_by(capsys, "run", "mod.onnx", "--target", "webgpu1.30", "--force")
    placement = reported["placement"]
    assert (code, placement["joined"]) == (0, [])
    assert placement["before"] == placement["after"]


def test_functions_have_to_be_inlined_before_anything_is_said(capsys: Capture) -> None:
    _, reported = said_by(capsys, "check", "call.onnx", "--target", "webgpu1.30")
    assert "placement" not in reported
    words = ["run", "call.onnx", "--target", "webgpu1.30", "--force", "-o", "plain.onnx"]
    _, reported = said_by(capsys, *words, "--passes", "inline-functions")
    _, reported = said_by(capsys, "check", "plain.onnx", "--target", "webgpu1.30")
    assert reported["placement"]["provider"] == 2


def test_other_targets_say_nothing_of_it(capsys: Capture) -> None:
    for command in (["check"], ["run", "--force"]):
        _, reported = said_by(capsys, *command, "mod.onnx", "--target", "trt8.6")
        assert "placement" not in reported
