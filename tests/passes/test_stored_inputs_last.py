"""stored-inputs-last: the order of inputs of which some are stored."""

import numpy as np
import pytest
from onnx import ModelProto, helper, parser

from graphfix.testing import assert_rewrite

PASS = "stored-inputs-last"
X = np.array([[1, -2]], np.float32)


def _model(order: str, ir: int) -> ModelProto:
    model = parser.parse_model(
        f'<ir_version: {ir}, opset_import: ["" : 9]> g (float[1,2] x, float[2] z) => (float[1,2] y)'
        " <float[2] w = {1.5, 2.5}, float[2] b = {3.0, 4.0}> "
        "{ m = Mul (x, w) a = Add (m, b) y = Add (a, z) }"
    )
    infos = {info.name: info for info in model.graph.input}
    for tensor in model.graph.initializer:
        dims = list(tensor.dims)
        infos[tensor.name] = helper.make_tensor_value_info(tensor.name, tensor.data_type, dims)
    del model.graph.input[:]
    model.graph.input.extend(infos[name] for name in order)
    return model


@pytest.mark.parametrize("ir", [3, 8])
@pytest.mark.parametrize("order", ["wbxz", "wxbz", "xwzb"])
def test_the_order(order: str, ir: int) -> None:
    feed = {"x": X, "z": np.array([5, 6], np.float32)}
    done = assert_rewrite(PASS, _model(order, ir), feeds=[feed], rtol=0, atol=0)
    stored = [name for name in order if name in "wb"]
    assert [info.name for info in done.after.graph.input] == ["x", "z", *stored]
