"""channels-last-to-transpose: images whose channels are last."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from graphfix.testing import outputs_of, run_pass
from tests.passes.brevitas_models import GENERAL, quantizer

DOMAIN = "qonnx.custom_op.channels_last"

PASS = "channels-last-to-transpose"


def test_a_convolution() -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(2, 3, 2, 2)).astype(np.float32)
    model = quantizer("Conv", [weights], domain=DOMAIN, shape=[1, 4, 5, 3], pads=[0, 1, 0, 1])
    model.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 6, 2])
    )
    done = run_pass(PASS, model)
    assert done.ops == ["Transpose", "Conv", "Transpose"]
    x = rng.normal(size=(1, 4, 5, 3)).astype(np.float32)
    y = outputs_of(done.after, {"x": x})["y"]
    padded = np.pad(x, np.array([(0, 0), (0, 0), (1, 1), (0, 0)]))
    window = padded[0, 1:3, 2:4]  # rows 1 and 2, columns 2 and 3
    wanted = np.einsum("hwc,ochw->o", window, weights)
    np.testing.assert_allclose(y[0, 1, 2], wanted, rtol=1e-5)


@pytest.mark.parametrize("op", ["MaxPool", "MaxPoolNHWC"])
def test_a_pool_of_lines(op: str) -> None:
    domain = DOMAIN if op == "MaxPool" else GENERAL
    model = quantizer(op, [], domain=domain, shape=[1, 4, 2], kernel_shape=[2])
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 2]))
    done = run_pass(PASS, model)
    x = np.array([[[1, -1], [3, -4], [2, 0], [0, 5]]], np.float32)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == [[[3, -1], [3, 0], [2, 5]]]
