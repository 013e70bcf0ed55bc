"""What no drawn input passes is compared with thresholds moved alike in both models."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix.report import Verdict
from tests.proving.whole.test_models import compare

# No score is near the threshold: outputs stay empty, or filled with one number.
SCORES = (
    "(float[1, 6, 4] x) => ({}) <float[4, 3] w = {{WEIGHTS}}, float[3] b = {{-9, -9.5, -9.25}}, "
    "float t = {{0.25}}, float[1] f = {{0.25}}, int64[1] flat = {{-1}}, int64[1] most = {{9}}, "
    "float[1] iou = {{0.5}}> {{ h = Tanh (x)  m = MatMul (h, w)  a = Add (m, b)  s = Sigmoid (a)  "
    "c = Transpose <perm = [0, 2, 1]> (s)  "
).replace("WEIGHTS", "-0.25, 0.1, -0.1, 0.25, 0.05, -0.15, 0.2, 0.0, -0.2, 0.15, -0.05, -0.25")
PICKED = SCORES.format("float[n] y") + "v = Reshape (s, flat)  "
FOUND = "i = NonZero (k)  j = Transpose <perm = [1, 0]> (i)  y = GatherND (v, j) }"


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("k = Greater (v, t)  ", "n = LessOrEqual (v, t)  k = Not (n)  "),
        ("k = Less (t, v)  ", "k = Greater (v, t)  "),
        ("k = GreaterOrEqual (v, t)  ", "k = LessOrEqual (t, v)  "),
    ],
)
def test_what_passes_is_compared(tmp_path: Path, asked: str, other: str) -> None:
    found = compare(tmp_path, PICKED + asked + FOUND, PICKED + other + FOUND)
    assert found.status is Verdict.EQUAL
    assert "moved alike in both" in found.method


@pytest.mark.parametrize(
    "wrong",
    [
        "n = Mul (v, t)  k = Greater (v, n)  ",  # all pass
        "k = Greater (v, t)  u = Neg (v)  ",  # the right ones pass, with the other values
    ],
)
def test_a_fault_in_what_passes_shows(tmp_path: Path, wrong: str) -> None:
    ends = FOUND if "Neg" not in wrong else FOUND.replace("(v, j)", "(u, j)")
    found = compare(tmp_path, PICKED + "k = Greater (v, t)  " + FOUND, PICKED + wrong + ends)
    assert found.status is not Verdict.EQUAL


def test_the_score_of_a_suppression(tmp_path: Path) -> None:
    text = SCORES.format("int64[n, 3] y")
    before = text + "y = NonMaxSuppression (x, c, most, iou, f) }"
    after = text + "z = NonMaxSuppression (x, c, most, iou, f)  y = Identity (z) }"
    assert compare(tmp_path, before, after).status is Verdict.EQUAL
    turned = "two = Constant <value_ints = [2]> ()  o = Sub (two, z)  y = Abs (o)"
    wrong = after.replace("y = Identity (z)", turned)
    assert compare(tmp_path, before, wrong).status is not Verdict.EQUAL


def test_a_folded_threshold_says_nothing(tmp_path: Path) -> None:
    other = PICKED.replace("float t = {0.25}", "float u = {0.25}") + "k = Greater (v, u)  " + FOUND
    found = compare(tmp_path, PICKED + "k = Greater (v, t)  " + FOUND, other)
    assert found.status is not Verdict.MISMATCH
    assert "thresholds moved" not in found.method
