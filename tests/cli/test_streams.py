"""``-`` reads a model from standard input and writes one to standard output."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.external_data_helper import set_external_data

from graphfix.cli import main
from graphfix.testing import parse

SWISH = parse(
    '<ir_version: 8, opset_import: ["" : 14]> g (float[2,3] x) => (float[2,3] y) '
    "{ a = HardSwish (x) y = Relu (a) }"
)
FINE = parse(
    '<ir_version: 8, opset_import: ["" : 11]> g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }'
)
RUN = ["run", "-", "--target", "trt7.2"]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Feed:
    return Feed(monkeypatch)


class Feed:
    """Puts bytes where standard input is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Use `monkeypatch`."""
        self._monkeypatch = monkeypatch

    def __call__(self, raw: bytes) -> None:
        """Give `raw` on standard input."""
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def _external(folder: Path) -> bytes:
    proto = onnx.ModelProto.FromString(SWISH.SerializeToString())
    weight = numpy_helper.from_array(np.ones((2, 3), np.float32), "w")
    (folder / "w.bin").write_bytes(weight.raw_data)
    set_external_data(weight, "w.bin", 0, 24)
    weight.ClearField("raw_data")
    proto.graph.initializer.append(weight)
    proto.graph.node[1].CopyFrom(onnx.helper.make_node("Add", ["a", "w"], ["y"]))
    return proto.SerializeToString()


def test_a_model_goes_in_and_out_of_the_standard_streams() -> None:
    words = [sys.executable, "-m", "graphfix", *RUN, "-o", "-"]
    done = subprocess.run(words, input=SWISH.SerializeToString(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    ops = [node.op_type for node in onnx.load_model_from_string(done.stdout).graph.node]
    assert ops == ["HardSigmoid", "Mul", "Relu"]
    report = done.stderr.decode()
    assert report.startswith("FIXED: standard input for trt7.2: 1 problem repaired, none is left\n")
    assert "  output    standard output\n" in report


def test_standard_input_to_a_file(
    feed: Feed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(SWISH.SerializeToString())
    out = tmp_path / "out.onnx"
    assert main([*RUN, "-o", str(out), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["input"]["path"] == "standard input"
    assert reported["input"]["bytes"] == len(SWISH.SerializeToString())
    assert reported["output"]["path"] == str(out)
    assert len(onnx.load_model_from_string(out.read_bytes()).graph.node) == 3
    feed(SWISH.SerializeToString())
    assert main([*RUN, "-o", str(out)]) == 0  # graphfix wrote that file, so it may do so again


def test_a_file_to_standard_output(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "in.onnx"
    path.write_bytes(FINE.SerializeToString())
    assert main(["run", str(path), "--target", "trt7.2", "-o", "-", "--no-provenance"]) == 0
    reported = capfdbinary.readouterr()
    assert onnx.load_model_from_string(reported.out) == FINE
    assert b"OK: in.onnx for trt7.2 needs no repair" in reported.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "-", "--json"], "--json and -o - exclude each other"),
        ([], "give -o OUT.onnx, or -o - for standard output"),
        (["--in-place"], "give -o OUT.onnx, or -o - for standard output"),
    ],
)
def test_wrong_usage_of_the_streams(
    words: list[str], said: str, feed: Feed, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(SWISH.SerializeToString())
    assert main([*RUN, *words]) == 2
    reported = capsys.readouterr()
    assert said in reported.err
    assert reported.err.count("\n") == 1


def test_check_and_inspect_read_standard_input(
    feed: Feed, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(SWISH.SerializeToString())
    assert main(["check", "-", "--target", "trt7.2"]) == 1
    reported = capsys.readouterr().out
    assert reported.startswith("PROBLEMS: 1 in standard input for trt7.2\n")
    assert "\n  graphfix run - --target trt7.2 -o OUT.onnx\n" in reported
    feed(SWISH.SerializeToString())
    assert main(["inspect", "-", "--reach"]) == 0
    reported = capsys.readouterr().out
    assert "standard input: " in reported
    assert "HardSwish" in reported


@pytest.mark.parametrize("command", ["compare", "diff"])
def test_one_of_two_models_comes_from_standard_input(
    command: str, feed: Feed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in.onnx"
    path.write_bytes(SWISH.SerializeToString())
    feed(SWISH.SerializeToString())
    assert main([command, "-", str(path)]) == 0
    assert "standard input" in capsys.readouterr().out
    feed(FINE.SerializeToString())
    assert main([command, str(path), "-", "--json"]) == 1
    assert "standard input" in capsys.readouterr().out
    assert main([command, "-", "-"]) == 2
    assert "only one model can come from standard input" in capsys.readouterr().err


@pytest.mark.parametrize("raw", [b"", b"no model"])
def test_what_is_no_model_on_standard_input(
    raw: bytes, feed: Feed, capsys: pytest.CaptureFixture[str]
) -> None:
    feed(raw)
    assert main([*RUN, "-o", "-"]) == 3
    reported = capsys.readouterr()
    assert reported.err.startswith("graphfix: error: standard input: ")
    assert reported.out == ""


def test_weights_in_a_data_file_are_refused_on_the_streams(
    feed: Feed, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    raw = _external(tmp_path)
    feed(raw)
    assert main(["check", "-", "--target", "trt8.6"]) == 2
    assert b"standard input has no folder to find it in" in capfdbinary.readouterr().err
    path = tmp_path / "in.onnx"
    path.write_bytes(raw)
    words = ["run", str(path), "--target", "trt7.2", "-o", "-"]
    assert main(words) == 2
    reported = capfdbinary.readouterr()
    assert (b"--data inline" in reported.err, reported.out) == (True, b"")
    assert main([*words, "--data", "inline"]) == 0
    inline = onnx.load_model_from_string(capfdbinary.readouterr().out)
    assert not inline.graph.initializer[0].external_data


def test_a_file_that_is_called_like_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(FINE.SerializeToString())
    assert main(["check", "./-", "--target", "trt7.2"]) == 0
    assert "standard input" not in capsys.readouterr().out
