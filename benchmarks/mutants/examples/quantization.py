"""Quantization and onnxruntime's own operators."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example

_RNG = np.random.default_rng(8)
_MS = ("com.microsoft",)

EXAMPLES = (
    Example(
        "quantize-dequantize-to-clip",
        "g (T[N, 8] x) => (T[N, 8] y) <T s = {0.25}, int8 z = {3}>"
        " { q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "quantize-dequantize-to-clip",
        "g (T[N, 4, 8] x) => (T[N, 4, 8] y) <T[4] s = {0.25, 0.5, 0.125, 2}, "
        "uint8[4] z = {3, 0, 128, 7}>"
        " { q = QuantizeLinear <axis = 1> (x, s, z) y = DequantizeLinear <axis = 1> (q, s, z) }",
        sizes={"N": (30, 200)},
    ),
    Example(
        "quantize-dequantize-to-clip",
        "g (T[N, 8] x) => (T[N, 8] y) <T s = {0.25}, T r = {0.5}, uint8 z = {100}, uint8 w = {90}>"
        " { q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, r, w) }",
        sizes={"N": (30, 400)},
    ),
    Example(
        "quantize-dequantize-to-clip",
        "g (T[N, 4, 4] x) => (T[N, 4, 4] y) <T[4] s = {0.25, 0.5, 0.125, 2}, "
        "int8[4] z = {3, 0, -12, 7}>"
        " { q = QuantizeLinear <axis = -1> (x, s, z) y = DequantizeLinear <axis = -1> (q, s, z) }",
        sizes={"N": (30, 200)},
    ),
    Example(
        "dequantize-constant-to-float",
        "g (T[N, 5, 5] x) => (T[N, 5, 5] y) <T[5] s = {0.25, 0.5, 0.125, 2, 0.3}, "
        "uint8[5] z = {3, 0, 12, 7, 1}> { d = DequantizeLinear (w, s, z) y = Add (x, d) }",
        sizes={"N": (30, 200)},
        arrays={"w": _RNG.integers(0, 256, (5, 5)).astype(np.uint8)},
    ),
    Example(
        "fused-matmul-to-matmul",
        "g (T[8, 8, 8] a, T[8, 8, 8] b) => (T[8, 8, 8] y)"
        " { y = com.microsoft.FusedMatMul <transB = 1, alpha = 3.0> (a, b) }",
        imports=_MS,
        domains={"a": "mild", "b": "mild"},
    ),
    Example(
        "skip-layer-normalization-to-add",
        "g (T[8, 8, 8] x, T[8, 8, 8] s) => (T[8, 8, 8] y, T[8, 8, 8] t)"
        " { y, , , t = com.microsoft.SkipLayerNormalization (x, s, g, b) }",
        imports=_MS,
        arrays={"g": _RNG.uniform(0.5, 2, 8), "b": _RNG.standard_normal(8)},
    ),
    Example(
        "dequantize-constant-to-float",
        "g (T[N, 6, 5] x) => (T[N, 6, 5] y) <T[6] s = {0.25, 0.5, 0.125, 2, 0.3, 0.7}, "
        "int8[6] z = {3, 0, -12, 7, 1, 2}>"
        " { d = DequantizeLinear <axis = 0> (w, s, z) y = Add (x, d) }",
        sizes={"N": (30, 200)},
        arrays={"w": _RNG.integers(-128, 128, (6, 5)).astype(np.int8)},
    ),
    Example(
        "dequantize-constant-to-float",
        "g (T[N, 6, 5] x) => (T[N, 6, 5] y) <T s = {0.25}>"
        " { d = DequantizeLinear (w, s) y = Add (x, d) }",
        sizes={"N": (30, 200)},
        arrays={"w": _RNG.integers(0, 256, (6, 5)).astype(np.uint8)},
    ),
    Example(
        "fused-matmul-to-matmul",
        "g (T[N, 7, 5] a, T[N, 5, 6] b) => (T[N, 7, 6] y)"
        " { y = com.microsoft.FusedMatMul <alpha = 0.5> (a, b) }",
        imports=_MS,
        sizes={"N": (3, 40)},
        domains={"a": "mild", "b": "mild"},
    ),
    Example(
        "fused-matmul-to-matmul",
        "g (T[N, 5, 7] a, T[N, 6, 5] b) => (T[N, 7, 6] y)"
        " { y = com.microsoft.FusedMatMul <transA = 1, transB = 1> (a, b) }",
        imports=_MS,
        sizes={"N": (3, 40)},
        domains={"a": "mild", "b": "mild"},
    ),
    Example(
        "fused-matmul-to-matmul",
        "g (T[5, 5] a, T[5, N] b) => (T[5, N] y)"
        " { y = com.microsoft.FusedMatMul <transA = 1> (a, b) }",
        imports=_MS,
        sizes={"N": (30, 400)},
        domains={"a": "mild", "b": "mild"},
    ),
    Example(
        "skip-layer-normalization-to-add",
        "g (T[N, 7, 12] x, T[N, 7, 12] s) => (T[N, 7, 12] y)"
        " { y = com.microsoft.SkipLayerNormalization (x, s, g, b, o) }",
        imports=_MS,
        sizes={"N": (3, 30)},
        arrays={
            "g": _RNG.uniform(0.5, 2, 12),
            "b": _RNG.standard_normal(12),
            "o": _RNG.standard_normal(12),
        },
    ),
    Example(
        "skip-layer-normalization-to-add",
        "g (T[N, 7, 12] x, T[N, 7, 12] s) => (T[N, 7, 12] y)"
        " { y = com.microsoft.SkipLayerNormalization <epsilon = 0.5> (x, s, g) }",
        imports=_MS,
        opset=18,
        sizes={"N": (3, 30)},
        arrays={"g": _RNG.uniform(0.5, 2, 12)},
    ),
    Example(
        "fast-gelu-to-tanh",
        "g (T[N, 30] x) => (T[N, 30] y) { y = com.microsoft.FastGelu (x, b) }",
        imports=_MS,
        sizes={"N": (4, 200)},
        arrays={"b": _RNG.standard_normal(30)},
    ),
    Example(
        "fast-gelu-to-tanh",
        "g (T[N, 30] x) => (T[N, 30] y) { y = com.microsoft.FastGelu (x) }",
        imports=_MS,
        types=("float", "float16"),
        sizes={"N": (4, 200)},
    ),
)
