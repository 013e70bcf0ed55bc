"""Wrong arguments of the Python API are answered as on the command line, never by a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

import graphfix
from graphfix import InvalidModel, UsageError

MODEL = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 13]> g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }'
)
SEQUENCE = onnx.parser.parse_model(
    '<ir_version: 8, opset_import: ["": 13]> g (seq(float[2]) x) => (int64 y)'
    "{ y = SequenceLength (x) }"
)
NAMED: dict[str, Any] = {"passes": ["identity-elimination"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"passes": "identity-elimination"}, "not a list of names"),
        ({**NAMED, "skip": "fold-constants"}, "not a list of names"),
        ({**NAMED, "seed": -1}, "-1 is negative"),
        ({"opset": "13"}, "not an integer"),
        ({**NAMED, "shapes": {"x": ["a", 3]}}, "no size of a dimension"),
        ({**NAMED, "shapes": {"x": [-1, 3]}}, "no size of a dimension"),
        ({**NAMED, "shapes": {"x": [True, 3]}}, "no size of a dimension"),
        ({**NAMED, "shapes": {"x": [1 << 63, 3]}}, "no size of a dimension"),
        ({**NAMED, "inputs": {"x": object()}}, "not an array of numbers"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        graphfix.run(MODEL, **arguments)


def test_a_sequence_has_no_shape_to_bind() -> None:
    with pytest.raises(UsageError, match="not a tensor"):
        graphfix.run(SEQUENCE, passes=["identity-elimination"], shapes={"x": [2]})


def test_an_empty_proto_is_no_model() -> None:
    with pytest.raises(InvalidModel, match="not an ONNX model"):
        graphfix.load(onnx.ModelProto())


def test_a_pass_file_that_exits_is_a_usage_error(tmp_path: Path) -> None:
    file = tmp_path / "leaves.py"
    file.write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be imported: SystemExit"):
        graphfix.run(MODEL, target="trt8.6", pass_files=[file])
