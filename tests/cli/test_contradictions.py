"""What is asked for and excluded at once, and inputs that are not there: one line, exit code 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import graphfix
from graphfix import UsageError
from graphfix.cli import main

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { [m] y = Celu (x) }
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    return path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--passes", "celu-to-elu", "--skip", "celu-to-elu"], "both name celu-to-elu"),
        (["--target", "trt8", "--only", "m", "--except", "m"], "both name m"),
        (["--target", "trt8", "--dry-run", "--in-place"], "--dry-run and --in-place exclude"),
        (["--target", "trt8", "--strict", "--partial"], "--strict and --partial exclude"),
        (["--target", "trt8", "--in-place", "-o", "o.onnx"], "--in-place and --output exclude"),
        (["--target", "trt8", "--verify", "off", "--inputs", "no.npz"], "off and --inputs exclude"),
        (["--target", "trt8", "--verify", "off", "--certificates", "d"], "--certificates exclude"),
        (["--target", "trt8", "-q", "-v"], "--quiet and --verbose exclude each other"),
        (["--target", "trt8", "--inputs", "no.npz"], "no.npz: no such file"),
    ],
)
def test_a_run(
    model: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(model.parent.iterdir())
    assert main(["run", str(model), *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert said in lines[-1]
    assert sorted(model.parent.iterdir()) == before


def test_an_edit(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.onnx"
    words = ["edit", str(model), "--rename", "x=q", "-o", str(out)]
    assert main([*words, "--inputs", str(tmp_path / "no.npz")]) == 2
    (tmp_path / "no.npz").write_text("no archive")
    assert main([*words, "--inputs", str(tmp_path / "no.npz")]) == 2
    np.savez(tmp_path / "yes.npz", x=np.ones(2, np.float32))
    capsys.readouterr()
    assert main([*words, "--inputs", str(tmp_path / "yes.npz"), "--verify", "off"]) == 2
    assert "--verify off and --inputs exclude each other" in capsys.readouterr().err
    assert main([*words, "-v", "-q"]) == 2
    assert not out.exists()


def test_from_python(model: Path) -> None:
    with pytest.raises(UsageError, match="both name celu-to-elu"):
        graphfix.run(str(model), passes=["celu-to-elu"], skip=["celu-to-elu"])


def test_an_opset_that_there_is_not(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(model), "--opset", "99"]) == 2
    assert "--opset: there is no opset 99 (opsets are 1 to " in capsys.readouterr().err
    assert not list(model.parent.glob("*.opset99.onnx"))


def test_a_metavar_in_an_error_keeps_its_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["passes", "mod-elimination", "--family", "mod"]) == 2
    assert "passes: NAME and --family" in capsys.readouterr().err
