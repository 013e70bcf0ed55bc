"""qonnx-xnor-to-matmul: XnorPopcountMatMul by its definition."""

import numpy as np
from onnx import TensorProto, helper

from graphfix.testing import assert_refused
from tests.passes.brevitas_models import quantizer
from tests.passes.qonnx_models import given

PASS = "qonnx-xnor-to-matmul"


def test_bits_that_agree_are_counted() -> None:
    rng = np.random.default_rng(0)
    x, weights = (rng.integers(0, 2, s).astype(np.float32) for s in ((3, 9), (9, 4)))
    model = quantizer("XnorPopcountMatMul", [weights], shape=["N", 9])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4]))
    agree = (x[:, :, None] == weights).sum(1)
    assert given(PASS, model, x).tolist() == agree.tolist()


def test_rows_of_unknown_size_take_that_of_the_columns() -> None:
    model = quantizer("XnorPopcountMatMul", [np.ones((4, 1), np.float32)], shape=["N", "K"])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1]))
    assert given(PASS, model, np.array([[1, 0, 1, 1]], np.float32)).tolist() == [[3]]
    vector = quantizer("XnorPopcountMatMul", [np.ones(4, np.float32)], shape=["N", 4])
    assert_refused(PASS, vector, "the second operand of rank 2")
