"""Sums that OpenCV 4 computes within a Conv: each of these graphs was asked of 4.10.0."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes, check, model_of

RULE, FEATURE = "sum-within-conv", "form:Add.within-conv"
OLD, NEW = "opencv4.10", "opencv5.0"
W = "<float[4,4,1,1] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}, float[2,2,1,1] v = {1,2,3,4}>"
ENDS = f"(float[1,2,4,4] x, float[1,4,4,4] z) => (float[1,4,4,4] y) {W}"
ONE = "<kernel_shape = [1, 1]>"
TWO_NEGATED = "a = Neg (x) b = Abs (x)"
CONV = f"d = Conv {ONE} (z, w)"
JOINED = "k = Concat <axis = 1> (a, b)"
WEIGHTS = "(float[1,4,4,4] x, float[1,4,4,4] z, float[4,4,1,1] w) => (float[1,4,4,4] y)"
BN = "g = BatchNormalization (d, s, s, s, s)"

REFUSED = [
    f"{ENDS} {{ {TWO_NEGATED} {JOINED} {CONV} y = Add (d, k) }}",
    f"{ENDS} {{ {TWO_NEGATED} {JOINED} {CONV} y = Add (k, d) }}",
    f"{ENDS} {{ {TWO_NEGATED} {JOINED} {CONV} s = Add (d, k) y = Relu (s) }}",
    f"{ENDS} {{ {TWO_NEGATED} {JOINED} {CONV} e = Identity (d) y = Add (e, k) }}",
    f"{ENDS} {{ {TWO_NEGATED} {JOINED} {CONV} s = Constant <value = float[4] {{1,2,3,4}}> ()"
    f" {BN} y = Add (g, k) }}",
    f"{ENDS} {{ a = MaxPool {ONE} (x) b = AveragePool {ONE} (x) {JOINED} {CONV} y = Add (d, k) }}",
    f"{WEIGHTS} {{ b = Abs (x) d = Conv {ONE} (z, w) y = Add (d, b) }}",
    f"{ENDS.replace('1,2,4', '1,8,4')} {{ u, b = Split <axis = 1> (x) {CONV} y = Add (d, b) }}",
]


@pytest.mark.parametrize("graph", REFUSED)
def test_refused(graph: str) -> None:
    opset = 11 if "Split" in graph else 17
    assert_yes(Yes(graph, RULE, FEATURE, "reject", "fuseLayers", OLD, opset))
    assert_no(No(graph, RULE, NEW, opset))


def test_open_sizes() -> None:
    graph = REFUSED[0].replace("1,2,4,4", "1,2,4,N").replace("1,4,4,4", "1,4,4,N")
    found = [each for each in check(model_of(graph), OLD) if each.rule == RULE]
    assert [(each.certain, each.missing) for each in found] == [(False, "sizes of k")]
