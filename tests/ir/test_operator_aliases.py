"""--op-alias: operators that the user says are others."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.cli import main
from graphfix.errors import UsageError
from graphfix.report import Verdict
from graphfix.testing import outputs_of

TEXT = """
<ir_version: 8, opset_import: ["" : 17, "my.ops" : 1]>
g (float[3,3] x) => (float[3,3] y) { i = my.ops.Inverse (x) y = my.ops.Swish2 (i) }
"""
BOTH = ("my.ops::Inverse=aten::linalg_inv", "my.ops::Swish2=HardSwish")
X = np.array([[2, 0, 0], [0, 4, 0], [1, 0, 8]], np.float32)


def model() -> ModelProto:
    return parser.parse_model(TEXT)


def written(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(model().SerializeToString())
    return path


def test_a_call_of_aten_and_an_operator_of_onnx_are_repaired_and_proved() -> None:
    before = model()
    raw = before.SerializeToString()
    result = graphfix.run(before, "trt8.6", treat_as=BOTH)
    assert before.SerializeToString() == raw
    assert (result.exit_code, result.report.verification.status) == (0, Verdict.EQUAL)
    inverse = np.linalg.inv(X)
    expected = inverse * np.clip(inverse / 6 + 0.5, 0, 1)
    given = outputs_of(result.model.to_proto(), {"x": X})["y"]
    assert np.allclose(given, expected, rtol=1e-5, atol=1e-6)


def test_check_takes_it_too() -> None:
    assert {f.feature for f in graphfix.check(model(), "trt8.6", treat_as=BOTH)} == {
        "op:aten::linalg_inv"
    }
    assert {f.feature for f in graphfix.check(model(), "trt8.6")} == {
        "op:my.ops::Inverse", "op:my.ops::Swish2"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("alias", "said"),
    [
        ("Inverse", "not of the form [DOMAIN::]OP=[DOMAIN::]OP"),
        ("=Relu", "not of the form"),
        ("my.ops::Inverse=Inverze", "ONNX has no operator Inverze"),
        ("my.ops::Other=Relu", "the model has no my.ops::Other; it has my.ops::Inverse, "),
    ],
)
def test_what_cannot_be_meant_is_said(alias: str, said: str) -> None:
    with pytest.raises(UsageError, match="--op-alias") as raised:
        graphfix.check(model(), "trt8.6", treat_as=(alias,))
    assert said in str(raised.value)


def test_one_operator_is_not_two() -> None:
    with pytest.raises(UsageError, match="treated as two operators"):
        graphfix.run(model(), "trt8.6", treat_as=("my.ops::Inverse=Relu", "my.ops::Inverse=Neg"))


def test_attributes_are_no_arguments_of_aten() -> None:
    text = TEXT.replace("my.ops.Inverse (x)", "my.ops.Inverse <upper = 1> (x)")
    with pytest.raises(UsageError, match="has the attributes upper"):
        graphfix.run(parser.parse_model(text), "trt8.6", treat_as=BOTH)


def test_the_commands_say_what_was_treated_as_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = written(tmp_path), tmp_path / "out.onnx"
    words = [word for alias in BOTH for word in ("--op-alias", alias)]
    asked = ["run", str(path), "--target", "trt8.6", *words, "-o", str(out), "--json"]
    assert main(asked) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["input"]["path"] == str(path)
    assert main([*(word for word in asked if word != "--json"), "-v"]) == 0
    shown = capsys.readouterr().out
    assert "1 x my.ops::Inverse is treated as aten::linalg_inv, as --op-alias says" in shown
    assert out.is_file()
    assert main(["check", str(path), "--target", "trt8.6", *words, "-v"]) == 1
    assert "op:aten::linalg_inv" in capsys.readouterr().out
    assert main(["check", str(path), "--target", "trt8.6", "--treat-as", "x=Relu"]) == 2


def test_names_alone_are_written_even_where_nothing_is_repaired(tmp_path: Path) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    text = TEXT.replace("my.ops.Inverse (x)", "Neg (x)")
    path.write_bytes(parser.parse_model(text).SerializeToString())
    asked = ["run", str(path), "--target", "trt8.6", "--op-alias", BOTH[1], "-o", str(out)]
    assert main(asked) == 0
    result = ModelProto.FromString(out.read_bytes())
    assert [(n.domain, n.op_type) for n in result.graph.node] == [("", "Neg"), ("", "HardSwish")]
