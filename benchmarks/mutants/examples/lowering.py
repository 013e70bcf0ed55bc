"""Operators that older engines lack."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example

_RNG = np.random.default_rng(5)
_NORM = "layer-normalization-to-arithmetic"
_FLOATS = ("float", "float16")

EXAMPLES = (
    Example(
        _NORM,
        "g (T[N, 7, 12] x) => (T[N, 7, 12] y) { y = LayerNormalization <axis = -1> (x, s, b) }",
        types=_FLOATS,
        sizes={"N": (3, 40)},
        arrays={"s": _RNG.uniform(0.5, 2, 12), "b": _RNG.standard_normal(12)},
    ),
    Example(
        _NORM,
        "g (T[N, 5, 6] x) => (T[N, 5, 6] y, T[N, 1, 1] m, T[N, 1, 1] r)"
        " { y, m, r = LayerNormalization <axis = 1, epsilon = 0.1> (x, s) }",
        sizes={"N": (4, 90)},
        arrays={"s": _RNG.uniform(0.5, 2, (5, 6))},
    ),
    Example(
        _NORM,
        "g (T[N, 5, 6] x) => (T[N, 5, 6] y) { y = LayerNormalization <axis = -2> (x, s, b) }",
        opset=18,
        types=_FLOATS,
        sizes={"N": (4, 90)},
        arrays={"s": _RNG.uniform(0.5, 2, (5, 6)), "b": _RNG.standard_normal(6)},
    ),
    Example(
        _NORM,
        "g (T[8, 8, 8] x) => (T[8, 8, 8] y) { y = LayerNormalization "
        "<axis = 2, epsilon = 0.5> (x, s) }",
        arrays={"s": _RNG.uniform(0.5, 2, 8)},
    ),
    Example(
        "dft-to-matmul",
        "g (T[8, 8, 8, 2] x) => (T[8, 8, 8, 2] y) { y = DFT <axis = 1> (x) }",
    ),
    Example(
        "dft-to-matmul",
        "g (T[8, 8, 8, 2] x) => (T[8, 8, 8, 2] y) { y = DFT <axis = -2, inverse = 1> (x) }",
    ),
    Example(
        "max-unpool-to-scatter",
        "g (T[1, 2, 8, 8] x, int64[1, 2, 8, 8] i) => (T[1, 2, 16, 16] y)"
        " { y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i) }",
        domains={"i": "places 512"},
    ),
    Example(
        "col2im-to-conv-transpose",
        "g (T[N, 8, 16] x) => (T[N, 2, 8, 8] y) <int64[2] size = {8, 8}, int64[2] block = {2, 2}>"
        " { y = Col2Im <strides = [2, 2]> (x, size, block) }",
        opset=18,
        sizes={"N": (3, 40)},
    ),
    Example(
        "stft-to-conv",
        "g (T[N, 64, 1] x) => (T[N, F, 5, 2] y) <int64 s = {8}, int64 n = {8}>"
        " { y = STFT (x, s, , n) }",
        sizes={"N": (3, 60)},
    ),
    Example(
        "celu-to-elu",
        "g (T[N, 30] x) => (T[N, 30] y) { y = Celu <alpha = 2.0> (x) }",
        sizes={"N": (4, 200)},
    ),
    Example(
        "celu-to-elu",
        "g (T[N, 30] x) => (T[N, 30] y) { y = Celu (x) }",
        sizes={"N": (4, 200)},
    ),
    Example(
        "hardswish-to-hardsigmoid",
        "g (T[N, 30] x) => (T[N, 30] y) { y = HardSwish (x) }",
        types=_FLOATS,
        sizes={"N": (4, 200)},
    ),
    Example(
        "mish-to-softplus",
        "g (T[N, 30] x) => (T[N, 30] y) { y = Mish (x) }",
        opset=18,
        sizes={"N": (4, 200)},
    ),
    Example(
        "dft-to-matmul",
        "g (T[N, 20, 1] x) => (T[N, 20, 2] y) { y = DFT <axis = 1> (x) }",
        types=("float", "double"),
        sizes={"N": (3, 90)},
    ),
    Example(
        "dft-to-matmul",
        "g (T[N, 20, 3, 2] x) => (T[N, M, 3, 2] y) <int64 n = {12}>"
        " { y = DFT <axis = 1, inverse = 1> (x, n) }",
        sizes={"N": (3, 40)},
    ),
    Example(
        "dft-to-matmul",
        "g (T[N, 9, 1] x) => (T[N, 5, 2] y) <int64 k = {1}> { y = DFT <onesided = 1> (x, , k) }",
        opset=20,
        sizes={"N": (3, 90)},
    ),
    Example(
        "stft-to-conv",
        "g (T[N, 50, 1] x) => (T[N, F, 5, 2] y) <int64 s = {3}, float[8] w = "
        "{0.1, 0.4, 0.8, 1.0, 0.9, 0.8, 0.4, 0.2}> { y = STFT (x, s, w) }",
        sizes={"N": (3, 60)},
    ),
    Example(
        "stft-to-conv",
        "g (T[N, 50, 2] x) => (T[N, F, 6, 2] y) <int64 s = {4}, int64 n = {6}>"
        " { y = STFT <onesided = 0> (x, s, , n) }",
        sizes={"N": (3, 60)},
    ),
    Example(
        "max-unpool-to-scatter",
        "g (T[2, 3, 8, 10] x, int64[2, 3, 8, 10] i) => (T[2, 3, 17, 20] y)"
        " { y = MaxUnpool <kernel_shape = [3, 2], strides = [2, 2]> (x, i) }",
        domains={"i": "places 2040"},
    ),
    Example(
        "max-unpool-to-scatter",
        "g (T[1, 2, 40] x, int64[1, 2, 40] i) => (T[1, 2, 79] y)"
        " { y = MaxUnpool <kernel_shape = [3], strides = [2], pads = [1, 1]> (x, i) }",
        domains={"i": "places 158"},
    ),
    Example(
        "col2im-to-conv-transpose",
        "g (T[N, 12, 28] x) => (T[N, 2, 7, 8] y) <int64[2] size = {7, 8}, int64[2] block = {2, 3}>"
        " { y = Col2Im <strides = [2, 1], pads = [0, 0, 2, 1]> (x, size, block) }",
        opset=18,
        sizes={"N": (3, 20)},
    ),
    Example(
        "col2im-to-conv-transpose",
        "g (T[N, 4, 12] x) => (T[N, 1, 6, 5] y) <int64[2] size = {6, 5}, int64[2] block = {2, 2}>"
        " { y = Col2Im <dilations = [2, 2]> (x, size, block) }",
        opset=18,
        sizes={"N": (3, 40)},
    ),
    Example(
        "not-of-numbers-to-equal",
        "g (T[N, 30] x) => (bool[N, 30] y) { b = Cast <to = 9> (x) y = Not (b) }",
        sizes={"N": (4, 200)},
    ),
    Example(
        "xor-to-and",
        "g (bool[N, 30] x, bool[N, 30] z) => (bool[N, 30] y) { y = Xor (x, z) }",
        sizes={"N": (4, 200)},
    ),
)
