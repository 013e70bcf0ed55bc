"""Open dimensions that an operator takes with one of known size."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from graphfix.proving.inputs.known_sizes import contracted_sizes, known_sizes
from graphfix.proving.inputs.maker import FeedMaker

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
CASES: list[tuple[str, dict[str, int]]] = [
    ("(float[N, K] x, float[5, 7] w) => (float[N, 7] y) { y = MatMul (x, w) }", {"K": 5}),
    (
        "(float[N, K] x, float[7, 5] w) => (float[N, 7] y) { y = Gemm <transB = 1> (x, w) }",
        {"K": 5},
    ),
    (
        "(float[K, N] x, float[5, 7] w) => (float[N, 7] y) { y = Gemm <transA = 1> (x, w) }",
        {"K": 5},
    ),
    ("(float[3, 5] x, float[K, M] w) => (float[3, M] y) { y = MatMul (x, w) }", {"K": 5}),
    ("(float[5] x, float[B, K, M] w) => (float[B, M] y) { y = MatMul (x, w) }", {"K": 5}),
    ("(float[N, K] x, float[K] w) => (float[N] y) { y = MatMul (x, w) }", {}),
    ("(float[N, ?] x, float[5, 7] w) => (float[N, 7] y) { y = MatMul (x, w) }", {"x:1": 5}),
    (
        "(float[N, K] x, float[5, 7] w, float[6, 7] v) => (float[N, 7] y) "
        "{ a = MatMul (x, w)  b = MatMul (x, v)  y = Add (a, b) }",
        {},
    ),
    (
        "(float[N, C, H, W] x, float[8, 3, 4, 4] w) => (float[N, 8, P, Q] y) { y = Conv (x, w) }",
        {"C": 3},
    ),
    (
        "(float[N, ?, W] x, float[8, 2, 4] w) => (float[N, 8, Q] y) "
        "{ y = Conv <group = 2> (x, w) }",
        {"x:1": 4},
    ),
    (
        "(float[N, C, W] x, float[3, 5, 4] w) => (float[N, 5, Q] y) { y = ConvTranspose (x, w) }",
        {"C": 3},
    ),
    (
        "(float[N, C, W] x, float[6] s, float[6] b) => (float[N, C, W] y) "
        "{ z = Relu (x)  y = InstanceNormalization (z, s, b) }",
        {"C": 6},
    ),
    # Filters of unknown size demand nothing.
    ("(float[N, C, W] x, float[8, D, 4] w) => (float[N, 8, Q] y) { y = Conv (x, w) }", {}),
]


QUANTIZED = (
    '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[N, C, W] x, '
    "int16[8, 3, 1] w) => (float[] y) <float k = {0.5}, int16 z = {0}> "
    "{ q = com.microsoft.QuantizeLinear (x, k, z) d = com.microsoft.DequantizeLinear (q, k, z) "
    "v = com.microsoft.DequantizeLinear (w, k, z) y = Conv (d, v) }"
)


FUSED: list[tuple[str, dict[str, int]]] = [
    ("(float[N, C, W] x, float[8, 3, 1] w) => (float[] y) { y = %s.FusedConv (x, w) }", {"C": 3}),
    (
        "(float[N, C, W] x, float[8, 3, 1] w) => (float[] y) "
        "{ y = %s.FusedConv <group = 2> (x, w) }",
        {"C": 6},
    ),
    (
        "(float[N, K] x, float[7, 5] w) => (float[] y) { y = %s.FusedMatMul <transB = 1> (x, w) }",
        {"K": 5},
    ),
    (
        "(float[K, N] x, float[5, 7] w) => (float[] y) { y = %s.FusedGemm <transA = 1> (x, w) }",
        {"K": 5},
    ),
    (
        "(float[N, K] x, uint8[4, 1, 8] w, float[4] s) => (float[] y) { y = %s.MatMulNBits "
        "<K = 16, N = 4, bits = 4, block_size = 16> (x, w, s) }",
        {"K": 16},
    ),
    (
        "(float[N, K] x, uint8[5, 7] w, float s) => (float[] y) "
        "{ y = %s.DynamicQuantizeMatMul (x, w, s) }",
        {"K": 5},
    ),
    # Its batches may be the last axes but one, its channels the last axis.
    (
        "(float[B, K, N] x, float[5, 7] w) => (float[] y) "
        "{ y = %s.FusedMatMul <transBatchA = 1> (x, w) }",
        {},
    ),
    (
        "(uint8[N, W, C] x, float s, uint8 z, uint8[8, 3, 1] w) => (uint8[] y) "
        "{ y = %s.QLinearConv <channels_last = 1> (x, s, z, w, s, z, s, z) }",
        {},
    ),
    ("(float[N, C, W] x, float[8, 3, 1] w) => (float[] y) { y = other.FusedConv (x, w) }", {}),
]


@pytest.mark.parametrize(("text", "expected"), FUSED)
def test_fused_operators_of_onnxruntime(text: str, expected: dict[str, int]) -> None:
    head = HEAD.replace("17]", '17, "com.microsoft" : 1, "other" : 1]')
    model = parser.parse_model(head + text.replace("%s", "com.microsoft"))
    assert contracted_sizes(model.graph, known_sizes(model)) == expected


def test_quantizers_of_onnxruntime_keep_sizes() -> None:
    model = parser.parse_model(QUANTIZED)
    before = model.SerializeToString()
    shapes = known_sizes(model)
    assert contracted_sizes(model.graph, shapes) == {"C": 3}
    assert [shapes[name] for name in "qdv"] == [["N", "C", "W"], ["N", "C", "W"], [8, 3, 1]]
    assert model.SerializeToString() == before
    declared = model.graph.value_info.add(name="q")
    declared.type.tensor_type.elem_type = 5  # int16, as the zero point
    assert contracted_sizes(model.graph, known_sizes(model)) == {"C": 3}


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_sizes(text: str, expected: dict[str, int]) -> None:
    model = parser.parse_model(HEAD + text)
    assert contracted_sizes(model.graph, known_sizes(model)) == expected


@pytest.mark.parametrize("size", ["K", "?"])
def test_inputs_are_drawn_so(size: str) -> None:
    text = CASES[0][0].replace("K", size)
    maker = FeedMaker(parser.parse_model(HEAD + text))
    for attempt in range(maker.attempts()):
        assert np.shape(np.asarray(maker.draw(0, attempt)["x"]))[1] == 5
