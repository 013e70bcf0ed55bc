"""linear-classifier-to-matmul: scores and the label of the highest."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import ROUNDED, model_of, rows

PASS = "linear-classifier-to-matmul"


@pytest.mark.parametrize("kind", ["float32", "float64", "int64"])
@pytest.mark.parametrize("after", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_three_classes(after: str, kind: str) -> None:
    model = model_of(
        "LinearClassifier",
        ["N", 3],
        kind=helper.np_dtype_to_tensor_dtype(np.dtype(kind)),
        label=TensorProto.INT64,
        coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5, -1.0, 1.0, 0.0],
        intercepts=[0.1, -0.2, 0.3],
        classlabels_ints=[7, -2, 4],
        post_transform=after,
    )
    assert_rewrite(PASS, model, feeds=[{"x": rows(kind)}], **ROUNDED)


def test_two_classes_with_one_score() -> None:
    given: dict[str, Any] = {
        "coefficients": [0.5, -1.0, 2.0],
        "intercepts": [0.1],
        "label": TensorProto.INT64,
    }
    model = model_of("LinearClassifier", ["N", 3], classlabels_ints=[0, 1], **given)
    assert_rewrite(PASS, model, feeds=[{"x": rows()}], **ROUNDED)
    after = model_of(
        "LinearClassifier", ["N", 3], classlabels_ints=[0, 1], post_transform="LOGISTIC", **given
    )
    assert_refused(PASS, after, "or two of them one that is not transformed")
    lost = model_of(
        "LinearClassifier", ["N", 3], classlabels_ints=[0, 1], post_transform="PROBIT", **given
    )
    assert_refused(PASS, lost, "must not be transformed by PROBIT, which loses the last digits")


def test_labels_that_are_texts() -> None:
    model = model_of(
        "LinearClassifier",
        ["N", 3],
        label=TensorProto.STRING,
        coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5],
        intercepts=[0.1, 0.0],
        classlabels_strings=["no", "yes"],
    )
    assert_refused(PASS, model, "they are texts")
    del model.graph.output[0]
    assert_rewrite(PASS, model, feeds=[{"x": rows()}], **ROUNDED)


def test_coefficients_past_those_that_rows_of_few_columns_need_are_not_read() -> None:
    model = model_of(
        "LinearClassifier",
        ["N", 2],
        label=TensorProto.INT64,
        coefficients=[0.5, -1.0, 2.0, 1.5, 0.25, -0.5, -1.0, 1.0, 0.0, 3.0, -2.0, 7.0],
        intercepts=[0.1, -0.2, 0.3],
        classlabels_ints=[0, 1, 2],
        post_transform="LOGISTIC",
    )
    two = np.array([[0.5, -1.5], [2.0, 0.25], [-3.0, 1.0]], np.float32)
    assert_rewrite(PASS, model, feeds=[{"x": two}], **ROUNDED)
