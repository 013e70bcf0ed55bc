"""narrow-quantized-to-float: 4 and 16 bits and float8 in floating point numbers."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass

PASS = "narrow-quantized-to-float"
X = np.array([[0, 0.25, -0.75, 1.3], [448, -1e6, 0.001, 7.26]], np.float32)
KINDS = ["INT4", "UINT4", "INT16", "UINT16", "FLOAT8E4M3FN", "FLOAT8E5M2"]


def array(values: Any, kind: str) -> Any:
    return np.asarray(values).astype(helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind)))


def model_of(nodes: list[onnx.NodeProto], constants: dict[str, Any]) -> onnx.ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "M"])
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def pair(kind: str, zero: int = 0) -> onnx.ModelProto:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    return model_of(nodes, {"s": np.array(0.5, np.float32), "z": array(zero, kind)})


def weights(kind: str, **attributes: Any) -> onnx.ModelProto:
    blocks = "block_size" in attributes
    scale = np.array([[0.5, 1, 2], [0.25, 1, 4]] if blocks else 0.25, np.float32)
    constants = {"w": array(np.arange(12).reshape(4, 3) % 8, kind), "s": scale}
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["d"], **attributes),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    return model_of(nodes, constants)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs(kind: str) -> None:
    done = assert_rewrite(PASS, pair(kind), feeds=[{"x": X}])
    assert not {"QuantizeLinear", "DequantizeLinear"} & set(done.ops)


@pytest.mark.parametrize(("kind", "zero"), [("UINT4", 7), ("INT4", -3), ("UINT16", 32768)])
def test_zero_points(kind: str, zero: int) -> None:
    assert_rewrite(PASS, pair(kind, zero), feeds=[{"x": X}])


@pytest.mark.parametrize("kind", ["FLOAT8E4M3FN", "FLOAT8E5M2"])
def test_every_number_of_float8_and_those_between(kind: str) -> None:
    of = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind))
    all_of_them = np.arange(256, dtype=np.uint8).view(of).astype(np.float32)
    numbers = np.sort(all_of_them[np.isfinite(all_of_them)])
    between = (numbers[1:] + numbers[:-1]) / 2
    x = np.concatenate([numbers, between, np.nextafter(between, np.float32(np.inf))]) / 2
    done = run_pass(PASS, pair(kind))
    x = np.concatenate([x, np.zeros(-x.size % 4, np.float32)]).reshape(-1, 4)
    limit = float(numbers[-1])
    wanted = np.clip(x / np.float32(0.5), -limit, limit).astype(of).astype(np.float32) * 0.5
    assert np.array_equal(outputs_of(done.after, {"x": x})["y"], wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_constants(kind: str) -> None:
    done = assert_rewrite(PASS, weights(kind), feeds=[{"x": X}])
    assert done.ops == ["MatMul"]


@pytest.mark.parametrize("kind", ["INT4", "UINT4", "INT16"])
def test_constants_by_blocks(kind: str) -> None:
    model = weights(kind, axis=0, block_size=2)
    assert_rewrite(PASS, model, feeds=[{"x": X}])


def test_refusals() -> None:
    floats = pair("FLOAT8E4M3FN")
    floats.graph.node[0].attribute.add(name="saturate", type=onnx.AttributeProto.INT, i=0)
    assert_refused(PASS, floats, "float8 must saturate; it does not")
    short = weights("INT4", axis=0, block_size=1)
    assert_refused(PASS, short, "there must be a scale for each block of 1")
