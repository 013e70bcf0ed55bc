"""What is called fixed holds no int8 constant that something else than DequantizeLinear reads."""

from __future__ import annotations

import pytest
from onnx import GraphProto, TensorProto

import graphfix
from graphfix.testing import parse

W = "int8[3,2] w = {1, -2, 3, 4, -5, 6}"
MODELS: dict[str, tuple[str, set[str]]] = {
    "matmul": (
        f"(int8[2,3] a) => (int32[2,2] y) <{W}> {{ y = MatMulInteger (a, w) }}",
        {"trt10.10", "trt11.1", "trt8.6"},
    ),
    "matmul of dynamically quantized": (
        f"(float[2,3] x) => (float[2,2] y) <{W}> {{ q, s, z = DynamicQuantizeLinear (x) "
        "p = MatMulInteger (q, w, z) f = Cast <to = 1> (p) y = Mul (f, s) }",
        {"trt10.10", "trt11.1", "trt8.6"},
    ),
    "conv": (
        "(uint8[1,1,3,3] a) => (int32[1,1,2,2] y) <int8[1,1,2,2] w = {1, -2, 3, 4}> "
        "{ y = ConvInteger (a, w) }",
        {"trt10.10", "trt11.1", "trt8.6"},
    ),
    "table of bytes": (
        f"(float[2,2] x, int64[2] i) => (float[2,2] y) <{W}, float s = {{0.5}}, int8 z = {{0}}> "
        "{ r = Gather (w, i) d = DequantizeLinear (r, s, z) y = Add (x, d) }",
        {"trt10.10", "trt11.1", "trt8.6"},
    ),
    "transposed weights": (
        f"(float[2,3] x) => (float[2,3] y) <{W}, float s = {{0.5}}, int8 z = {{0}}> "
        "{ t = Transpose (w) d = DequantizeLinear (t, s, z) y = Add (x, d) }",
        {"trt10.10", "trt11.1", "trt8.6"},
    ),
}


def read_differently(graph: GraphProto) -> list[str]:
    """Return the operators that read an int8 constant and are not DequantizeLinear."""
    constants = {
        tensor.name for tensor in graph.initializer if tensor.data_type == TensorProto.INT8
    }
    constants |= {
        node.output[0]
        for node in graph.node
        for attribute in node.attribute
        if node.op_type == "Constant" and attribute.t.data_type == TensorProto.INT8
    }
    quantizing = ("QuantizeLinear", "DequantizeLinear")
    return [
        node.op_type
        for node in graph.node
        if node.op_type not in quantizing and constants & set(node.input)
    ] + [info.name for info in graph.output if info.name in constants]


@pytest.mark.parametrize("target", ["trt8.6", "trt10.10", "trt11.1"])
@pytest.mark.parametrize("name", MODELS)
def test_no_int8_constant_is_left_in_what_is_fixed(name: str, target: str) -> None:
    text, fixed = MODELS[name]
    result = graphfix.run(parse(f'<ir_version: 8, opset_import: ["": 17]> g {text}'), target)
    assert (result.exit_code == 0) == (target in fixed)
    if result.exit_code == 0:
        assert read_differently(result.model.to_proto().graph) == []
