"""Steps of the opset."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example

_N = {"N": (3, 40)}


def _step(first: int, last: int, text: str, **more: object) -> Example:
    return Example(f"opset {first} {last}", text, opset=first, **{"sizes": _N, **more})  # type: ignore[arg-type]


_DOWN13 = (
    _step(
        13,
        12,
        "g (T[N, 9, 8] x) => (T[N, 9, 8] y) { y = Softmax <axis = 1> (x) }",
        types=("float", "double"),
    ),
    _step(13, 12, "g (T[N, 9, 8] x) => (T[N, 9, 8] y) { y = LogSoftmax (x) }"),
    _step(13, 12, "g (T[8, 8, 8] x) => (T[8, 8, 8] y) { y = Softmax <axis = -2> (x) }"),
    _step(
        13,
        12,
        "g (T[8, 8, 8] x) => (T[8, 8] y) { y = ReduceSum <keepdims = 0> (x, a) }",
        arrays={"a": np.array([1])},
        domains={"x": "mild"},
    ),
    _step(
        13,
        12,
        "g (T[N, 8, 8] x) => (uint8[N, 8, 8] y) <T[8] s = {0.25, 0.5, 0.125, 2, 1, 1, 3, 4},"
        " uint8[8] z = {3, 0, 12, 7, 1, 2, 3, 4}> { y = QuantizeLinear (x, s, z) }",
    ),
    _step(
        13,
        12,
        "g (T[8, 8, 8] x) => (T[8, 4, 8] a, T[8, 4, 8] b) { a, b = Split <axis = 1> (x, s) }",
        arrays={"s": np.array([4, 4])},
    ),
    _step(
        13,
        12,
        "g (T[N, 9, 8] x) => (T[N, 8] y) { y = ReduceSum <keepdims = 0> (x, a) }",
        arrays={"a": np.array([1])},
        domains={"x": "mild"},
    ),
    _step(
        13,
        12,
        "g (T[N, 9, 8] x) => (T[N, 9, 8] y) <int64[0] a = {}>"
        " { y = ReduceSum <noop_with_empty_axes = 1> (x, a) }",
    ),
    _step(
        13,
        12,
        "g (T[N, 1, 8] x) => (T[N, 8, 1] y) { z = Squeeze (x, a) y = Unsqueeze (z, b) }",
        arrays={"a": np.array([1]), "b": np.array([-1])},
    ),
    _step(
        13,
        12,
        "g (T[N, 9, 8] x) => (T[N, 4, 8] a, T[N, 5, 8] b) { a, b = Split <axis = 1> (x, s) }",
        arrays={"s": np.array([4, 5])},
    ),
    _step(
        13,
        12,
        "g (T[N, 4, 8] x) => (T[N, 4, 8] y) <T[4] s = {0.25, 0.5, 0.125, 2}, "
        "uint8[4] z = {3, 0, 128, 7}> { q = QuantizeLinear <axis = 1> (x, s, z) "
        "y = DequantizeLinear <axis = 1> (q, s, z) }",
    ),
    _step(
        13,
        12,
        "g (T[N, 4, 8] x) => (int8[N, 4, 8] y) <T[8] s = {0.25, 0.5, 0.125, 2, 1, 1, 3, 4},"
        " int8[8] z = {3, 0, -12, 7, 1, 2, 3, 4}> { y = QuantizeLinear <axis = -1> (x, s, z) }",
    ),
    _step(
        13,
        12,
        'g (T[2, 3, 10, 12] x) => (T[2, 3, A, B] y) { y = Resize <mode = "linear"> (x, , s) }',
        arrays={"s": np.array([1, 1, 2, 1.5], np.float32)},
    ),
)
_DOWN12 = (
    _step(
        12,
        11,
        "g (T[N, 9] x, T[N, 9] z) => (T[N, 9] y) { y = Max (x, z) }",
        types=("int32", "int64", "float"),
    ),
    _step(
        12,
        11,
        "g (T[N, 9] x, T[N, 9] z) => (T[N, 9] y) { y = Min (x, z) }",
        types=("int32", "int64"),
    ),
    _step(
        12,
        11,
        "g (T[N, 9] x) => (T[N, 9] y) <T lo = {-3}, T hi = {5}> { y = Clip (x, lo, hi) }",
        types=("int32", "float", "int8"),
    ),
    _step(
        12, 11, "g (T[N, 9] x) => (T[N, 9] y) <T hi = {5}> { y = Clip (x, , hi) }", types=("int64",)
    ),
    _step(
        12,
        11,
        "g (T[N, 9] x) => (T[N, 9] y) <int32 e = {3}> { y = Pow (x, e) }",
        domains={"x": "mild"},
    ),
    _step(
        12,
        11,
        "g (T[N, 9] x) => (T[N, 9] y) <float e = {2}> { y = Pow (x, e) }",
        types=("int32",),
        domains={"x": "mild"},
    ),
    _step(
        12,
        11,
        "g (T[N, 9] x) => (T[N, 9] y) { c = Constant <value_floats = [1.0, 2.0, 3.0, 4.0, "
        "5.0, 6.0, 7.0, 8.0, 9.0]> () y = Add (x, c) }",
    ),
)
_DOWN18 = (
    _step(
        18,
        17,
        "g (T[N, 9, 8] x) => (T[N, 8] y) { y = ReduceMean <keepdims = 0> (x, a) }",
        arrays={"a": np.array([1])},
    ),
    _step(
        18,
        17,
        "g (T[8, 8, 8] x) => (T[8, 8] y) { y = ReduceL2 <keepdims = 0> (x, a) }",
        arrays={"a": np.array([1])},
        domains={"x": "mild"},
    ),
    _step(
        18,
        17,
        "g (T[8, 8, 8] x) => (T[A, B, C] y) { y = Pad (x, p, , a) }",
        arrays={"p": np.array([1, 2, 0, 3]), "a": np.array([-1, 0])},
    ),
    _step(
        18,
        17,
        "g (T[8, 8, 8] x) => (T[8, A, 8] a, T[8, B, 8] b, T[8, C, 8] c)"
        " { a, b, c = Split <axis = 1, num_outputs = 3> (x) }",
    ),
    _step(18, 17, "g (T[N, 9, 8] x) => (T[1, 1, 1] y) { y = ReduceMax (x) }"),
    _step(
        18,
        17,
        "g (T[N, 9, 8] x) => (T[N, 9, 8] y) <int64[0] a = {}>"
        " { y = ReduceMin <noop_with_empty_axes = 1> (x, a) }",
    ),
    _step(
        18,
        17,
        "g (T[N, 9, 8] x) => (T[N, A, B] y) <T c = {0.5}> { y = Pad (x, p, c, a) }",
        arrays={"p": np.array([1, 2, 0, 3]), "a": np.array([2, 1])},
    ),
    _step(
        18,
        17,
        "g (T[N, 9, 8] x) => (T[N, A, 8] a, T[N, B, 8] b)"
        " { a, b = Split <axis = 1, num_outputs = 2> (x) }",
    ),
    _step(
        18,
        17,
        "g (T[2, 3, 10, 12] x) => (T[2, 3, A, B] y) "
        '{ y = Resize <mode = "linear", axes = [3, 2]> (x, , s) }',
        arrays={"s": np.array([2, 1.5], np.float32)},
    ),
    _step(
        18,
        17,
        "g (T[2, 3, 10, 12] x) => (T[2, 3, A, B] y) "
        '{ y = Resize <mode = "linear", axes = [2, 3], keep_aspect_ratio_policy = "not_larger">'
        " (x, , , s) }",
        arrays={"s": np.array([25, 24])},
    ),
)
_DOWN14 = (
    _step(
        14,
        13,
        "g (T[N, 9, 8] x) => (T[N, 9, 8] y) <int64 k = {1}> { y = Trilu <upper = 0> (x, k) }",
        types=("float", "int32"),
    ),
    _step(14, 13, "g (T[N, 9, 8] x) => (T[N, 9, 8] y) { y = Trilu (x) }"),
    _step(
        14, 13, "g (T[N, 9] x) => (T[N, 9] y) { y = Relu (x) }", types=("int32", "int8", "float")
    ),
    _step(
        14,
        13,
        "g (T[N, 9, 8] x) => (T[N, 72] y) { y = Reshape <allowzero = 1> (x, s) }",
        arrays={"s": np.array([-1, 72])},
    ),
)
_DOWN11 = (
    _step(
        11,
        10,
        "g (T[N, 9, 8] x) => (T[N, 8] y) { y = ReduceSum <axes = [-2], keepdims = 0> (x) }",
        domains={"x": "mild"},
    ),
    _step(
        11,
        10,
        "g (T[N, 9, 8] x) => (T[N, 4, 8] y) { y = Gather <axis = 1> (x, i) }",
        arrays={"i": np.array([3, -1, 0, -9])},
    ),
    _step(
        11, 10, "g (T[N, 9] x) => (T[N, 9] y) <T lo = {-3}, T hi = {5}> { y = Clip (x, lo, hi) }"
    ),
    _step(11, 10, "g (T[N, 9] x) => (T[N, 9] y) <T lo = {0.5}> { y = Clip (x, lo) }"),
    _step(
        11,
        10,
        "g (T[N, 9, 8] x) => (T[N, A, B] y) <T c = {0.5}> { y = Pad (x, p, c) }",
        arrays={"p": np.array([0, 1, 2, 0, 0, 3])},
    ),
    _step(
        11, 10, "g (T[8, 8, 8] x) => (T[8, 8] y) { y = ReduceMax <axes = [-2], keepdims = 0> (x) }"
    ),
    _step(
        11,
        10,
        "g (T[8, 8, 8] x) => (T[8, 8, 8] y) { y = Gather <axis = -2> (x, i) }",
        arrays={"i": np.array([3, -1, 0, -8, 2, 2, 5, -2])},
    ),
    _step(
        11,
        10,
        "g (T[8, 8, 8] x) => (int64[8, 8] y) { y = ArgMax <axis = -2, keepdims = 0> (x) }",
        domains={"x": "distinct"},
    ),
    _step(11, 10, "g (T[N, 9] x) => (T[N, 9] y) { z = Softmax <axis = -1> (x) y = Neg (z) }"),
    _step(11, 10, "g (T[N, 9] x, T[N, 9] z) => (bool[N, 9] y) { y = Equal (x, z) }"),
    _step(
        11,
        10,
        "g (int64[N, 9] i) => (float[N, 9, 6] y) <int64 d = {6}, float[2] v = {0.5, 2.0}>"
        " { y = OneHot (i, d, v) }",
        domains={"i": "index -6 6"},
    ),
    _step(
        11,
        10,
        "g (T[N, 8, 6, 5] x) => (T[N, 2, 12, 10] y)"
        ' { y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }',
    ),
    _step(
        11,
        10,
        "g (T[N, 9] x) => (T[N, 3] v, int64[N, 3] i) <int64[1] k = {3}>"
        " { v, i = TopK <axis = -1> (x, k) }",
        domains={"x": "distinct"},
    ),
    _step(
        11,
        10,
        "g (T[6, 9] x) => (T[6, 9] y) { y = ScatterElements <axis = -1> (x, i, u) }",
        arrays={
            "i": np.array([[0, -1], [3, 4], [1, 2], [0, 5], [7, 2], [-3, 1]]),
            "u": np.arange(12.0).reshape(6, 2),
        },
    ),
)
EXAMPLES = (*_DOWN13, *_DOWN12, *_DOWN18, *_DOWN14, *_DOWN11)
