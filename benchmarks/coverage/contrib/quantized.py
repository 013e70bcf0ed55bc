"""Quantized operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Array, Const, Form, const, real, whole

_KINDS = {"uint8": np.uint8, "int8": np.int8}
_MEAN = [0.5, 0.04, 0.02]


def forms() -> Iterator[Form]:
    """Yield the forms."""
    for name, kind in _KINDS.items():
        yield from _elementwise(name, kind)
        yield from _pools(name, kind)
    yield from _products()
    yield from _linear()
    yield from _sums()
    yield from _foreign()


def _bytes(kind: Any, *shape: int, seed: int = 0) -> Array:
    low, high = (0, 256) if kind == np.uint8 else (-128, 128)
    return whole(low, high, *shape, seed=seed, dtype=kind)


def _zero(kind: Any) -> Const:
    return const(np.array(118 if kind == np.uint8 else -7, kind))


def _scale(number: float) -> Const:
    return const(np.float32(number))


def _elementwise(name: str, kind: Any) -> Iterator[Form]:
    x, y = _bytes(kind, 2, 3, 8), _bytes(kind, 2, 3, 8, seed=1)
    zero, out = _zero(kind), [kind]
    for operator in ("QLinearAdd", "QLinearMul"):
        tail = [_scale(0.05), zero]
        own = [x, _scale(0.02), zero, y, _scale(0.03), zero, *tail]
        yield Form(operator, name, own, out)
        yield Form(operator, f"{name}-open", own, out, free=(0, 1))
        row = [x, _scale(0.02), zero, const(_bytes(kind, 8, seed=1)), _scale(0.03), zero, *tail]
        yield Form(operator, f"{name}-row", row, out)
    for operator in ("QLinearSigmoid", "QLinearLeakyRelu"):
        sigmoid = operator == "QLinearSigmoid"
        attributes = {} if sigmoid else {"alpha": 0.1}
        own = [x, _scale(0.04), zero, _scale(1 / 256 if sigmoid else 0.05), zero]
        yield Form(operator, name, own, out, attributes)
        yield Form(operator, f"{name}-open", own, out, attributes, (0, 1))
    soft = [
        x,
        _scale(0.04),
        zero,
        _scale(1 / 256),
        const(np.array(0 if kind == np.uint8 else -128, kind)),
    ]
    yield Form("QLinearSoftmax", name, soft, out, {"opset": 13, "axis": -1})
    yield Form("QLinearSoftmax", f"{name}-axis1", soft, out, {"opset": 13, "axis": 1})
    yield Form("QLinearSoftmax", f"{name}-old", soft, out, {"opset": 11, "axis": 2})
    yield Form("QLinearSoftmax", f"{name}-old-several", soft, out, {"opset": 11, "axis": 1})
    parts = [_scale(0.05), zero, x, _scale(0.05), zero, y, _scale(0.03), zero]
    yield Form("QLinearConcat", name, parts, out, {"axis": 1})
    yield Form("QLinearConcat", f"{name}-open", parts, out, {"axis": 1}, (0,))
    condition = whole(0, 2, 2, 3, 8, dtype=np.bool_)
    chosen = [condition, x, _scale(0.05), zero, y, _scale(0.03), zero, _scale(0.04), zero]
    yield Form("QLinearWhere", name, chosen, out)


def _pools(name: str, kind: Any) -> Iterator[Form]:
    image, zero, out = _bytes(kind, 2, 4, 7, 6), _zero(kind), [kind]
    tail = [_scale(0.04), zero, _scale(0.03), zero]
    for last in (0, 1):
        end = f"{name}{'-last' if last else ''}"
        x = np.ascontiguousarray(image.transpose(0, 2, 3, 1)) if last else image
        kernel = {"kernel_shape": [3, 2], "strides": [2, 2], "channels_last": last}
        yield Form("QLinearGlobalAveragePool", end, [x, *tail], out, {"channels_last": last})
        yield Form("QLinearAveragePool", end, [x, *tail], out, kernel)
        padded = {**kernel, "pads": [1, 0, 1, 1], "count_include_pad": 1}
        yield Form("QLinearAveragePool", f"{end}-pads", [x, *tail], out, padded)
        weights = whole(-127, 128, 6, 4, 3, 3, seed=1, dtype=np.int8)
        w = [const(weights), _scale(0.01), const(np.int8(0))]
        bias = const(whole(-900, 900, 6, seed=2, dtype=np.int32))
        inputs = [x, _scale(0.04), zero, *w, _scale(0.3), zero, bias]
        attributes: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
        attributes["channels_last"] = last
        yield Form("QLinearConv", end, inputs, out, attributes)
        yield Form("QLinearConv", f"{end}-open", inputs, out, attributes, (0,))
    mean = {"axes": [2, 3], "keepdims": 1}
    yield Form("QLinearReduceMean", name, [image, *tail], out, mean)
    yield Form("QLinearReduceMean", f"{name}-no-keep", [image, *tail], out, {**mean, "keepdims": 0})
    yield Form(
        "ReduceSumInteger", name, [image], [np.int32 if kind == np.int8 else np.uint32], mean
    )
    other = _bytes(kind, 2, 4, 7, 6, seed=1)
    yield Form("MulInteger", name, [image, zero, other, zero], [np.int32])


def _products() -> Iterator[Form]:
    a, b = _bytes(np.uint8, 3, 8), const(_bytes(np.int8, 8, 5, seed=1))
    zero, none = _zero(np.uint8), const(np.int8(0))
    by_column = const(np.linspace(0.01, 0.03, 5).astype(np.float32))
    for name, scale, zeros in (
        ("tensor", _scale(0.02), none),
        ("columns", by_column, const(np.zeros(5, np.int8))),
    ):
        own = [a, _scale(0.04), zero, b, scale, zeros]
        bias = const(whole(-900, 900, 5, seed=2, dtype=np.int32))
        tail = [_scale(0.4), zero]
        yield Form("QGemm", name, [*own, None, *tail], [np.uint8])
        yield Form("QGemm", f"{name}-bias", [*own, bias, *tail], [np.uint8], {"alpha": 0.5})
        yield Form("QGemm", f"{name}-float", [*own, bias])
        yield Form("QGemm", f"{name}-open", [*own, bias, *tail], [np.uint8], free=(0,))
        real_bias = const(real(5, seed=3))
        mixed = [a, b, _scale(0.04), scale, zero, zeros]
        yield Form("MatMulIntegerToFloat", name, mixed)
        yield Form("MatMulIntegerToFloat", f"{name}-bias", [*mixed, real_bias])
        x = real(3, 8)
        yield Form("DynamicQuantizeMatMul", name, [x, b, scale, zeros])
        yield Form("DynamicQuantizeMatMul", f"{name}-bias", [x, b, scale, zeros, real_bias])
        yield Form("DynamicQuantizeMatMul", f"{name}-open", [x, b, scale, zeros], free=(0,))
    turned = [
        _bytes(np.uint8, 8, 3),
        _scale(0.04),
        zero,
        const(_bytes(np.int8, 5, 8)),
        _scale(0.02),
        none,
    ]
    tail = [_scale(0.4), zero]
    yield Form(
        "QGemm", "transposed", [*turned, None, *tail], [np.uint8], {"transA": 1, "transB": 1}
    )
    late = [
        a,
        _bytes(np.uint8, 8, 5, seed=4),
        np.array([0.04], np.float32),
        np.array([0.02], np.float32),
    ]
    yield Form("MatMulIntegerToFloat", "late", late)


def _linear() -> Iterator[Form]:
    x = real(2, 3, 8)
    for name, kind in {**_KINDS, "uint16": np.uint16, "int16": np.int16}.items():
        zero = const(np.array(5, kind))
        steps = whole(0, 100, 2, 3, 8, dtype=kind)
        yield Form("QuantizeLinear", name, [x, _scale(0.02), zero], [kind])
        yield Form("DequantizeLinear", name, [steps, _scale(0.02), zero])
        rows = [const(np.array([0.1, 0.2, 0.3], np.float32)), const(np.array([1, 2, 3], kind))]
        yield Form("QuantizeLinear", f"{name}-axis", [x, *rows], [kind], {"axis": 1})
        yield Form("DequantizeLinear", f"{name}-axis", [steps, *rows], attributes={"axis": 1})
    yield Form("QuantizeLinear", "no-zero", [x, _scale(0.02)], [np.uint8])
    yield Form("DequantizeLinear", "int32", [whole(-900, 900, 2, 3, dtype=np.int32), _scale(0.02)])


def _sums() -> Iterator[Form]:
    weights = [const(whole(-127, 128, 1, 8, 16, seed=at, dtype=np.int8)) for at in (1, 2)]
    scales = [const(np.full(1, 0.01, np.float32)), const(np.zeros(1, np.int8))]
    weights[1] = const(whole(-127, 128, 1, 4, 16, seed=2, dtype=np.int8))
    bias = const(real(1, 32, seed=3))
    inputs = [real(5, 2, 8), *weights, bias, None, None, None, None, *scales, *scales]
    yield Form(
        "DynamicQuantizeLSTM",
        "forward",
        inputs,
        [np.float32, np.float32, np.float32],
        {"hidden_size": 4},
    )


def _foreign() -> Iterator[Form]:
    scale, data = _scale(0.1), whole(-100, 100, 1, 4, 32, dtype=np.int8)
    orders = {"order_input": 1, "order_output": 1}
    yield Form("QuantizeWithOrder", "row", [real(1, 4, 32), scale], [np.int8], orders, runs=False)
    yield Form(
        "DequantizeWithOrder", "row", [data, scale], [np.float32], {**orders, "to": 1}, runs=False
    )
    layout = {"order_X": 1, "order_Y": 1}
    yield Form("QOrderedGelu", "row", [data, scale, _scale(0.05)], [np.int8], layout, runs=False)
    gamma = [const(real(32, seed=1)), const(real(32, seed=2))]
    inputs = [data, scale, *gamma, _scale(0.05)]
    yield Form("QOrderedLayerNormalization", "row", inputs, [np.int8], layout, runs=False)
    product = [data, scale, const(whole(-100, 100, 32, 8, dtype=np.int8)), scale, _scale(0.5)]
    orders = {"order_A": 1, "order_B": 0, "order_Y": 1}
    yield Form("QOrderedMatMul", "plain", product, [np.int8], orders, runs=False)
    plain = {"order_input": 1, "order_weight": 0, "order_output": 1}
    several = [data, *[scale] * 19]
    yield Form(
        "QOrderedAttention", "plain", several, [np.int8], {**plain, "num_heads": 4}, runs=False
    )
    more = {**plain, "order_global_weight": 0, "num_heads": 4, "window": 2}
    yield Form("QOrderedLongformerAttention", "plain", several[:14], [np.int8], more, runs=False)
    blocks = const(np.zeros(64, np.uint8))
    sizes = [const(np.array([2, 16])), const(np.array([16, 1]))]
    yield Form(
        "QuantizeBFP",
        "plain",
        [real(2, 16)],
        [np.uint8, np.int64, np.int64],
        {"bfp_type": 0},
        runs=False,
    )
    yield Form("DequantizeBFP", "plain", [blocks, *sizes], attributes={"bfp_type": 0}, runs=False)
