"""What is wrong, where, and what to do: errors of input that is no model, and of wrong options."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from graphfix.cli import main

Capture = pytest.CaptureFixture[str]
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 3] x) => (float[N, 3] y) { a = Neg (x) y = Exp (a) }"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    Path("empty").mkdir()
    Path("nets").mkdir()
    Path("nets/a.onnx").write_bytes(Path("m.onnx").read_bytes())
    return "m.onnx"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "empty", "--opset", "9"], 3, "empty: is a folder, not a model file (no .onnx"),
        (["inspect", "empty"], 3, "empty: is a folder, not a model file (no .onnx file is in it)"),
        (["run", "nets", "--opset", "9"], 3, "not a model file (a file of it is a.onnx)"),
        (["bisect", "-", "m.onnx"], 3, "-: no such file (standard input is not read here: give a"),
        (["run", "m.onnx", "--opset", "x"], 2, "--opset: 'x' is not an integer"),
        (["run", "m.onnx", "--timeout", "x"], 2, "--timeout: 'x' is not a number"),
        (["run", "m.onnx", "--forc"], 2, "no such option '--forc' (did you mean '--force'?)"),
        (["edit", "m.onnx", "--except", "a", "-o", "o.onnx"], 2, "--except: must follow a --to ("),
        (
            ["edit", "m.onnx", "--rename", "a=b", "-o", "m.onnx"],
            2,
            "m.onnx: would overwrite the input (give another name with -o)",
        ),
        (
            ["run", "m.onnx", "--opset", "9", "-o", "m.onnx"],
            2,
            "would overwrite the input (give another name with -o, or --in-place if that is meant)",
        ),
        (["batch", "m.onnx", "--target", "", "--out", "d"], 2, "--target: names no target ("),
        (["batch", "m.onnx", "--target", "trt8", "--out", "m.onnx"], 2, "is a file, not a folder"),
        (["batch", "@no", "--target", "trt8", "--out", "d"], 2, "the list cannot be read: No such"),
        (["passes", "no-such"], 2, "graphfix passes: no pass is called 'no-such' ("),
        (["diff", "m.onnx", "-", "--report", "x.txt"], 2, "is not of the form FILE.html or"),
    ],
)
def test_one_line_says_it(
    words: list[str], code: int, said: str, model: str, capsys: Capture
) -> None:
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert said in line


def test_parts_are_counted(model: str, capsys: Capture) -> None:
    assert main(["edit", model, "--split", "a=f.onnx,b.onnx"]) == 0
    out = capsys.readouterr().out
    assert "--split: 1 node up to a for f.onnx" in out
    assert "--split: 1 node for b.onnx" in out


def test_shapes_alone_are_no_simplification(model: str, capsys: Capture) -> None:
    assert main(["run", model, "--target", "trt8", "--shape", "x=2x3", "-o", "o.onnx"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "CHANGED: m.onnx had no problem for trt8.6, and only inputs or outputs were changed"
    )
    assert lines[2] == "  verified  no node was changed, so nothing had to be compared"


def test_an_address_that_the_machine_has_not(capsys: Capture) -> None:
    pytest.importorskip("fastapi", reason="serve needs graphfix[web]")
    assert main(["serve", "--host", "203.0.113.1", "--port", "0"]) == 2
    assert "is no address of this machine (" in capsys.readouterr().err
