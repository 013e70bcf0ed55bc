"""linear-classifier-to-matmul: scores and the label of the highest."""

from onnx import TensorProto

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import ROUNDED, model_of, rows

PASS = "linear-classifier-to-matmul"


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
