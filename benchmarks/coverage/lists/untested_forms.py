"""Models of operators that no node test of onnx and no recipe is about: chance, and sequences."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.coverage.cases import Case
from benchmarks.coverage.lists.old_forms import Form, cases_of

_Y = "float[2,3] y"


def untested_forms() -> Iterator[Case]:
    """Yield the cases."""
    yield from cases_of(_of_chance(), _of_sequences(), _others())


def _of_chance() -> Iterator[Form]:
    for since in (1, 22):
        for op in ("RandomNormal", "RandomUniform"):
            text = f"r = {op} <shape = [2, 3]> () y = Mul (x, r)"
            yield Form(f"{op}-{since}", "plain", "float[2,3] x", _Y, text, text)
            text = f"y = {op}Like (x)"
            yield Form(f"{op}Like-{since}", "plain", "float[2,3] x", _Y, text, text)
    for since in (7, 22):
        text = "y = Multinomial <sample_size = 4> (x)"
        yield Form(f"Multinomial-{since}", "plain", "float[2,3] x", "int32[2,4] y", text, text)


def _of_sequences() -> Iterator[Form]:
    two = "float[2,3] x, float[2,3] z"
    made = "s = SequenceConstruct (x, z) "
    at = "p = Constant <value = int64 {0}> () "
    text = f"{made}{at} y = SequenceAt (s, p)"
    yield Form("SequenceConstruct-11", "read", two, _Y, text, "y = Identity (x)")
    text = f"{made}{at} t = SequenceErase (s, p) y = SequenceAt (t, p)"
    yield Form("SequenceErase-11", "read", two, _Y, text, "y = Identity (z)")
    text = f"{at} e = SequenceEmpty () s = SequenceInsert (e, x) y = SequenceAt (s, p)"
    yield Form("SequenceEmpty-11", "filled", two, _Y, text, "y = Identity (x)")
    for since in (15, 28):
        text = "o = Optional (x) y = OptionalGetElement (o)"
        yield Form(f"Optional-{since}", "read", "float[2,3] x", _Y, text, "y = Identity (x)")


def _others() -> Iterator[Form]:
    for since in (1, 11):
        text = "y = Squeeze <axes = [0]> (x)"
        today = "a = Constant <value_ints = [0]> () y = Squeeze (x, a)"
        yield Form(f"Squeeze-{since}", "axes", "float[1,2,3] x", _Y, text, today)
    text = "y = GlobalLpPool <p = 2> (x)"
    yield Form("GlobalLpPool-22", "plain", "float[2,3,4,5] x", "float[2,3,1,1] y", text, text)
    rois = "r = Constant <value = float[1,5] {0, 0, 0, 3, 3}> () "
    text = f"{rois} y = MaxRoiPool <pooled_shape = [2, 2]> (x, r)"
    yield Form("MaxRoiPool-22", "plain", "float[1,1,6,6] x", "float[1,1,2,2] y", text, text)
    ends = "(int64 i, bool c, float[2,3] v) => (bool d, float[2,3] w)"
    body = f"{ends} {{ d = Identity (c) w = Neg (v) }}"
    text = f"y = Loop <body = g {body}> (m, k, x)"
    yield Form("Loop-1", "three times", "int64 m, bool k, float[2,3] x", _Y, text, text)
