"""--no-fallback: what an engine would leave to the CPU is refused, and repaired as such."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

import graphfix
from graphfix.cli import main
from graphfix.pipeline.reproducers.recipe import Recipe
from graphfix.pipeline.settings import RunOptions
from graphfix.report import Severity

Capture = pytest.CaptureFixture[str]
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
# WebGPU's tables have no Mod; what takes its place is approximate.
MOD = HEAD + "g (float[2, 3] x) => (float[2, 3] y) { a = Mod <fmod = 1> (x, x) y = Relu (a) }"
DET = HEAD + "g (float[3, 3] x) => (float y) { a = Relu (x) y = Det (a) }"
INNER = (
    HEAD
    + """g (float[3] x, bool c) => (float[3] y) {
  y = If (c) <
    then_branch = t () => (float[3] u) { u = Mod <fmod = 1> (x, x) },
    else_branch = e () => (float[3] v) { v = Relu (x) }> }"""
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of work with the models of this page."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"mod": MOD, "det": DET, "inner": INNER}.items():
        model = onnx.parser.parse_model(text)
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    return tmp_path


@pytest.mark.parametrize(("name", "op"), [("mod", "Mod"), ("det", "Det"), ("inner", "Mod")])
def test_a_check_ends_with_a_problem_only_with_it(
    folder: Path, capsys: Capture, name: str, op: str
) -> None:
    words = ["check", str(folder / f"{name}.onnx"), "--target", "webgpu1.30", "--json"]
    assert main(words) == 0
    without = json.loads(capsys.readouterr().out)
    assert (without["ok"], [f["severity"] for f in without["findings"]]) == (True, ["fallback"])
    assert main([*words, "--no-fallback"]) == 1
    refused = json.loads(capsys.readouterr().out)
    assert refused["ok"] is False
    (found,) = refused["findings"]
    assert (found["severity"], found["feature"]) == ("reject", f"op:{op}")
    assert found["message"] == f"ONNX Runtime 1.30, WebGPU has no {op}"


def test_a_check_names_the_command_that_repairs(folder: Path, capsys: Capture) -> None:
    assert main(["check", "mod.onnx", "--target", "webgpu1.30", "--no-fallback"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("PROBLEMS: 1 in mod.onnx for webgpu1.30\n")
    assert "  graphfix run mod.onnx --target webgpu1.30 --no-fallback\n" in said


def test_a_run_repairs_what_falls_back(folder: Path, capsys: Capture) -> None:
    """Without it only what is exact is moved to the provider; Mod of floats is approximate."""
    words = ["run", "mod.onnx", "--target", "webgpu1.30", "--json", "--force"]
    assert main(words) == 0
    before = json.loads(capsys.readouterr().out)
    assert [o["pass"] for o in before["outcomes"] if o["status"] == "applied"] == []
    assert [f["feature"] for f in before["findings_after"]] == ["op:Mod"]
    assert main([*words, "--no-fallback"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert [o["pass"] for o in after["outcomes"] if o["status"] == "applied"] == ["mod-elimination"]
    assert (after["findings_after"], after["verification"]["status"]) == ([], "equal")
    raw = onnx.load_model_from_string(Path("mod.webgpu1.30.onnx").read_bytes())
    written = {node.op_type for node in raw.graph.node}
    assert "Mod" not in written


def test_what_is_left_is_a_problem(folder: Path, capsys: Capture) -> None:
    words = ["run", "det.onnx", "--target", "coreml-nn1.31", "-q"]
    assert main(words) == 0
    assert main([*words, "--no-fallback"]) == 1
    capsys.readouterr()
    assert main([*words, "--no-fallback", "--strict", "-o", "strict.onnx"]) == 1
    assert not Path("strict.onnx").exists()


def test_a_target_without_fallback_is_what_it_was(folder: Path) -> None:
    model = onnx.parser.parse_model(MOD)
    for target in ("trt8.6", "qnn2"):
        assert graphfix.check(model, target, no_fallback=True) == graphfix.check(model, target)


def test_open_sizes_are_refused_where_they_would_fall_back() -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[N] x) => (float[N] y) { y = Relu (x) }")
    kinds = [f.severity for f in graphfix.check(model, "coreml-nn1.31")]
    refused = [f.severity for f in graphfix.check(model, "coreml-nn1.31", no_fallback=True)]
    assert (kinds, refused) == ([Severity.FALLBACK], [Severity.REJECT])


def test_the_settings_file_and_batch(folder: Path, capsys: Capture) -> None:
    Path("graphfix.toml").write_text('target = "coreml-nn1.31"\nno-fallback = true\n')
    assert main(["check", "det.onnx", "-q"]) == 1
    assert main(["check", "det.onnx", "-q", "--fallback"]) == 0
    words = ["batch", "det.onnx", "--out", "done", "--jobs", "1", "--json"]
    capsys.readouterr()
    assert main(words) == 1
    assert [row["exit"] for row in json.loads(capsys.readouterr().out)["rows"]] == [1]
    assert main([*words, "--fallback"]) == 0
    assert [row["exit"] for row in json.loads(capsys.readouterr().out)["rows"]] == [0]


def test_a_reproducer_keeps_it() -> None:
    settings = RunOptions(target="webgpu1.30", no_fallback=True).settings()
    kept = Recipe.of(settings, []).as_json()
    assert kept["no_fallback"] is True
    again = Recipe.read(kept).settings()
    assert again.target is not None
    assert (again.target.name, again.target.fallback) == ("webgpu1.30", "")
    old = {key: value for key, value in kept.items() if key != "no_fallback"}
    assert Recipe.read(old).no_fallback is False
