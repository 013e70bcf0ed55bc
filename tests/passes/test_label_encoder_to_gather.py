"""label-encoder-to-gather: numbers for numbers."""

from typing import Any

import pytest
from onnx import TensorProto

from graphfix.testing import assert_rewrite
from tests.passes.ml_models import model_of, rows

PASS = "label-encoder-to-gather"


F, INT = TensorProto.FLOAT, TensorProto.INT64
FORMS: list[tuple[int, int, dict[str, Any]]] = [
    (INT, F, {"keys_int64s": [2, 0, -1], "values_floats": [0.5, -1.5, 4.0], "default_float": 9.0}),
    (INT, INT, {"keys_int64s": [2, 0, -1], "values_int64s": [7, 5, 6]}),
    (F, INT, {"keys_floats": [2.0, 0.5], "values_int64s": [7, 5], "default_int64": -8}),
    (F, F, {"keys_floats": [2.0, 0.5], "values_floats": [7.0, 5.5]}),
]


@pytest.mark.parametrize(("kind", "result", "given"), FORMS)
def test_numbers_for_numbers(kind: int, result: int, given: dict[str, Any]) -> None:
    model = model_of("LabelEncoder", ["N", 3], kind=kind, result=result, **given)
    data = rows("int64" if kind == INT else "float32")
    assert_rewrite(PASS, model, feeds=[{"x": data}])
