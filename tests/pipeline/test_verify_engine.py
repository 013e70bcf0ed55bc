"""--verify engine: TensorRT itself runs the result, through stand-ins for it.

No machine of the tests has a GPU: the stand-ins compute with onnxruntime and speak as NVIDIA's
program and packages are documented to speak.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from graphfix.api import run
from graphfix.engines.tensorrt import runner
from graphfix.errors import UsageError
from graphfix.pipeline.results import Result
from graphfix.report import Verdict
from graphfix.testing import parse
from tests.pipeline.stand_ins import MODE, put_packages, put_program

MODEL = """
<ir_version: 8, opset_import: ["": 16]>
g (float[N, 4] x) => (float[N, 4] y)
<float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16.5}>
{ z = MatMul (x, w) o = Hardmax (z) h = HardSwish (z) y = Add (o, h) }
"""
INTEGERS = """
<ir_version: 8, opset_import: ["": 13]> g (int64[3] x) => (int64[3] y) { y = Neg (x) }
"""
BYTES = """
<ir_version: 8, opset_import: ["": 13]> g (float[3] x) => (uint8[3] y) { y = Cast <to = 2> (x) }
"""


def hide_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without_tensorrt(name: str, package: str | None = None) -> object:
        return None if name == "tensorrt" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_tensorrt)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    hide_packages(monkeypatch)
    return put_program(tmp_path)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_packages(tmp_path, "8.6.1.post1")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == "polygraphy"]:
        monkeypatch.delitem(sys.modules, name)


def ran(model: str | ModelProto = MODEL, target: str = "trt8.6", **further: object) -> Result:
    return run(parse(model), target, verify="engine", **further)  # type: ignore[arg-type]


def feeds(path: Path) -> Path:
    np.savez(path, x=np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32))
    return path


def test_the_program_agrees(program: Path, tmp_path: Path) -> None:
    result = ran(inputs=feeds(tmp_path / "inputs.npz"))
    found = result.report.verification
    assert (result.exit_code, found.status) == (0, Verdict.EQUAL), found
    assert "trtexec of TensorRT 8.6" in found.method
    assert "engine" in result.report.seconds
    calls = program.read_text().splitlines()
    assert "noTF32 onnx saveEngine" in calls[0].replace("loadInputs ", "")
    assert all("shapes" in call and "loadInputs" in call for call in calls)
    assert any("loadEngine" in call for call in calls[1:]), "one engine serves inputs of one shape"


def test_the_program_computes_something_else(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODE, "wrong")
    result = ran(inputs=feeds(tmp_path / "inputs.npz"))
    assert result.exit_code == 4
    assert result.report.verification.status is Verdict.MISMATCH
    assert {o.name: o.status for o in result.report.verification.outputs}["y"] is Verdict.MISMATCH


def test_integers_are_handed_over_as_the_version_takes_them(program: Path) -> None:
    result = ran(INTEGERS)
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)


def test_the_program_refuses(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "refuse")
    result = ran()
    found = result.report.verification
    assert (result.exit_code, found.status) == (1, Verdict.INCONCLUSIVE)
    assert "While parsing node number 0 Failed to parse onnx file" in found.reason


def test_another_version(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "ten")
    result = ran()
    found = result.report.verification
    assert (result.exit_code, found.status) == (1, Verdict.INCONCLUSIVE)
    assert found.reason.startswith("this machine has TensorRT 10.1, not 8.6; there: equal")


def test_inputs_that_the_engine_cannot_hold(program: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "i.npz", x=np.array([1, 2, 2**40], np.int64))
    found = ran(INTEGERS, inputs=tmp_path / "i.npz").report.verification
    assert found.status is Verdict.INCONCLUSIVE
    assert "input x holds numbers that int32 does not" in found.reason


def test_outputs_that_the_program_does_not_print(program: Path) -> None:
    found = ran(BYTES).report.verification
    assert found.status is Verdict.INCONCLUSIVE
    assert "trtexec does not print the values of output y (uint8)" in found.reason


@pytest.mark.parametrize(
    ("mode", "status", "code"),
    [("", Verdict.EQUAL, 0), ("wrong", Verdict.MISMATCH, 4), ("refuse", Verdict.INCONCLUSIVE, 1)],
)
def test_the_packages(
    packages: None, monkeypatch: pytest.MonkeyPatch, mode: str, status: Verdict, code: int
) -> None:
    monkeypatch.setenv(MODE, mode)
    result = ran()
    found = result.report.verification
    assert (found.status, result.exit_code) == (status, code), found
    if mode == "refuse":
        assert "Could not parse ONNX correctly" in found.reason
    else:
        assert "TensorRT 8.6.1.post1" in found.method


def test_there_is_no_tensorrt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    hide_packages(monkeypatch)
    with pytest.raises(UsageError, match="this machine has no TensorRT"):
        ran()


@pytest.mark.parametrize(
    ("target", "said"),
    [("ort-1.8", "this machine has onnxruntime 1.*, not ONNX Runtime 1.8"), (None, "for a target")],
)
def test_the_target_is_not_tensorrt(program: Path, target: str | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(parse(MODEL), target, opset=15, verify="engine")


def test_numbers_that_are_no_json(program: Path) -> None:
    text = '[ { "name" : "y"\n , "dimensions" : "2x2", "values" : [ nan, -inf, inf, 1e+06 ] } ]'
    found = runner.parse_outputs(text, {"y": np.dtype(np.float32)})["y"]
    assert np.array_equal(found, [[np.nan, -np.inf], [np.inf, 1e6]], equal_nan=True)
