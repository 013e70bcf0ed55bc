"""Windows of pools that begin after the input are not counted, at whatever opset."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, parser

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.api import run
from graphfix.testing import outputs_of


def model(op: str, opset: int, more: str, size: int, then: str = "Relu") -> ModelProto:
    text = (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[1,1,{size}] x) => (float[A,B,C] y)'
        f" {{ t = {op} <ceil_mode = 1, {more}> (x) y = {then} (t) }}"
    )
    return parser.parse_model(text)


def inferred(proto: ModelProto) -> list[int]:
    (found,) = [i for i in infer_shapes(proto).graph.value_info if i.name == "t"]
    return [dim.dim_value for dim in found.type.tensor_type.shape.dim]


@pytest.mark.parametrize("op", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize("opset", [18, 22])
@given(
    size=st.integers(2, 12),
    kernel=st.integers(1, 4),
    step=st.integers(1, 5),
    begin=st.integers(0, 2),
    end=st.integers(0, 3),
)
def test_sizes_are_those_that_onnxruntime_computes(
    op: str, opset: int, size: int, kernel: int, step: int, begin: int, end: int
) -> None:
    begin, end = min(begin, kernel - 1), min(end, kernel - 1)
    if size + begin + end < kernel:
        return
    proto = model(
        op, opset, f"kernel_shape = [{kernel}], strides = [{step}], pads = [{begin}, {end}]", size
    )
    result = outputs_of(proto, {"x": np.ones((1, 1, size), np.float32)})["y"]
    assert inferred(proto) == list(np.shape(result))


def test_one_pool_after_the_other() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> g (float[1,1,23,23] x) => (float[A,B,C,D] y) {'
        " t = MaxPool <kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1],"
        " ceil_mode = 1> (x) u = AveragePool <kernel_shape = [2, 2], strides = [3, 3],"
        " pads = [0, 0, 1, 1], ceil_mode = 1> (t) y = Relu (u) }"
    )
    shapes = {
        info.name: [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        for info in infer_shapes(parser.parse_model(text)).graph.value_info
    }
    assert shapes == {"t": [1, 1, 12, 12], "u": [1, 1, 4, 4]}


def test_nodes_keep_their_attributes() -> None:
    proto = model("MaxPool", 13, "kernel_shape = [2], strides = [2], pads = [1, 1]", 23)
    assert infer_shapes(proto).graph.node[0] == proto.graph.node[0]


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize("last", [True, False])
def test_tensorrt_is_given_no_window_too_many(op: str, last: bool) -> None:
    """TensorRT counts a window that begins in the padding; the file declares it, too."""
    proto = model(op, 16, "kernel_shape = [2], strides = [2], pads = [1, 1]", 23)
    if last:
        del proto.graph.node[1]
        proto.graph.node[0].output[0] = "y"
    for dim, size in zip(proto.graph.output[0].type.tensor_type.shape.dim, (1, 1, 13), strict=True):
        dim.dim_value = size
    result = run(proto, "trt8.6", verify="full")
    assert result.exit_code == 0
    assert f"form:{op}.ceil_mode" in {f.feature for f in result.report.findings_before}
    feed = {"x": np.linspace(-1, 1, 23, dtype=np.float32).reshape(1, 1, 23)}
    assert result.model is not None
    after, before = (outputs_of(m, feed)["y"] for m in (result.model.to_proto(), proto))
    assert np.shape(after) == (1, 1, 12)
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-7)
