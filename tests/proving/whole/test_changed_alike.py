"""Outputs that never move are compared with weights changed alike in both models."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix.report import Verdict
from tests.proving.whole.test_models import compare

# The last class wins whatever is read.
SCORES = "<float[3, 3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1}, float[3] b = {0, -4000, 9000}, "
NETWORK = "s = Sigmoid (x)  p = MatMul (s, w)  q = Add (p, b)  "
ENDS = "(float[4, 3] x) => (int64[4, 1] y) "
BEFORE = ENDS + SCORES + "int64[3] t = {7, 5, 2}> {" + NETWORK
LABELS = "k = ArgMax <axis = 1> (q)  y = Gather (t, k) }"


def test_a_label_that_is_always_the_same_is_compared(tmp_path: Path) -> None:
    other = LABELS.replace("y = Gather", "z = Gather").replace(" }", "  y = Identity (z) }")
    found = compare(tmp_path, BEFORE + LABELS, BEFORE + other)
    assert found.status is Verdict.EQUAL
    assert "y with weights changed alike in both" in found.method


@pytest.mark.parametrize("table", ["{5, 7, 2}", "{2, 2, 2}"])
def test_a_fault_in_the_others_shows(tmp_path: Path, table: str) -> None:
    """The label that is always given is right, and the others are not."""
    wrong = BEFORE.replace("{7, 5, 2}", table) + LABELS
    found = compare(tmp_path, BEFORE + LABELS, wrong)
    assert found.status is Verdict.INCONCLUSIVE
    assert "output y has the same value everywhere" in found.reason


def test_what_no_weight_moves_stays_open(tmp_path: Path) -> None:
    still = ENDS + "<int64 z = {0}> { k = ArgMax <axis = 1> (x)  y = Mul (k, z) }"
    other = ENDS + "<int64 z = {0}> { k = ArgMin <axis = 1> (x)  y = Mul (k, z) }"
    assert compare(tmp_path, still, other).status is Verdict.INCONCLUSIVE


def test_a_weight_that_the_other_model_has_not_says_nothing(tmp_path: Path) -> None:
    folded = ENDS + "<int64[4, 1] c = {2, 2, 2, 2}, int64 z = {0}> { k = ArgMax <axis = 1> (x)  "
    folded += "l = Mul (k, z)  y = Add (l, c) }"
    assert compare(tmp_path, BEFORE + LABELS, folded).status is Verdict.INCONCLUSIVE
