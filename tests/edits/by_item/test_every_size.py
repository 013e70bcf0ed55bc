"""Models whose items are by themselves, whatever their number: shown, and right in onnxruntime."""

from __future__ import annotations

import pytest

from tests.edits.by_item.freed_models import freed

# Text, and the size that becomes free.
RIGHT: dict[str, tuple[str, int]] = {
    "element by element": (
        "g (float[1, 4] x) => (float[1, 4] y) <float[4] b = {1, 2, 3, 4}> "
        "{ a = Add (x, b) c = Sigmoid (a) y = Mul (a, c) }",
        1,
    ),
    "rows of a larger size": (
        "g (float[4, 3] x) => (float[4, 2] y) <float[3, 2] w = {1, 2, 3, 4, 5, 6}> "
        "{ p = MatMul (x, w) y = Softmax (p) }",
        4,
    ),
    "heads by sizes that are computed": (
        "g (float[1, 3, 4] x) => (float[1, 3, 4] y) "
        "<int64[1] zero = {0}, int64[3] rest = {3, 2, 2}, int64[2] back = {3, 4}> "
        "{ s = Shape (x) n = Gather (s, zero) h = Concat <axis = 0> (n, rest) "
        "a = Reshape (x, h) b = Transpose <perm = [0, 2, 1, 3]> (a) "
        "t = Transpose <perm = [0, 1, 3, 2]> (b) q = MatMul (b, t) w = Softmax (q) "
        "v = MatMul (w, b) c = Transpose <perm = [0, 2, 1, 3]> (v) "
        "f = Concat <axis = 0> (n, back) y = Reshape (c, f) }",
        1,
    ),
    "images": (
        "g (float[1, 2, 4, 4] x) => (float[1, 2] y) <float[2, 2, 3, 3] w = {"
        + ", ".join(str(i - 17) for i in range(36))
        + "}, int64[2] last = {2, 3}> "
        "{ c = Conv <pads = [1, 1, 1, 1]> (x, w) r = Relu (c) "
        "p = MaxPool <kernel_shape = [2, 2]> (r) "
        "y = ReduceMean <axes = [2, 3], keepdims = 0> (p) }",
        1,
    ),
    "a size as int32, in half a shape": (
        "g (float[1, 4] x) => (float[1, 2, 2] y) "
        "<int64[1] zero = {0}, int32[1] two = {2}, int64[2] half = {2, 2}> "
        "{ s = Shape (x) n = Gather (s, zero) i = Cast <to = 6> (n) d = Mul (i, two) "
        "e = Div (d, two) j = Cast <to = 7> (e) c = Concat <axis = 0> (j, half) "
        "y = Reshape (x, c) }",
        1,
    ),
    "a comparison that is the same for every size": (
        "g (float[1, 4] x) => (float[1, 4] y) <int64[1] zero = {0}> "
        "{ s = Shape (x) n = Gather (s, zero) c = Greater (n, zero) m = Neg (x) "
        "y = Where (c, m, x) }",
        1,
    ),
    "minus one in a shape, as exporters write Expand": (
        "g (float[1, 4] x) => (float[1, 4] y) "
        "<int64[2] minus = {-1, -1}, int64[2] ones = {1, 1}, float[1, 1] c = {2}> "
        "{ s = Shape (x) q = Equal (s, minus) w = Where (q, ones, s) e = Expand (c, w) "
        "y = Mul (x, e) }",
        1,
    ),
    "zeros for each item": (
        "g (float[1, 3, 2] x) => (float[1, 4, 2] y) "
        "<int64[1] zero = {0}, int64[2] rest = {1, 2}> "
        "{ s = Shape (x) n = Gather (s, zero) c = Concat <axis = 0> (n, rest) "
        "t = ConstantOfShape (c) y = Concat <axis = 1> (t, x) }",
        1,
    ),
    "a state for each sequence": (
        "g (float[1, 3, 2] x) => (float[1, 3, 3] y) <float[1, 3, 2] w = {1, 2, 3, 4, 5, 6}, "
        "float[1, 3, 3] r = {1, 0, 2, 0, 1, 0, 0, 3, 1}, int64[1] at = {1}> "
        "{ t = Transpose <perm = [1, 0, 2]> (x) h, l = RNN <hidden_size = 3> (t, w, r) "
        "q = Squeeze (h, at) y = Transpose <perm = [1, 0, 2]> (q) }",
        1,
    ),
    "words from a table": (
        "g (int64[1, 3] x) => (float[1, 3, 2] y) <float[3, 2] t = {1, 2, 3, 4, 5, 6}, "
        "float[2] s = {1, 2}> { e = Gather (t, x) y = LayerNormalization (e, s) }",
        1,
    ),
    "places of the largest, and one of each": (
        "g (float[1, 5] x) => (float[1, 5] y) <int64 depth = {5}, float[2] v = {0, 1}> "
        "{ a = ArgMax <axis = 1, keepdims = 0> (x) y = OneHot (a, depth, v) }",
        1,
    ),
    "sums along letters": (
        "g (float[1, 2, 3] x) => (float[1, 2, 2] y) "
        '{ y = Einsum <equation = "bij,bkj->bik"> (x, x) }',
        1,
    ),
    "items in the middle": (
        "g (float[1, 2, 3] x) => (float[1, 6] y) <int64[2] f = {1, 6}> "
        "{ t = Transpose <perm = [1, 0, 2]> (x) g0 = Neg (t) b = Transpose <perm = [1, 0, 2]> (g0) "
        "y = Reshape (b, f) }",
        1,
    ),
    "larger images": (
        "g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) <float[4] up = {1, 1, 2, 2}> "
        '{ y = Resize <mode = "nearest"> (x, , up) }',
        1,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_it_is_shown_for_every_size(name: str) -> None:
    case = freed(*RIGHT[name])
    assert [str(doubt) for doubt in case.shown.found.doubts] == []
    assert case.shown.every
    assert case.wrong_at() == []
