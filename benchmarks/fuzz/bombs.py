"""Hand-made files of some bytes that ask for more memory or time than any machine has.

`bombs()` gives them by name, as bytes: those of this file are lines of ONNX's text form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from onnx import parser

from benchmarks.fuzz.built_bombs import BUILT

# name -> (outputs, nodes): models without inputs that are bound to be folded, at opset 17.
_FOLDED = {
    "hann-window": ("float[n] y", "n = Constant<value_int: int = 4000000000>() y = HannWindow(n)"),
    "tile": (
        "float[n] y",
        "a = Constant<value = float[4] {1, 2, 3, 4}>() "
        "r = Constant<value = int64[1] {4000000000}>() y = Tile(a, r)",
    ),
    "range": (
        "int64[n] y",
        "a = Constant<value_int: int = 0>() b = Constant<value_int: int = 1000000000000>() "
        "c = Constant<value_int: int = 1>() y = Range(a, b, c)",
    ),
    "range-float": (
        "float[n] y",
        "a = Constant<value_float: float = 0.0>() b = Constant<value_float: float = 1e12>() "
        "c = Constant<value_float: float = 1.0>() y = Range(a, b, c)",
    ),
    "expand": (
        "float[n, m] y",
        "a = Constant<value_float: float = 1.0>() "
        "s = Constant<value = int64[2] {2000000, 2000000}>() y = Expand(a, s)",
    ),
    "constant-of-shape": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {2000000, 2000000}>() y = ConstantOfShape(s)",
    ),
    "constant-of-shape-overflow": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {4294967296, 4294967296}>() y = ConstantOfShape(s)",
    ),
    "resize": (
        "float[n, m, h, w] y",
        "a = Constant<value = float[1, 1, 2, 2] {1, 2, 3, 4}>() "
        "r = Constant<value = float[1] {0}>()"
        " s = Constant<value = float[4] {1, 1, 1000000, 1000000}>() y = Resize(a, , s)",
    ),
    "one-hot": (
        "float[n, m] y",
        "i = Constant<value = int64[2] {1, 2}>() d = Constant<value_int: int = 2000000000>() "
        "v = Constant<value = float[2] {0, 1}>() y = OneHot(i, d, v)",
    ),
    "eye-like": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {200000, 200000}>() a = ConstantOfShape(s) y = EyeLike(a)",
    ),
    "random-normal": ("float[n] y", "y = RandomNormal<shape = [200000, 200000]>()"),
    "pad": (
        "float[n] y",
        "a = Constant<value = float[2] {1, 2}>() "
        "p = Constant<value = int64[2] {4000000000, 4000000000}>() y = Pad(a, p)",
    ),
    "outer-product": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {100000, 1}>() t = Constant<value = int64[2] {1, 100000}>() "
        "a = ConstantOfShape(s) b = ConstantOfShape(t) y = Add(a, b)",
    ),
    "matmul": (
        "float[n, m] y",
        "s = Constant<value = int64[2] {100000, 1}>() t = Constant<value = int64[2] {1, 100000}>() "
        "a = ConstantOfShape(s) b = ConstantOfShape(t) y = MatMul(a, b)",
    ),
    "trip-count": (
        "float[n] y",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "a = Constant<value = float[1] {1}>() "
        "y = Loop(m, d, a) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t) "
        "{ on = Identity(go) t = Add(s, s) }>",
    ),
    "trip-count-growing": (
        "float[n] y",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "a = Constant<value = float[1] {1}>() "
        "y = Loop(m, d, a) <body = g (int64 i, bool go, float[k] s) => (bool on, float[l] t) "
        "{ on = Identity(go) t = Concat<axis = 0>(s, s) }>",
    ),
    "trilu": (
        "float[2, 2] y",
        "a = Constant<value = float[2, 2] {1, 2, 3, 4}>() "
        "k = Constant<value_int: int = -9223372036854775808>() y = Trilu(a, k)",
    ),
}

# Models with an input x, for what waits until something is run or rewritten.
_FED = {
    "fed-expand": (
        "float[2] x",
        "float[n, m] y",
        "s = Constant<value = int64[2] {2000000000, 2}>() y = Expand(x, s)",
    ),
    "fed-tile": (
        "float[2] x",
        "float[n] y",
        "r = Constant<value = int64[1] {4000000000}>() y = Tile(x, r)",
    ),
    "fed-top-k": (
        "float[8] x",
        "float[n] y",
        "k = Constant<value = int64[1] {2000000000}>() y, i = TopK(x, k)",
    ),
    "fed-top-k-fitting": (
        "float[2000000000] x",
        "float[n] y",
        "k = Constant<value = int64[1] {2000000000}>() y, i = TopK(x, k)",
    ),
    "fed-resize": (
        "float[1, 1, 2, 2] x",
        "float[n, m, h, w] y",
        "s = Constant<value = float[4] {1, 1, 1000000, 1000000}>() y = Resize(x, , s)",
    ),
    "fed-pad": (
        "float[2] x",
        "float[n] y",
        "p = Constant<value = int64[2] {4000000000, 4000000000}>() y = Pad(x, p)",
    ),
    "fed-loop": (
        "float[1] x",
        "float[1] y",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "y = Loop(m, d, x) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t) "
        "{ on = Identity(go) t = Mod<fmod = 1>(s, x) }>",
    ),
    "fed-mod-loop": (
        "float[1] x",
        "float[1] z",
        "m = Constant<value_int: int = 9223372036854775807>() "
        "c = Constant<value = bool[1] {1}>() d = Squeeze(c) "
        "y = Loop(m, d, x) <body = g (int64 i, bool go, float[1] s) => (bool on, float[1] t) "
        "{ on = Identity(go) t = Add(s, x) }> z = Mod<fmod = 1>(y, x)",
    ),
    "fed-trilu": (
        "float[2, 2] x",
        "float[2, 2] y",
        "k = Constant<value_int: int = -9223372036854775808>() y = Trilu(x, k)",
    ),
    "fed-conv": (
        "float[1, 1, 400000, 400000] x",
        "float[a, b, c, d] y",
        "w = Constant<value = float[1, 1, 1, 1] {1}>() z = Conv(x, w) y = Mod<fmod = 1>(z, x)",
    ),
    "fed-dims": ("float[1000000000000] x", "float[1000000000000] y", "y = Mod<fmod = 1>(x, x)"),
    "fed-dims-many": (
        "float[4000000000, 4000000000, 4000000000] x",
        "float[a, b, c] y",
        "y = Mod<fmod = 1>(x, x)",
    ),
    "fed-window": (
        "float[1, 1, 9, 9] x",
        "float[a, b, c, d] y",
        "y = MaxPool<kernel_shape = [2147483647, 2147483647], dilations = [3, 3], "
        "pads = [2147483647, 2147483647, 2147483647, 2147483647]>(x)",
    ),
    "fed-average": (
        "float[1, 1, 9, 9] x",
        "float[a, b, c, d] y",
        "y = AveragePool<kernel_shape = [30000, 30000], count_include_pad = 1, "
        "pads = [29999, 29999, 29999, 29999]>(x)",
    ),
    "fed-dilated": (
        "float[1, 1, 40000, 40000] x",
        "float[a, b, c, d] y",
        "y = MaxPool<kernel_shape = [200, 200], dilations = [7, 7]>(x)",
    ),
    "fed-one-hot": (
        "int64[2] x",
        "float[n, m] y",
        "d = Constant<value_int: int = 2000000000>() v = Constant<value = float[2] {0, 1}>() "
        "y = OneHot(x, d, v)",
    ),
    "fed-cum-sum": (
        "float[2000000] x",
        "float[n] y",
        "a = Constant<value_int: int = 0>() y = CumSum(x, a)",
    ),
    "fed-eye-like": ("float[200000, 200000] x", "float[a, b] y", "y = EyeLike(x)"),
    "fed-dft": (
        "float[1, 200000, 1] x",
        "float[a, b, c] y",
        "y = DFT<axis = 1>(x)",
    ),
    "fed-scatter": (
        "float[200000] x, int64[200000] i, float[200000] u",
        "float[200000] y",
        'y = ScatterElements<reduction: string = "add">(x, i, u)',
    ),
}


def _text(inputs: str, outputs: str, nodes: str, opset: int = 17) -> bytes:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    model = parser.parse_model(f"{head} g ({inputs}) => ({outputs}) {{ {nodes} }}")
    return model.SerializeToString()


def bombs() -> dict[str, Callable[[], bytes]]:
    """Return what makes each model, by name; none needs more than some megabytes to be made."""
    made: dict[str, Callable[[], bytes]] = {}
    for name, (outputs, nodes) in _FOLDED.items():
        made[name] = partial(_text, "", outputs, nodes)
    for name, (inputs, outputs, nodes) in _FED.items():
        made[name] = partial(_text, inputs, outputs, nodes)
    made.update(BUILT)
    return made
