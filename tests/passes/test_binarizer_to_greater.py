"""binarizer-to-greater: above the threshold or not."""

from onnx import TensorProto

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.ml_models import model_of, rows

PASS = "binarizer-to-greater"


def test_a_threshold() -> None:
    data = rows()
    for threshold in (0.0, 0.5):
        model = model_of("Binarizer", ["N", 3], threshold=threshold)
        done = assert_rewrite(PASS, model, feeds=[{"x": data}])
        assert done.ops == ["Greater", "Cast"]


def test_integers_are_refused() -> None:
    model = model_of("Binarizer", ["N", 3], kind=TensorProto.INT64, result=TensorProto.INT64)
    assert_refused(PASS, model, "must be float32 or float64; it is int64")
