"""Which operators of com.microsoft an engine takes: a model of each, the most usual first."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx import helper

from graphfix.learning.constants import Asked, computed
from graphfix.learning.limits import Limits
from graphfix.learning.questions import Entry, Factors, drawn
from graphfix.learning.record import Record
from graphfix.learning.verdicts import EQUAL

DOMAIN = "com.microsoft"
_OPSET = 17
_QUANTIZED = "float s = {0.1}, uint8 z = {3}"
MODELS: dict[str, str] = {
    "FusedMatMul": "(float[2,3] x) <float[4,3] w> { y = OP <transB = 1> (x, w) }",
    "Gelu": "(float[2,4] x) { y = OP (x) }",
    "BiasGelu": "(float[2,4] x) <float[4] b> { y = OP (x, b) }",
    "FastGelu": "(float[2,4] x) <float[4] b> { y = OP (x, b) }",
    "QuickGelu": "(float[2,4] x) { y = OP (x) }",
    "SkipLayerNormalization": (
        "(float[1,2,4] x, float[1,2,4] r) <float[4] g, float[4] b> { y = OP (x, r, g, b) }"
    ),
    "SkipSimplifiedLayerNormalization": (
        "(float[1,2,4] x, float[1,2,4] r) <float[4] g> { y = OP (x, r, g) }"
    ),
    "Attention": (
        "(float[1,3,4] x) <float[4,12] w, float[12] b> { y = OP <num_heads = 2> (x, w, b) }"
    ),
    "MultiHeadAttention": (
        "(float[1,3,4] q, float[1,3,4] k, float[1,3,4] v)"
        " { y = OP <num_heads = 2> (q, k, v) }"
    ),
    "EmbedLayerNormalization": (
        "(int32[1,2] i) <int32[1,2] t = {0, 1}, float[5,4] w, float[3,4] p,"
        " float[2,4] e, float[4] g, float[4] b> { y, m = OP (i, t, w, p, e, g, b) }"
    ),
    "RotaryEmbedding": (
        "(float[1,2,3,4] x) <int64[1] p = {0}, float[5,2] c, float[5,2] s>"
        " { y = OP (x, p, c, s) }"
    ),
    "FusedConv": (
        '(float[1,2,4,4] x) <float[3,2,3,3] w, float[3] b> { y = OP <activation = "Relu">'
        " (x, w, b) }"
    ),
    "QLinearAdd": (
        f"(uint8[2,3] x, uint8[2,3] w) <{_QUANTIZED}>"
        " { y = OP (x, s, z, w, s, z, s, z) }"
    ),
    "QLinearMul": (
        f"(uint8[2,3] x, uint8[2,3] w) <{_QUANTIZED}>"
        " { y = OP (x, s, z, w, s, z, s, z) }"
    ),
    "QLinearSigmoid": f"(uint8[2,3] x) <{_QUANTIZED}> {{ y = OP (x, s, z, s, z) }}",
    "QLinearLeakyRelu": f"(uint8[2,3] x) <{_QUANTIZED}> {{ y = OP (x, s, z, s, z) }}",
    "QLinearGlobalAveragePool": (
        f"(uint8[1,2,3,3] x) <{_QUANTIZED}> {{ y = OP (x, s, z, s, z) }}"
    ),
    "QLinearConcat": (
        f"(uint8[2,3] x, uint8[2,3] w) <{_QUANTIZED}>"
        " { y = OP <axis = 1> (s, z, x, s, z, w, s, z) }"
    ),
    "DynamicQuantizeMatMul": (
        f"(float[2,3] x) <uint8[3,2] w, {_QUANTIZED}> {{ y = OP (x, w, s, z) }}"
    ),
    "MatMulIntegerToFloat": (
        f"(uint8[2,3] x) <uint8[3,2] w, {_QUANTIZED}> {{ y = OP (x, w, s, s, z, z) }}"
    ),
    "Inverse": "(float[2,2] x) { y = OP (x) }",
}  # fmt: skip


def asked_about(op: str, ir: int = 8) -> Asked:
    """Return a model of an operator, what it is given, and what onnxruntime computes.

    Args:
        op: A key of `MODELS`.
        ir: The IR version of the model.
    """
    entry = Entry(op, (MODELS[op].replace(" OP ", f" {DOMAIN}.{op} "),), opset=_OPSET)
    model, feed = drawn(entry, Factors(), [DOMAIN])
    model.ir_version = ir
    for info in model.graph.output:
        info.ClearField("type")
    expected = computed(model, feed)
    for info in model.graph.output:
        array = expected[info.name]
        elem = helper.np_dtype_to_tensor_dtype(array.dtype)
        info.CopyFrom(helper.make_tensor_value_info(info.name, elem, list(array.shape)))
    return model, feed, expected


def contrib_operators(record: Record, limits: Limits) -> None:
    """Ask about them, where the engine has their opset."""
    lowest, highest = limits.opsets
    if not lowest <= _OPSET <= highest:
        return
    for op in MODELS:
        record.of_model(f"{DOMAIN} {op}", partial(asked_about, op, min(8, limits.ir or 8)))


def taken(record: Record) -> Iterator[str]:
    """Yield the operators that are taken and computed rightly."""
    for op in MODELS:
        row = record.rows.get(record.named(f"{DOMAIN} {op}"))
        if row is not None and row.verdict == EQUAL:
            yield op
