"""Models that are right with one item and wrong with more: none is shown for every size.

Each is run in onnxruntime at sizes on both sides of what it depends on, so that none is a fault of
the test's own; and what is shown is compared with that.
"""

from __future__ import annotations

import pytest

from graphfix import UsageError
from tests.edits.by_item.freed_models import freed

_STORED = (
    "int64[1] zero = {0}, int64[1] one = {1}, int64[1] six = {6}, int64[1] four = {4}, "
    "int64 z = {0}, int64 o = {1}, int64 k = {6}"
)
_TABLE = "float[6, 4] t = {" + ", ".join(["0"] * 20 + ["1"] * 4) + "}"


def _text(body: str, stored: str = "") -> str:
    """Return a model in which ``n`` is the number of items, a vector of one."""
    more = f", {stored}" if stored else ""
    return (
        f"g (float[1, 4] x) => (float[1, 4] y) <{_STORED}{more}> "
        f"{{ s0 = Shape (x) n = Gather (s0, zero) {body} }}"
    )


WRONG: dict[str, str] = {
    "greater": _text("c = Greater (n, six) m = Neg (x) y = Where (c, m, x)"),
    "less, other order": _text("c = Less (six, n) m = Neg (x) y = Where (c, m, x)"),
    "equal": _text("c = Equal (n, six) m = Neg (x) y = Where (c, m, x)"),
    "greater or equal": _text("c = GreaterOrEqual (n, six) m = Neg (x) y = Where (c, m, x)"),
    "not less": _text("c0 = Less (n, six) c = Not (c0) m = Neg (x) y = Where (c, m, x)"),
    "and": _text(
        "c0 = Greater (n, six) c1 = Greater (n, four) c = And (c0, c1) m = Neg (x) y "
        "= Where (c, m, x)"
    ),
    "float threshold": _text(
        "f = Cast <to = 1> (n) c = Greater (f, th) m = Neg (x) y = Where (c, m, x)",
        "float[1] th = {6.5}",
    ),
    "mod": _text("r = Mod (n, six) c = Equal (r, zero) m = Neg (x) y = Where (c, m, x)"),
    "div": _text("r = Div (n, six) f = Cast <to = 1> (r) y = Add (x, f)"),
    "min of sizes": _text("r = Min (n, six) q = Sub (n, r) f = Cast <to = 1> (q) y = Add (x, f)"),
    "max of sizes": _text("r = Max (n, six) q = Sub (r, six) f = Cast <to = 1> (q) y = Add (x, f)"),
    "clip of a size": _text(
        "r = Clip (n, o, k) q = Sub (n, r) f = Cast <to = 1> (q) y = Add (x, f)"
    ),
    "positions from a table": _text("p = Slice (t, zero, n, zero) y = Add (x, p)", _TABLE),
    "positions from the end": _text(
        "q = Sub (six, n) p = Slice (t, q, six, zero) y = Add (x, p)", _TABLE
    ),
    "gather by range": _text(
        ("m = Squeeze (n, zero) r = Range (z, m, o) p = Gather <axis = 0> (t, r) y = Add (x, p)"),
        _TABLE,
    ),
    "range as values": _text(
        (
            "m = Squeeze (n, zero) r = Range (z, m, o) f = Cast <to = 1> (r) u = "
            "Unsqueeze (f, one) h = Div (u, thousand) fl = Floor (h) y = Add (x, fl)"
        ),
        "float thousand = {100}",
    ),
    "gather by the size": _text(
        "l = Sub (n, one) r = Div (l, six) p = Gather <axis = 0> (t, r) y = Add (x, p)", _TABLE
    ),
    "gather by a clipped size": _text(
        "l = Sub (n, one) r = Min (l, five) p = Gather <axis = 0> (t, r) y = Add (x, p)",
        _TABLE + ", int64[1] five = {5}",
    ),
    "cumsum": _text("c = CumSum (x, z) d = Sub (c, x) e = Sub (c, d) y = Identity (c)"),
    "cast uint8": _text(
        "u = Cast <to = 2> (n) b = Cast <to = 7> (u) c = Equal (b, n) m = Neg (x) y = "
        "Where (c, x, m)"
    ),
    "cast int8": _text(
        "u = Cast <to = 3> (n) w = Cast <to = 7> (u) c = Less (w, zero) m = Neg (x) y "
        "= Where (c, m, x)"
    ),
    "cast int8, whole": _text(
        "u = Cast <to = 3> (n) w = Cast <to = 6> (u) f = Cast <to = 1> (w) q = Relu "
        "(f) h = Cast <to = 1> (n) d = Sub (h, q) y = Add (x, d)"
    ),
    "cast bool": _text(
        "l = Sub (n, one) r = Div (l, six) c = Cast <to = 9> (r) m = Neg (x) y = Where (c, m, x)"
    ),
    "int32 that overflows": _text(
        (
            "i = Cast <to = 6> (n) b = Mul (i, big) c = Less (b, nul) m = Neg (x) y = "
            "Where (c, m, x)"
        ),
        "int32[1] big = {10000000}, int32[1] nul = {0}",
    ),
    "square": _text(
        "q = Mul (n, n) c = Greater (q, big) m = Neg (x) y = Where (c, m, x)", "int64[1] big = {50}"
    ),
    "power": _text(
        "q = Pow (n, two) c = Greater (q, big) m = Neg (x) y = Where (c, m, x)",
        "int64[1] big = {50}, int64[1] two = {2}",
    ),
    "sum of ones over the size": _text(
        (
            "f = Cast <to = 1> (n) r = Reciprocal (f) c = Less (r, th) m = Neg (x) y = "
            "Where (c, m, x)"
        ),
        "float[1] th = {0.15}",
    ),
    "loop as often": _text(
        "m = Squeeze (n, zero) r = Div (m, k) y = Loop (r, , x) <body = b (int64 i, "
        "bool ci, float[1, 4] v) => (bool co, float[1, 4] w) { co = Identity (ci) w = "
        "Neg (v) }>"
    ),
    "softmax over items of old opset": (
        '<ir_version: 8, opset_import: ["" : 11]> g (float[1, 4] x) => (float[1, 4] '
        "y) { y = Softmax <axis = 0> (x) }"
    ),
    "topk k": _text(
        (
            "e = Expand (x, sh) r = Min (n, four) v, i = TopK (e, r) s = ReduceSum "
            "<keepdims = 1> (v, one) y = Add (x, s)"
        ),
        "int64[2] sh = {1, 4}",
    ),
    "onehot of the size": _text(
        (
            "m = Squeeze (n, zero) a = ArgMax <axis = 1, keepdims = 0> (x) d = Add (m, k) "
            "h = OneHot (a, d, vals) s = ReduceSum (h, one) x2 = Neg (x) w = Shape (h) v "
            "= Gather (w, one) cf = Cast <to = 1> (v) c = Greater (cf, th2) y = Where (c, "
            "x, x2)"
        ),
        "float[2] vals = {0, 1}, float[1] th2 = {12.5}",
    ),
    "trilu of the size": _text(
        (
            "n2 = Concat <axis = 0> (n, n) e = ConstantOfShape (n2) u = Add (e, half) t0 "
            "= Trilu (u) s = ReduceSum (t0, one) y = Add (x, s)"
        ),
        "float half = {1}",
    ),
    "pad of a size": _text(
        "q = Max (n, six) r = Sub (q, six) pz = Concat <axis = 0> (zero, r, zero, "
        "zero) w = Pad (x, pz) s = ReduceSum (w, one) c = Shape (w) d = Gather (c, "
        "one) f = Cast <to = 1> (d) y = Add (x, f)"
    ),
    "tile by a size": _text(
        (
            "r0 = Max (n, six) r1 = Sub (r0, five) r = Concat <axis = 0> (one, r1) w = "
            "Tile (x, r) s = ReduceSum (w, one) y = Add (x, s)"
        ),
        "int64[1] five = {5}",
    ),
    "split sizes": _text(
        (
            "r = Min (n, three) q = Sub (four, r) sp = Concat <axis = 0> (r, q) a, b = "
            "Split <axis = 1> (x, sp) s = ReduceSum (a, one) y = Add (x, s)"
        ),
        "int64[1] three = {3}",
    ),
    "slice of features by a size": _text(
        "r = Min (n, four) w = Slice (x, zero, r, one) s = ReduceSum (w, one) y = Add (x, s)"
    ),
    "resize by a size": _text(
        (
            "u = Unsqueeze (x, one) q = Max (n, six) r = Sub (q, two) sz = Concat <axis = "
            '0> (n, one, r) w = Resize <mode = "nearest"> (u, , , sz) v = Squeeze (w, '
            "one) s = ReduceSum (v, one) y = Add (x, s)"
        ),
        "int64[1] two = {2}",
    ),
    "scatter by place": _text(
        (
            "m = Squeeze (n, zero) r = Range (z, m, o) p = Unsqueeze (r, one) q = Mod (p, "
            "six) f = Cast <to = 1> (q) y = ScatterND (x, p, up)"
        ),
        "float[1, 4] up = {9, 9, 9, 9}",
    ),
    "nonzero": _text(
        (
            "q = Greater (x, nul) r = NonZero (q) w = Shape (r) v = Gather (w, one) f = "
            "Cast <to = 1> (v) y = Add (x, f)"
        ),
        "float nul = {0}",
    ),
    "dynamic quantization": _text(
        "q, s, p = DynamicQuantizeLinear (x) y = DequantizeLinear (q, s, p)"
    ),
    "size as a factor": _text("f = Cast <to = 1> (n) y = Mul (x, f)"),
    "the size of all": _text("a = Size (x) q = Div (a, k) f = Cast <to = 1> (q) y = Add (x, f)"),
    "maxpool indices": (
        "g (float[1, 1, 2, 2] x) => (float[1, 1, 1, 1] y, int64[1, 1, 1, 1] i) { y, i "
        "= MaxPool <kernel_shape = [2, 2]> (x) }"
    ),
    "reverse of items": _text(
        "w = Slice (x, minus, least, zero, minus) y = Add (x, w)",
        "int64[1] minus = {-1}, int64[1] least = {-9223372036854775807}",
    ),
    "training batch norm": (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1, 2, 3] x) => (float[1, '
        "2, 3] y) <float[2] s = {1, 2}, float[2] b = {0, 1}, float[2] m = {0, 0}, "
        "float[2] v = {1, 1}> { y, mm, vv = BatchNormalization <training_mode = 1> "
        "(x, s, b, m, v) }"
    ),
    "size through a body": _text(
        "m = Squeeze (n, zero) c = Greater (k, z) w = If (c) <then_branch = a () => "
        "(int64 p) { p = Identity (m) }, else_branch = b () => (int64 q) { q = "
        "Identity (z) }> d = Greater (w, k) e = Neg (x) y = Where (d, e, x)"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_at_some_size_is_not_shown(name: str) -> None:
    case = freed(WRONG[name])
    assert case.wrong_at(), "the model is to be wrong somewhere"
    assert not case.shown.every
    assert case.shown.found.doubts


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("greater", {5, 6, 7}),
        ("mod", {5, 6, 7}),
        ("positions from a table", {5, 6, 7}),
        ("float threshold", {5, 6, 7}),
        ("cast uint8", {254, 255, 256}),
        ("cast int8", {126, 127, 128}),
        ("int32 that overflows", {213, 214, 215}),
        ("square", {49, 50, 51}),
        ("range as values", {99, 100, 101}),
    ],
)
def test_both_sides_of_a_constant_are_sizes_to_try(name: str, near: set[int]) -> None:
    assert near <= set(freed(WRONG[name]).shown.sizes(1))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[mean] e = ReduceMean <axes = [0]> (x) d = Sub (x, e) y = Relu (d)", "'mean'"),
        ("[pick] q = Squeeze (x) f = Gather <axis = 0> (q, zero) y = Add (x, f)", "'pick'"),
        ("[wide] w = Expand (x, sh) [mix] m = ReduceSum (w, zero) y = Add (x, m)", "'wide'"),
    ],
)
def test_what_cannot_be_followed_is_refused(body: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        freed(_text(body, "int64[2] sh = {3, 4}"))
