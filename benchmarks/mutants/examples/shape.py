"""Forms that engines want to be reported, and sizes."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


_TORCH = (
    "m = Reshape (v, two) r = Slice (m, last, far, zero, last) t = Transpose <perm = [1, 0]> (r) "
    "p = Reshape (t, last) c = Cast <to = 7> (p) y = Identity (c)"
)
_PADS = (
    "<int64[2] two = {-1, 2}, int64[1] last = {-1}, int64[1] far = {-9223372036854775807}, "
    "int64[1] zero = {0}>"
)

EXAMPLES = (
    Example(  # sizes that do not tell the axes apart
        "gather-negative-index",
        "g (T[8, 8, 8] x) => (T[8, 8, 8] y) <int64[8] i = {-1, 2, -4, 0, -8, 3, 3, -2}>"
        " { y = Gather <axis = 1> (x, i) }",
    ),
    Example(
        "gather-negative-index",
        "g (T[N, M, 8] x) => (T[8, 8, 8] y) <int64[8] i = {-1, 2, -4, 0, -8, 3, 3, -2}>"
        " { y = Gather <axis = -1> (x, i) }",
        sizes={"N": (8, 8), "M": (8, 8)},
    ),
    Example(
        "gather-negative-index",
        "g (T[N, 9, 8] x) => (T[N, 3, 8] y) <int64[3] i = {-1, 2, -4}>"
        " { y = Gather <axis = 1> (x, i) }",
        types=("float", "int32"),
        sizes={"N": (3, 40)},
    ),
    Example(
        "gather-negative-index",
        "g (T[N, 9, 8] x) => (T[9, 8] y) <int64 i = {-2}> { y = Gather <axis = 0> (x, i) }",
        sizes={"N": (3, 40)},
    ),
    Example(
        "gather-negative-index",
        "g (T[4, N, 8] x) => (T[4, 1, 8] y) <int64[1] i = {-1}> { y = Gather <axis = -2> (x, i) }",
        sizes={"N": (3, 40)},
    ),
    Example(
        "shape-gather-to-slice",
        "g (int64[9] s, float[N] z) => (int64[4] y) <int64[4] i = {1, 2, 3, -1}>"
        " { y = Gather <axis = 0> (s, i) }",
        sizes={"N": (300, 4000)},
    ),
    Example(
        "shape-gather-to-slice",
        "g (int64[9] s, float[N] z) => (int64 y) <int64 i = {-3}> { y = Gather (s, i) }",
        sizes={"N": (300, 4000)},
    ),
    Example(
        "shape-gather-to-slice",
        "g (int64[M] s, float[N] z) => (int64[5] y) <int64[5] i = {5, 4, 3, 0, 2}>"
        " { y = Gather (s, i) }",
        sizes={"N": (300, 4000), "M": (6, 9)},
    ),
    Example(
        "shape-range-to-slice",
        "g (float[A, 3, B, 5] x) => (int64[2] y, int64[2] z)"
        " { y = Shape <start = 1, end = 3> (x) z = Shape <start = -2> (x) }",
        sizes={"A": (3, 30), "B": (2, 17)},
    ),
    Example(
        "shape-range-to-slice",
        "g (float[A, 3, B, 5] x) => (int64[3] y) { y = Shape <end = -1> (x) }",
        sizes={"A": (3, 30), "B": (2, 17)},
    ),
    Example(
        "split-sizes-explicit",
        "g (T[N, 10] x) => (T[N, A] a, T[N, B] b, T[N, C] c)"
        " { a, b, c = Split <axis = 1, num_outputs = 3> (x) }",
        opset=18,
        sizes={"N": (30, 400)},
    ),
    Example(
        "split-sizes-explicit",
        "g (T[6, N] x) => (T[2, N] a, T[2, N] b, T[2, N] c) { a, b, c = Split (x) }",
        opset=13,
        types=("float", "int32"),
        sizes={"N": (30, 400)},
    ),
    Example(
        "reduce-axes-explicit",
        "g (T[N, 9, 8] x) => (T[1, 1, 1] y) <int64[0] a = {}> { y = ReduceSum (x, a) }",
        sizes={"N": (3, 40)},
        types=("float", "int64"),
        domains={"x": "mild"},
    ),
    Example(
        "reduce-axes-explicit",
        "g (T[N, 9, 8] x) => (T y) <int64[0] a = {}> { y = ReduceMax <keepdims = 0> (x, a) }",
        opset=18,
        sizes={"N": (3, 40)},
    ),
    Example(
        "reduce-axes-explicit",
        "g (T[N, 9, 8] x) => (T[N, 9, 8] y) <int64[0] a = {}>"
        " { y = ReduceSum <noop_with_empty_axes = 1> (x, a) }",
        sizes={"N": (3, 40)},
    ),
    Example(
        "reduce-axes-explicit",
        "g (T[N, 9, 8] x) => (T[1, 1, 1] y) <int64[0] a = {}> { z = ReduceSum (x, a) "
        "w = Neg (z) y = Abs (w) }",
        sizes={"N": (3, 40)},
    ),
    Example(
        "split-sizes-explicit",
        "g (T[8, 8, 8] x) => (T[8, A, 8] a, T[8, B, 8] b) { a, b = Split <axis = 1> (x) }",
        opset=13,
    ),
    Example(
        "split-sizes-explicit",
        "g (T[8, 8, 8] x) => (T[A, B, C] a, T[D, E, F] b, T[G, H, I] c)"
        " { a, b, c = Split <axis = -2, num_outputs = 3> (x) }",
        opset=18,
    ),
    Example(
        "reduce-axes-explicit",
        "g (T[N, 9, 8] x) => (T[N, 1, 8] y) <int64[1] a = {1}> { y = ReduceSum (x, a) }",
        sizes={"N": (3, 40)},
    ),
    Example(
        "squeeze-axes-explicit",
        "g (T[30, 1, 8, 1] x) => (T[30, 8] y) { z = Squeeze (x) y = Neg (z) }",
        opset=13,
    ),
    Example(
        "squeeze-axes-explicit",
        "g (T[30, 1, 8, 1] x) => (T[30, 8, 1] y) <int64[1] a = {1}> { y = Squeeze (x, a) }",
        opset=13,
    ),
    Example(
        "pad-shape-arithmetic-flat",
        f"g (T[8] v, float[N] z) => (int64[8] y) {_PADS} {{ {_TORCH} }}",
        types=("int64", "int32"),
        sizes={"N": (300, 4000)},
    ),
    Example(
        "pad-shape-arithmetic-flat",
        "g (int64[6] v, float[N] z) => (int64[4] y) <int64[2] s = {2, 3}, int64[2] from = {0, 1}, "
        "int64[2] to = {2, 3}, int64[2] both = {0, 1}> { m = Reshape (v, s) "
        "r = Slice (m, from, to, both) f = Flatten <axis = 0> (r) y = Squeeze (f, a) }",
        sizes={"N": (300, 4000)},
        arrays={"a": _i(0)},
    ),
    Example(
        "pad-shape-arithmetic-flat",
        "g (int64[6] v, float[N] z) => (int32[6] y) <int64[2] s = {2, 3}, int64[1] one = {-1}>"
        " { m = Reshape (v, s) c = Cast <to = 6> (m) t = Transpose (c) y = Reshape (t, one) }",
        sizes={"N": (300, 4000)},
    ),
    Example(
        "if-elimination",
        "g (T[N, 8] x) => (T[N, 8] y) <bool c = {0}> { o = Neg (x) "
        "y = If (c) <then_branch = t () => (T[N, 8] p) { p = Add (o, x) },"
        " else_branch = e () => (T[N, 8] q) { q = Relu (x) }> }",
        sizes={"N": (30, 400)},
    ),
)
