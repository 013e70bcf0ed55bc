"""Models as the text of a protobuf message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from onnx import parser

import graphfix
from graphfix.cli import main
from graphfix.errors import InvalidModel
from graphfix.ir.storage import reading
from graphfix.ir.storage.reading import is_text, parse_model, read_model
from graphfix.proving.models import run_model

MODEL = parser.parse_model(
    """<ir_version: 8, opset_import: ["" : 17], doc_string: "elem_type: FLOAT\\n  a \\"text\\"">
    g (float[N, 3] x) => (float[N, 3] y) <float[3] w = {1.5, -2, 0.1}> { y = Mul (x, w) }"""
)


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_text_says_the_message() -> None:
    text = text_format.MessageToString(MODEL)
    assert parse_model(text.encode(), "here") == MODEL
    one_line = text_format.MessageToString(MODEL, as_one_line=True)
    assert parse_model(one_line.encode(), "here") == MODEL


def test_types_had_names_before() -> None:
    text = text_format.MessageToString(MODEL)
    assert "elem_type: 1\n" in text
    assert "data_type: 1\n" in text
    named = text.replace("elem_type: 1\n", "elem_type: FLOAT\n")
    named = named.replace("data_type: 1\n", "data_type: FLOAT\n")
    assert parse_model(named.encode(), "here") == MODEL


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ir_version: 3\ngraph { node { op_type: ", "cannot be read"),
        ("ir_version: 3\ngraph { other: 1 }", "no field named"),
        ("ir_version: 3\n", "not an ONNX model"),
        ("graph { input { type { tensor_type {\nelem_type: NO\n} } } }", "parse integer"),
        ("ir_version: 3\ngraph {" + "node { attribute { g {" * 2000, "cannot be read"),
    ],
    ids=["cut off", "another message", "no graph", "no such type", "deep"],
)
def test_what_is_no_text_of_a_model_ends_in_one_line(text: str, reason: str) -> None:
    with pytest.raises(InvalidModel, match=reason) as caught:
        parse_model(text.encode(), "here")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(InvalidModel, match="cannot be read"):
        parse_model(b"ir_version: 3 \xff\xfe", "here")


def test_a_long_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_BYTES", 20)
    with pytest.raises(InvalidModel, match="text form of a model, of 22 bytes"):
        parse_model(b"ir_version: 3\ngraph {}", "here")


def test_the_file_knows_that_it_is_a_text(tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", text_format.MessageToString(MODEL))
    assert read_model(path).is_text
    loaded = graphfix.load(path)
    assert loaded.is_text
    assert loaded.copy().is_text
    path.write_bytes(MODEL.SerializeToString())
    assert not read_model(path).is_text


@pytest.mark.parametrize("words", [["--target", "trt8"], ["--opset", "18"], ["--in-place"]])
def test_the_result_is_a_message(tmp_path: Path, words: list[str]) -> None:
    path = written(tmp_path / "m.onnx", text_format.MessageToString(MODEL))
    out = path if "--in-place" in words else tmp_path / "out.onnx"
    rest = ["--target", "trt8"] if "--in-place" in words else ["-o", str(out)]
    assert main(["run", str(path), *words, *rest]) == 0
    assert not is_text(out.read_bytes())
    x = np.array([[2, 3, -10]], np.float32)
    (got,) = run_model(out, [{"x": x}])
    expected = x * np.array([1.5, -2, 0.1], np.float32)
    np.testing.assert_array_equal(np.asarray(got["y"]), expected)


def test_it_is_compared_and_checked_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = written(tmp_path / "m.pbtxt", text_format.MessageToString(MODEL))
    binary = tmp_path / "m.onnx"
    binary.write_bytes(MODEL.SerializeToString())
    assert main(["compare", str(text), str(binary)]) == 0
    assert main(["check", str(binary), "--target", "trt8"]) == 0
    capsys.readouterr()
    assert main(["check", str(text), "--target", "trt8", "-v"]) == 1
    assert "text-form-to-binary" in capsys.readouterr().out
