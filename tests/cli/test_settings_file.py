"""Settings of a project: defaults of options, said in one line, checked with file and key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from onnx import parser

from graphfix.cli import main
from graphfix.cli.settings_file import settings_of
from graphfix.errors import UsageError

Capture = pytest.CaptureFixture[str]
HEAD = '<ir_version: 8, opset_import: ["" : 13, "acme" : 1]> '
MOD = "g (int64[4] x) => (int64[4] y) <int64 c = {3}> { y = Mod (x, c) }"
NORM = "g (float[4] x) => (float[4] y) { a = acme.Norm (x) y = HardSwish (a) }"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with two models, and go into a folder of it."""
    folder = tmp_path / "project" / "models"
    folder.mkdir(parents=True)
    for name, text in (("mod", MOD), ("norm", NORM)):
        (folder / f"{name}.onnx").write_bytes(parser.parse_model(HEAD + text).SerializeToString())
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GRAPHFIX_NO_SETTINGS", raising=False)
    return folder.parent


def write(project: Path, text: str, name: str = "graphfix.toml") -> Path:
    """Write a file of settings into the project."""
    path = project / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_run_takes_the_target_and_says_so(project: Path, capsys: Capture) -> None:
    path = write(project, 'target = "trt7.2"\nallow-lossy = false\ntimeout = 100\n')
    assert main(["run", "mod.onnx"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("FIXED: mod.onnx for trt7.2: 1 problem repaired, none is left\n")
    used = f"settings target, allow-lossy, timeout of {path}"
    assert used in " ".join(said.split())
    assert Path("mod.fixed.onnx").is_file() is False
    assert Path("mod.trt7.2.onnx").is_file()
    assert main(["run", "mod.onnx", "--json"]) == 0
    reported = capsys.readouterr()
    assert json.loads(reported.out)["target"] == "trt7.2"
    assert f"graphfix: note: settings: target, allow-lossy, timeout of {path}\n" in reported.err


def test_options_override_the_file(project: Path, capsys: Capture) -> None:
    path = write(project, 'target = "trt7.2"\nskip = ["mod-elimination"]\n')
    words = ["check", "mod.onnx", "--json", "--target", "trt8.6"]
    assert main(words) == 0
    reported = capsys.readouterr()
    assert json.loads(reported.out)["target"] == "trt8.6"
    assert reported.err == ""  # skip is no option of check
    assert main(["run", "mod.onnx", "--dry-run", "--json"]) == 1
    assert f"settings: target, skip of {path}" in capsys.readouterr().err
    assert main(["run", "mod.onnx", "--dry-run", "--json", "--skip", "dead-code"]) == 0
    assert f"settings: target of {path}" in capsys.readouterr().err
    write(project, 'target = "trt7.2"\nallow-io-change = true\n')
    assert main(["run", "mod.onnx", "--dry-run", "--json", "--no-allow-io-change"]) == 0
    assert f"settings: target of {path}" in capsys.readouterr().err
    # Whoever names passes or an opset need not have a target.
    assert main(["run", "mod.onnx", "--dry-run", "--json", "--opset", "12"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] is None


@pytest.mark.parametrize("off", ["option", "variable"])
def test_the_file_can_be_ignored(
    project: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, off: str
) -> None:
    write(project, 'target = "trt7.2"\n')
    if off == "variable":
        monkeypatch.setenv("GRAPHFIX_NO_SETTINGS", "1")
    assert main(["check", "mod.onnx", *(["--no-settings"] if off == "option" else [])]) == 2
    assert "--target" in capsys.readouterr().err


def test_a_table_of_pyproject_holds_too(project: Path, capsys: Capture) -> None:
    write(project, '[project]\nname = "x"\n', "pyproject.toml")
    assert settings_of(Path.cwd()) is None or settings_of(Path.cwd()) == settings_of(project)
    table = (
        '[tool.graphfix]\ntarget = "trt8.6"\nassume-op = ["acme::Norm"]\n'
        'op-type = {"acme::Norm" = "like:0"}\n'
    )
    path = write(project, table, "pyproject.toml")
    assert main(["check", "norm.onnx"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"settings target, assume-op, op-type of {path}" in said
    assert main(["check", "norm.onnx", "--no-settings", "--target", "trt8.6", "-q"]) == 1
    write(project, '["acme::Norm"]\noutputs = ["like:0"]\n', "ops.toml")
    write(project, table.replace('{"acme::Norm" = "like:0"}', '"ops.toml"'), "pyproject.toml")
    assert main(["check", "norm.onnx"]) == 0
    write(project, 'target = "trt7.2"\n')  # the file of its own comes first
    found = settings_of(Path.cwd())
    assert found is not None
    assert found.path == project / "graphfix.toml"


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        ('targte = "trt8"', "targte", "there is no such setting (known settings: target, skip, "),
        ('target = "trt77"', "target", "there is no target 'trt77' (did you mean "),
        ("target = 8", "target", "is not the name of a target"),
        ('target = "trt8"\nallow-lossy = "yes"', "allow-lossy", "is not true or false"),
        ('target = "trt8"\nskip = ["nothing-such"]', "skip", "no pass is called 'nothing-such'"),
        ('target = "trt8"\nmax-memory = "much"', "max-memory", "'much' is no size"),
        ('target = "trt8"\ntimeout = 0', "timeout", "0.0 is not in the range x>0"),
        ('target = "trt8"\nop-type = {"acme::Norm" = "float33"}', "op-type", "float33"),
        ('target = "trt8"\nassume-op = "acme::Norm"', "assume-op", "is not a list of operators"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(
    project: Path, capsys: Capture, text: str, key: str, says: str
) -> None:
    path = write(project, text)
    assert main(["run", "mod.onnx"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"graphfix: error: {path}: {key}: ")
    assert says in said
    assert said.count("\n") == 1


def test_a_file_that_is_no_toml(project: Path, capsys: Capture) -> None:
    path = write(project, "target = ")
    assert main(["run", "mod.onnx"]) == 2
    assert capsys.readouterr().err.startswith(f"graphfix: error: {path}: is no TOML: ")
    assert main(["run", "--help"]) == 0
    with pytest.raises(UsageError):
        settings_of(project)


def test_a_batch_takes_them_once(project: Path, capsys: Capture) -> None:
    path = write(project, 'target = "trt7.2"\nassume-op = ["Mod"]\n')
    assert main(["batch", "mod.onnx", "--out", "out", "--json"]) == 0
    reported = capsys.readouterr()
    (row,) = json.loads(reported.out)["rows"]
    assert (row["target"], row["word"]) == ("trt7.2", "fine")
    assert f"graphfix: note: settings: target, assume-op of {path}\n" in reported.err
