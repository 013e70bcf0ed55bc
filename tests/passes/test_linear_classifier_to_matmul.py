"""linear-classifier-to-matmul: scores and the label of the highest."""

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
