"""compare: expected outputs, ranges, inputs from files, and a run that stops."""

from __future__ import annotations

import json
import wave
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper, parser

import graphfix
from graphfix.cli import main
from graphfix.pipeline.given_inputs import given_inputs

Capture = pytest.CaptureFixture[str]
HEAD = '<ir_version: 8, opset_import: ["" : 17]>'
NET = HEAD + "g (float[N, 3] x) => (float[N, 3] y, int64[2] s) { y = Exp (x) s = Shape (y) }"
ONE = HEAD + "g (float[N, 3] x) => (float[N, 3] y) { y = Exp (x) }"
BROKEN = HEAD + (
    "g (float[N, M] x, float[K] z) => (float[N, M] y) <float[1] w = {1}> "
    "{ [neg] a = Neg (x) [add] b = Add (a, z) y = Mul (b, w) }"
)
X = np.array([[0.5, -1, 2]], np.float32)


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("net", NET), ("one", ONE), ("broken", BROKEN)):
        Path(f"{name}.onnx").write_bytes(parser.parse_model(text).SerializeToString())


def compared(capsys: Capture, *words: str, code: int = 0) -> Any:
    """Return what a comparison prints as JSON."""
    assert main(["compare", *words, "--json"]) == code, capsys.readouterr()
    return json.loads(capsys.readouterr().out)["verification"]


def test_outputs_in_an_npz_file(capsys: Capture) -> None:
    np.savez("all.npz", x=X, y=np.exp(X), s=np.array([1, 3]))
    found = compared(capsys, "net.onnx", "all.npz")
    assert (found["status"], found["method"]) == ("equal", "onnxruntime, 1 expected set")
    assert [row["name"] for row in found["outputs"]] == ["y", "s"]
    np.savez("in.npz", x=X)
    np.savez("wrong.npz", y=np.exp(X) * np.float32(1.01))
    found = compared(capsys, "net.onnx", "wrong.npz", "--inputs", "in.npz", code=1)
    assert (found["status"], found["reason"]) == ("mismatch", "not what is expected: y")
    assert abs(found["outputs"][0]["max_rel"] - 0.0099) < 1e-3
    np.savez("size.npz", x=X, s=np.array([2, 3]))
    assert compared(capsys, "net.onnx", "size.npz", code=1)["status"] == "mismatch"


def test_what_is_expected_fits_the_model(capsys: Capture) -> None:
    np.savez("strange.npz", x=X, q=X)
    np.savez("none.npz", x=X)
    np.savez("only.npz", y=X)
    Path("empty").mkdir()
    Path("bad.npz").write_bytes(b"no zip")
    for name, said in (
        ("strange.npz", "the model has no output 'q'"),
        ("none.npz", "has no output of the model"),
        ("only.npz", "input 'x' is given by nothing"),
        ("empty", "has no output_0.pb"),
        ("bad.npz", "cannot be read as .npz"),
    ):
        assert main(["compare", "net.onnx", name]) == 2
        assert said in capsys.readouterr().err
    np.savez("all.npz", x=X, y=np.exp(X))
    assert main(["compare", "net.onnx", "all.npz", "--layers"]) == 2
    assert "expected outputs have no layers" in capsys.readouterr().err


def test_folders_of_test_data(capsys: Capture) -> None:
    for place, scale in enumerate((1, -2)):
        folder = Path(f"data/test_data_set_{place}")
        folder.mkdir(parents=True)
        arrays = {"input_0": X * scale, "output_0": np.exp(X * scale), "output_1": np.array([1, 3])}
        for name, array in arrays.items():
            raw = numpy_helper.from_array(array.astype(array.dtype)).SerializeToString()
            (folder / f"{name}.pb").write_bytes(raw)
    found = compared(capsys, "net.onnx", "data")
    assert (found["status"], found["method"]) == ("equal", "onnxruntime, 2 expected sets")
    assert compared(capsys, "net.onnx", "data/test_data_set_1")["method"].endswith("1 expected set")
    (Path("data/test_data_set_1") / "output_1.pb").unlink()
    assert main(["compare", "net.onnx", "data"]) == 2
    assert "has 1 outputs, the model 2" in capsys.readouterr().err
    (Path("data/test_data_set_0") / "input_0.pb").write_bytes(b"\xff\xff")
    assert main(["compare", "net.onnx", "data/test_data_set_0"]) == 2
    assert "cannot be read as a tensor" in capsys.readouterr().err


def test_ranges(capsys: Capture) -> None:
    assert compared(capsys, "one.onnx", "one.onnx", "--range", "x=-1..1")["status"] == "equal"
    proto = parser.parse_model(
        HEAD + "g (uint8[500] a, float[500] b) => (uint8[500] y, float[500] z)"
        "{ y = Identity (a) z = Neg (b) }"
    )
    feed = given_inputs(proto, ranges={"a": (3, 5), "b": (-2, 7)}, seed=4)
    assert set(feed["a"].tolist()) == {3, 4, 5}
    assert feed["a"].dtype == np.uint8
    assert -2 <= feed["b"].min() < -1
    assert 6 < feed["b"].max() <= 7
    same = given_inputs(proto, ranges={"b": (-2, 7)}, seed=4)["b"]
    assert not (same == given_inputs(proto, ranges={"b": (-2, 7)}, seed=5)["b"]).all()
    for words, said in (
        (("--range", "q=0..1"), "--range q: the model has no input 'q'"),
        (("--range", "x=1..0"), "not of the form NAME=0..255"),
        (("--range", "x=one"), "not of the form NAME=0..255"),
        (("--input", "x"), "not of the form NAME=FILE"),
        (("--input", "x=gone.npy"), "--input x=gone.npy: no such file"),
        (("--input", "x=net.onnx"), ".onnx is not read"),
    ):
        assert main(["compare", "net.onnx", "net.onnx", *words]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(graphfix.UsageError, match=r"0\.\.300 is no range of uint8"):
        given_inputs(proto, ranges={"a": (0, 300)})


def test_arrays_and_sounds(capsys: Capture) -> None:
    np.save("x.npy", X)
    np.savez("y.npz", y=np.exp(X))
    found = compared(capsys, "net.onnx", "y.npz", "--input", "x=x.npy")
    assert found["status"] == "equal"
    np.save("x.npy", X.astype(np.float64))
    assert main(["compare", "net.onnx", "y.npz", "--input", "x=x.npy"]) == 2
    assert "is of float64, the input of float32" in capsys.readouterr().err
    with wave.open("s.wav", "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(np.array([[16384, 0], [-32768, -32768], [8192, 8192]], "<i2").tobytes())
    for sizes, expected in (
        ("1, 5", [[0.25, -1, 0.25, 0, 0]]),
        ("2", [0.25, -1]),
        ("1, N", [[0.25, -1, 0.25]]),
    ):
        text = HEAD + f"g (float[{sizes}] w) => (float[{sizes}] y) {{ y = Neg (w) }}"
        feed = given_inputs(parser.parse_model(text), files={"w": Path("s.wav")})
        assert feed["w"].tolist() == expected
        assert feed["w"].dtype == np.float32


def test_pictures() -> None:
    pytest.importorskip("PIL", reason="pip install 'graphfix[images]'")
    image: Any = import_module("PIL.Image")
    pixels = np.zeros((2, 4, 3), np.uint8)
    pixels[..., 0] = 255
    image.fromarray(pixels).save("red.png")

    def read(kind: str) -> Any:
        proto = parser.parse_model(HEAD + f"g ({kind} p) => ({kind} y) {{ y = Identity (p) }}")
        return given_inputs(proto, files={"p": Path("red.png")})["p"]

    assert read("float[1, 3, 2, 4]")[0, :, 0, 0].tolist() == [1, 0, 0]
    assert read("uint8[N, H, W, 3]").tolist() == pixels[None].tolist()
    assert read("uint8[3, 6, 6]").shape == (3, 6, 6)
    assert read("float[1, 1, 2, 4]").shape == (1, 1, 2, 4)
    with pytest.raises(graphfix.UsageError, match="no axis of the input is of 1, 3 or 4 channels"):
        read("float[1, 7, 2, 5]")
    with pytest.raises(graphfix.UsageError, match="rank 3 or 4"):
        read("float[5]")


def test_a_run_that_stops_is_explained(capsys: Capture) -> None:
    np.savez("in.npz", x=np.ones((2, 3), np.float32), z=np.ones(4, np.float32))
    np.savez("out.npz", y=np.ones((2, 3), np.float32))
    expected = (
        "it stops at Add 'add', which reads",
        "a: float32[2, 3], made by Neg 'neg'",
        "z: float32[4], an input",
    )
    for other in ("out.npz", "broken.onnx"):
        assert main(["compare", "broken.onnx", other, "--inputs", "in.npz"]) == 1
        said = capsys.readouterr().out
        assert all(line in said for line in expected), said
