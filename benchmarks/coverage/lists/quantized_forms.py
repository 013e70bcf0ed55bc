"""Forms of the quantized operators of ONNX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.coverage.lists.ml_forms import Form

Array = np.ndarray[Any, Any]
_KINDS = {
    "uint8": (0, 128, 255, 37), "int8": (0, -128, 5), "uint16": (0, 32768), "int16": (0,),
    "uint4": (0, 8), "int4": (0,), "float8_e4m3fn": (0,), "float8_e5m2": (0,),
}  # fmt: skip
_RNG = np.random.default_rng(7)
_X = (_RNG.normal(size=(2, 4)) * 3).astype(np.float32)


def quantized_forms() -> Iterator[Form]:
    """Yield all forms."""
    yield from _pairs()
    yield from _ends()
    yield from _integers()
    yield from _linear()


def _array(values: Any, kind: str) -> Array:
    return np.asarray(values).astype(
        helper.tensor_dtype_to_np_dtype(getattr(TensorProto, kind.replace("_", "").upper()))
    )


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[tuple[str, Array]],
    result: tuple[int, int],
    constants: dict[str, Array],
    opset: int = 0,
) -> onnx.ModelProto:
    """Return a model; `result` is the element type and rank of y."""
    kinds = {array.dtype.name for array in constants.values()}
    if not opset:
        narrow = kinds & {"uint4", "int4", "uint16", "int16"}
        opset = 21 if narrow else 19 if any(k.startswith("float8") for k in kinds) else 13
    ends = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in inputs
    ]
    y = helper.make_tensor_value_info("y", result[0], [f"d{axis}" for axis in range(result[1])])
    weights = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", ends, [y], weights)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10 if opset > 18 else 8)


def _pairs() -> Iterator[Form]:
    """QuantizeLinear and DequantizeLinear after one another, in front of an activation."""
    for kind, zeros in _KINDS.items():
        for zero in zeros:
            yield _pair(f"{kind} pair, zero point {zero}", 0.5, _array(zero, kind))
    scales = np.array([0.5, 0.25, 0.125, 1.0], np.float32)
    yield _pair("int8 pair by channel", scales, np.zeros(4, np.int8), axis=1)
    yield _pair("uint8 pair by channel", scales, np.array([0, 128, 7, 255], np.uint8), axis=1)


def _pair(form: str, scale: Any, zero: Array, **attributes: Any) -> Form:
    constants = {"s": np.asarray(scale, np.float32), "z": zero}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], **attributes),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], **attributes),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    model = _model(nodes, [("x", _X)], (TensorProto.FLOAT, 2), constants)
    return Form("QuantizeLinear", form, model, {"x": _X})


def _ends() -> Iterator[Form]:
    """Constants that are dequantized, numbers that are given or taken, and ranges found late."""
    for kind, zeros in _KINDS.items():
        weights = _array(_RNG.integers(0, 7, (4, 3)), kind)
        constants = {"w": weights, "s": np.array(0.25, np.float32), "z": _array(zeros[-1], kind)}
        nodes = [
            helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"]),
            helper.make_node("MatMul", ["x", "d"], ["y"]),
        ]
        model = _model(nodes, [("x", _X)], (TensorProto.FLOAT, 2), constants)
        yield Form("DequantizeLinear", f"constant {kind}", model, {"x": _X})
    for kind in ("int8", "uint4", "int4"):
        blocks = {
            "w": _array(_RNG.integers(0, 7, (4, 3)), kind),
            "s": np.array([[0.5, 1, 2], [0.25, 1, 4]], np.float32),
        }
        nodes = [
            helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=2),
            helper.make_node("MatMul", ["x", "d"], ["y"]),
        ]
        model = _model(nodes, [("x", _X)], (TensorProto.FLOAT, 2), blocks, 21)
        yield Form("DequantizeLinear", f"constant {kind} by blocks", model, {"x": _X})
    bias = {"b": np.array([100, -7, 3, 1 << 20], np.int32), "s": np.array(0.25, np.float32)}
    nodes = [
        helper.make_node("DequantizeLinear", ["b", "s"], ["d"]),
        helper.make_node("Add", ["x", "d"], ["y"]),
    ]
    model = _model(nodes, [("x", _X)], (TensorProto.FLOAT, 2), bias)
    yield Form("DequantizeLinear", "constant int32", model, {"x": _X})
    dynamic = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    model = _model(dynamic, [("x", _X)], (TensorProto.FLOAT, 2), {})
    yield Form("DynamicQuantizeLinear", "and back", model, {"x": _X})
    weights = _RNG.integers(-128, 128, (4, 3)).astype(np.int8)
    product = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "s"], ["y"]),
    ]
    model = _model(product, [("x", _X)], (TensorProto.FLOAT, 2), {"w": weights})
    yield Form("DynamicQuantizeLinear", "before MatMulInteger", model, {"x": _X})


def _bytes(*shape: int) -> Array:
    return _RNG.integers(0, 256, shape).astype(np.uint8)


def _integers() -> Iterator[Form]:
    """Sums of integers after a cast, as onnxruntime's dynamic quantization has them."""
    for op, count, weights in (
        ("MatMulInteger", 64, (64, 3)), ("MatMulInteger", 1000, (1000, 3)),
        ("MatMulInteger", 9000, (9000, 2)), ("ConvInteger", 4, (3, 4, 3, 3)),
        ("ConvInteger", 64, (3, 64, 3, 3)),
    ):  # fmt: skip
        rows = (2, count) if op == "MatMulInteger" else (1, count, 5, 5)
        constants = {"w": _bytes(*weights), "a": _bytes(1)[0], "b": _bytes(1)[0]}
        constants = {name: np.asarray(value) for name, value in constants.items()}
        nodes = [
            helper.make_node("Cast", ["x"], ["q"], to=TensorProto.UINT8),
            helper.make_node(op, ["q", "w", "a", "b"], ["i"]),
            helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT),
        ]
        x = np.floor(_bytes(*rows).astype(np.float32))
        model = _model(nodes, [("x", x)], (TensorProto.FLOAT, len(rows)), constants)
        yield Form(op, f"sums of {int(np.prod(weights)) // weights[-1 if op[0] == 'M' else 0]}",
                   model, {"x": x})  # fmt: skip


def _linear() -> Iterator[Form]:
    """QLinearConv and QLinearMatMul between QuantizeLinear and DequantizeLinear."""
    for kind, zero in (("uint8", 128), ("uint8", 3), ("int8", 0)):
        for channels, by_channel in ((4, False), (4, True), (64, False)):
            yield _linear_one("QLinearConv", kind, zero, channels, by_channel)
        for count in (64, 1000):
            yield _linear_one("QLinearMatMul", kind, zero, count, False)


def _linear_one(op: str, kind: str, zero: int, count: int, by_channel: bool) -> Form:
    conv = op == "QLinearConv"
    rows, shape = ((1, count, 5, 5), (3, count, 3, 3)) if conv else ((2, count), (count, 3))
    scale = np.full(3, 0.02, np.float32) if by_channel else np.array(0.02, np.float32)
    constants = {
        "xs": np.array(0.05, np.float32), "xz": _array(zero, kind),
        "w": _RNG.integers(-128, 128, shape).astype(np.int8), "ws": scale,
        "wz": np.zeros(scale.shape, np.int8),
        "ys": np.array(0.5, np.float32), "yz": _array(zero, kind),
    }  # fmt: skip
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        helper.make_node(op, ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["r"]),
        helper.make_node("DequantizeLinear", ["r", "ys", "yz"], ["y"]),
    ]
    x = (_RNG.normal(size=rows) * 3).astype(np.float32)
    model = _model(nodes, [("x", x)], (TensorProto.FLOAT, len(rows)), constants)
    form = f"{kind}, zero point {zero}, {count} {'channels' if conv else 'products'}"
    return Form(op, form + (" by channel" if by_channel else ""), model, {"x": x})
