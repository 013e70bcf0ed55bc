"""Sizes that differ, sizes of 0, parameters at their ends, and integers that no float holds."""

from __future__ import annotations

from benchmarks.mutants.examples.example import Example

# The judge looks at 0, 1 and sizes without a common factor.
_SIDES = {"N": (3, 2, 0, 5), "H": (5, 9, 7, 1), "W": (7, 4, 0, 11)}


def _one(unit: str, text: str, **more: object) -> Example:
    return Example(unit, text, **{"sizes": _SIDES, **more})  # type: ignore[arg-type]


def _step(first: int, last: int, text: str, **more: object) -> Example:
    return _one(f"opset {first} {last}", text, opset=first, **more)


_INTEGERS = ("int64", "int32")
_TRIANGLES = (
    _one(
        "trilu-to-where",
        "g (T[N, H, W] x, int64 k) => (T[N, H, W] y) { y = Trilu (x, k) }",
        types=("float", "int64"),
        domains={"k": "index -6 7"},
    ),
    _one(
        "trilu-to-where",
        "g (T[N, H, W] x, int64 k) => (T[N, H, W] y) { y = Trilu <upper = 0> (x, k) }",
        domains={"k": "index -6 7"},
    ),
    _step(
        14,
        13,
        "g (T[N, H, W] x, int64 k) => (T[N, H, W] y) { y = Trilu <upper = 0> (x, k) }",
        types=("float", "int32"),
        domains={"k": "index -6 7"},
    ),
)
_PADS = (
    _one(
        "pad-constant-to-concat",
        "g (T[H, W] x, int64[4] p) => (T[A, B] y) { y = Pad (x, p) }",
        types=("float", "int64"),
        domains={"p": "index 0 4"},
        sizes={"H": (15, 19, 17, 14), "W": (17, 14, 6, 11)},
    ),
    _one(
        "pad-constant-to-concat",
        "g (T[N, H, W, 3] x) => (T[A, B, C, 3] y) <int64[8] p = {0, 1, 2, 0, 0, 3, 1, 0}>"
        " { y = Pad (x, p) }",
        types=("float", "int64"),
    ),
    _one(
        "pad-by-repeating",
        "g (T[H, W] x) => (T[A, B] y) <int64[4] p = {1, 2, 3, 1}>"
        ' { y = Pad <mode = "edge"> (x, p) }',
        sizes={"H": (15, 19, 17, 14), "W": (17, 14, 6, 11)},
    ),
    _one(
        "pad-by-repeating",
        "g (T[15, 7] x) => (T[A, B] y) <int64[4] p = {1, 2, 3, 1}>"
        ' { y = Pad <mode = "reflect"> (x, p) }',
    ),
)
_SUMS = (
    _one(
        "cumsum-to-sum",
        "g (T[N, 6, W] x) => (T[N, 6, W] y) <int64 a = {1}> { y = CumSum (x, a) }",
        types=("int64", "int32", "float"),
    ),
    _one(
        "cumsum-to-sum",
        "g (T[3, 5, 4] x) => (T[3, 5, 4] y) <int64 a = {-2}>"
        " { y = CumSum <exclusive = 1, reverse = 1> (x, a) }",
        types=("int64", "float"),
    ),
    _step(
        11,
        10,
        "g (T[N, 6, W] x) => (T[N, 6, W] y) <int64 a = {1}> { y = CumSum (x, a) }",
        types=("int64", "float"),
    ),
    _one(
        "matmul-of-integers-to-sum",
        "g (T[N, 5, 4] x, T[4, 3] z) => (T[N, 5, 3] y) { y = MatMul (x, z) }",
        types=_INTEGERS,
    ),
    _one(
        "integer-abs-neg-to-subtraction",
        "g (T[N, W] x) => (T[N, W] y) { a = Neg (x) b = Abs (a) y = Sub (a, b) }",
        types=_INTEGERS,
    ),
    _one(
        "mod-elimination",
        "g (T[N, W] x) => (T[N, W] y) <T d = {7}> { y = Mod (x, d) }",
        types=_INTEGERS,
    ),
    _one(
        "mod-by-computed-divisor",
        "g (T[N, W] x, T[W] d) => (T[N, W] y) { y = Mod (x, d) }",
        types=_INTEGERS,
        domains={"d": "nonzero", "x": "above"},
    ),
    _one(
        "bitshift-to-arithmetic",
        'g (T[N, W] x) => (T[N, W] y) <T n = {3}> { y = BitShift <direction = "LEFT"> (x, n) }',
        types=("uint32", "uint64"),
    ),
    _one(
        "opset 12 11",
        "g (T[N, W] x) => (T[N, W] y) <T lo = {-3}, T hi = {5}> { y = Clip (x, lo, hi) }",
        types=_INTEGERS,
    ),
)
_IMAGES = (
    _one(
        "grid-sample-to-gather",
        "g (T[2, 3, H, W] x, T[2, 4, 3, 2] q) => (T[2, 3, 4, 3] y)"
        ' { y = GridSample <mode = "nearest", padding_mode = "border"> (x, q) }',
        opset=16,
        domains={"q": "unit"},
        sizes={"H": (5, 9, 7, 2), "W": (7, 4, 3, 11)},
    ),
    _one(
        "grid-sample-to-gather",
        "g (T[2, 3, H, W] x, T[2, 4, 3, 2] q) => (T[2, 3, 4, 3] y)"
        ' { y = GridSample <mode = "nearest", padding_mode = "zeros", align_corners = 1> (x, q) }',
        opset=16,
        domains={"q": "unit"},
        sizes={"H": (5, 9, 7, 2), "W": (7, 4, 3, 11)},
    ),
    _one(
        "instance-normalization-to-arithmetic",
        "g (T[N, 3, H, W] x) => (T[N, 3, H, W] y) <T[3] s = {0.5, 2, 1}, T[3] b = {1, -1, 0}>"
        " { y = InstanceNormalization (x, s, b) }",
        sizes={"N": (3, 2, 4, 5), "H": (5, 9, 7, 2), "W": (7, 4, 3, 11)},
    ),
    _one(
        "layer-normalization-to-arithmetic",
        "g (T[N, H, 6] x, T[6] s) => (T[N, H, 6] y) { y = LayerNormalization (x, s) }",
        domains={"x": "mild"},
    ),
)
_PLACES = (
    _one(
        "gather-elements-to-gather",
        "g (T[N, 6, W] x, int64[N, 4, W] i) => (T[N, 4, W] y)"
        " { y = GatherElements <axis = 1> (x, i) }",
        types=("float", "int64"),
        domains={"i": "index -6 6"},
    ),
    _one(
        "gathernd-to-gather",
        "g (T[5, 4, W] x, int64[N, 2] i) => (T[N, W] y) { y = GatherND (x, i) }",
        types=("float", "int64"),
        domains={"i": "index -4 4"},
    ),
    _one(
        "one-hot-to-equal",
        "g (int64[N, W, 9] i) => (float[N, W, 9, 6] y) <int64 d = {6}, float[2] v = {0.5, 2.0}>"
        " { y = OneHot (i, d, v) }",
        domains={"i": "index -6 6"},
    ),
    _one(
        "one-hot-to-equal",
        "g (int64[N, W, 9] i, int64 d) => (int64[N, A, W, 9] y) <int64[2] v = {3, -7}>"
        " { y = OneHot <axis = 1> (i, d, v) }",
        domains={"i": "index -2 4", "d": "index 4 9"},
    ),
    _one(
        "eye-like-to-equal",
        "g (T[H, W] x) => (T[H, W] y) { y = EyeLike <k = 1> (x) }",
        types=("float", "int64"),
    ),
    _one(
        "reverse-sequence-to-gather",
        "g (T[6, N, W] x, int64[N] n) => (T[6, N, W] y) { y = ReverseSequence (x, n) }",
        types=("float", "int64"),
        domains={"n": "index 1 7"},
    ),
    _one(
        "hardmax-to-equal",
        "g (T[N, 6, W] x) => (T[N, 6, W] y) { y = Hardmax <axis = 1> (x) }",
        domains={"x": "distinct"},
    ),
    _one(
        "slice-axes-explicit",
        "g (T[H, W, 9] x, int64[2] a, int64[2] b) => (T[A, B, 9] y) { y = Slice (x, a, b) }",
        domains={"a": "index -9 4", "b": "index -3 9"},
    ),
    _one(
        "einsum-to-matmul",
        "g (T[N, H, 4] x, T[N, 4, W] z) => (T[N, H, W] y)"
        ' { y = Einsum <equation = "nhk,nkw->nhw"> (x, z) }',
        types=("float", "int64"),
    ),
    _one(
        "einsum-to-matmul",
        "g (T[N, H, W] x, T[H, W] z) => (T[W, N] y)"
        ' { y = Einsum <equation = "nhw,hw->wn"> (x, z) }',
    ),
)
_STEPS = (
    _step(
        13,
        12,
        "g (T[N, H, W] x) => (T[N, H, W] y) { y = Softmax <axis = 1> (x) }",
        sizes={"N": (3, 2, 0, 5), "H": (5, 9, 7, 1), "W": (7, 4, 3, 11)},
    ),
    _step(
        13,
        12,
        "g (T[N, H, W] x, int64[2] s) => (T[N, A, W] a, T[N, B, W] b)"
        " { a, b = Split <axis = 1> (x, s) }",
        sizes={"N": (3, 2, 4, 5), "H": (5, 5, 5, 5), "W": (7, 4, 3, 11)},
        arrays={},
        domains={"s": "pairs 2 4"},
    ),
    _step(
        18,
        17,
        "g (T[H, W] x, int64[2] p) => (T[A, W] y) <int64[1] a = {0}> { y = Pad (x, p, , a) }",
        types=("float", "int64"),
        domains={"p": "index 0 4"},
        sizes={"H": (15, 19, 17, 14), "W": (17, 14, 6, 11)},
    ),
    _step(
        18,
        17,
        "g (T[N, 5, W] x) => (T[N, A, W] a, T[N, B, W] b)"
        " { a, b = Split <axis = 1, num_outputs = 2> (x) }",
        types=("float", "int64"),
    ),
    _step(
        11,
        10,
        "g (T[N, H, W] x, int64[3] i) => (T[N, 3, W] y) { y = Gather <axis = 1> (x, i) }",
        types=("float", "int64"),
        domains={"i": "index -5 5"},
        sizes={"N": (3, 2, 0, 5), "H": (5, 9, 7, 6), "W": (7, 4, 3, 11)},
    ),
    _step(
        11,
        10,
        "g (T[N, H, 6] x, int64[N, H, 2] i) => (T[N, H, 2] y)"
        " { y = GatherElements <axis = 2> (x, i) }",
        domains={"i": "index -6 6"},
    ),
    _step(
        12,
        11,
        "g (T[N, W] x, T[N, W] z) => (T[N, W] y) { a = Max (x, z) y = Min (a, x, z) }",
        types=_INTEGERS,
    ),
)
EXAMPLES = (*_TRIANGLES, *_PADS, *_SUMS, *_IMAGES, *_PLACES, *_STEPS)
