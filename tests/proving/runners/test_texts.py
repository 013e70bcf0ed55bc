"""onnxruntime loses texts in Gather: such a node is computed elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.runners.texts import gathers_texts
from graphfix.proving.values.kinds import Feed

HEAD = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>'
OF_TEXTS = HEAD + " g (string[2,3] x, int64[2] i) => (string[2,3] y) { y = Gather (x, i) }"
# The texts are those of the encoder; what is gathered are numbers.
OF_NUMBERS = (
    HEAD
    + """
    g (int64[N] x, int64[2] i) => (float[2] y) {
        e = ai.onnx.ml.LabelEncoder
            <keys_int64s = [1, 2], values_strings = ["a", "b"], default_string = "c"> (x)
        n = ai.onnx.ml.LabelEncoder
            <keys_strings = ["a", "b"], values_floats = [1.5, 2.5], default_float = 0.0> (e)
        y = Gather (n, i)
    }"""
)
LATER = HEAD + " g (int64[2,3] x, int64[2] i) => (string[2,3] y) { %s }"


def parsed(text: str) -> ModelProto:
    return parser.parse_model(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (OF_TEXTS, True),
        (OF_NUMBERS, False),
        (LATER % "t = Cast <to = 8> (x) y = Gather (t, i)", True),
        (LATER % "s = Gather (x, i) y = Cast <to = 8> (s)", False),
        (LATER % "y = Cast <to = 8> (x)", False),
    ],
)
def test_whether_texts_are_gathered(text: str, found: bool) -> None:
    assert gathers_texts(parsed(text)) is found


def test_every_text_of_a_row_is_gathered() -> None:
    rows = np.array([["a", "b", "c"], ["d", "e", "f"]], object)
    given: Feed = {"x": rows, "i": np.array([1, 0])}
    found = np.asarray(RunnableModel(parsed(OF_TEXTS)).open().run(given)["y"])
    assert found.tolist() == rows[::-1].tolist()


def test_numbers_next_to_texts_are_gathered_by_onnxruntime() -> None:
    engine = RunnableModel(parsed(OF_NUMBERS)).open()
    assert isinstance(engine, OrtEngine)
    found = np.asarray(engine.run({"x": np.array([2, 1, 7]), "i": np.array([2, 0])})["y"])
    assert found.tolist() == [0.0, 2.5]
