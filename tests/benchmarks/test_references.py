"""`benchmarks/references.py`: what a repaired file is compared with, and what that is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, parser

from benchmarks.references import compare_with_references

HEAD = '<ir_version: 8, opset_import: ["" : 13, "aten" : 1]> g (float[2,3] x) => '
# What an exporter makes of any(): numbers between -1 and 1 are cast to 0. onnxruntime takes no
# float in Not, so that the untouched file does not run.
TAIL = "k = Cast <to = 7> (x)  n = ReduceSum <keepdims = 0> (k, a)  y = Greater (n, z) }"
ORIGINAL = "(bool[3] y, bool[2,3] w) <int64[1] a = {0}, int64 z = {0}> { w = Not (x) " + TAIL
REPAIRED = (
    "(bool[3] y, bool[2,3] w) <int64[1] a = {0}, int64 z = {0}, float f = {0}> "
    "{ w = Equal (x, f) " + TAIL
)
X = np.array([[0.5, 2, 0], [-0.25, 3, 0]], np.float32)


def model(text: str) -> ModelProto:
    return parser.parse_model(HEAD + text)


@pytest.fixture(name="judge")
def _judge(tmp_path: Path, capsys: Any) -> Any:
    def judge(repaired: str, original: str, y: list[int]) -> tuple[str, str]:
        (tmp_path / "repaired.onnx").write_bytes(model(repaired).SerializeToString())
        (tmp_path / "original.onnx").write_bytes(model(original).SerializeToString())
        np.savez(tmp_path / "stored.npz", in_0=X, out_0=np.array(y, bool), out_1=X == 0)
        compare_with_references(
            tmp_path / "repaired.onnx",
            tmp_path / "original.onnx",
            tmp_path / "stored.npz",
            against_original=False,
        )
        answer = json.loads(capsys.readouterr().out)
        return answer["status"], answer["reason"]

    return judge


def test_equal_to_the_stored_results(judge: Any) -> None:
    assert judge(REPAIRED, ORIGINAL, [0, 1, 0]) == ("equal", "")


def test_a_file_that_says_something_else_than_pytorch(judge: Any) -> None:
    # PyTorch: any of (0.5, -0.25) is true; the file: both are cast to 0 first.
    assert judge(REPAIRED, ORIGINAL, [1, 1, 0]) == ("as exported", "")


def test_a_repair_that_says_something_else_than_the_file(judge: Any) -> None:
    wrong = REPAIRED.replace("Equal (x, f)", "Less (x, f)")
    assert judge(wrong, ORIGINAL, [0, 1, 0])[0] == "mismatch"
    # One output as exported does not excuse another.
    assert judge(wrong, ORIGINAL, [1, 1, 0])[0] == "mismatch"


def test_operators_whose_meaning_is_our_own_reading(judge: Any) -> None:
    foreign = ORIGINAL.replace("w = Not (x)", "w = aten.logical_not (x)")
    assert judge(REPAIRED, foreign, [1, 1, 0])[0] == "mismatch"
