"""TFLite: pads before a window."""

from __future__ import annotations

import pytest

from graphfix import run
from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes, model_of

TARGET = "tflite1.29"
PADDED = (
    "(float[1,2,9,7] x) => (float[1,2,A,B] y) <int64[8] p = {0,0,PAD,1,0,0,2,2}, float z = {ZERO}>"
    " { h = OP (x) q = Pad (h, p, z) y = MaxPool <kernel_shape = [3,3] AUTO> (q) }"
)


def padded(*, op: str = "Relu", pad: int = 1, zero: float = 0.0, auto: str = "") -> str:
    named = f', auto_pad = "{auto}"' if auto else ""
    text = PADDED.replace("OP", op).replace("PAD", str(pad)).replace("ZERO", str(zero))
    return text.replace("AUTO", named)


@pytest.mark.parametrize("auto", ["VALID", "SAME_UPPER"])
def test_pads_that_are_left_out(auto: str) -> None:
    feature = "attr:MaxPool.auto_pad"
    rule = "pads-of-a-pad-left-out"
    assert_yes(Yes(padded(auto=auto), rule, feature, "wrong", "", TARGET))
    assert_no(No(padded(), rule, TARGET))
    assert_no(No(padded(auto=auto, zero=1.5), rule, TARGET))
    assert_no(No(padded(auto=auto, pad=-1), rule, TARGET))


def test_pads_that_are_computed() -> None:
    text = padded(auto="VALID").replace("h = ", "r = Neg (p) s = Neg (r) h = ")
    text = text.replace("h, p", "h, s")
    assert_unknown(Unknown(text, "pads-of-a-pad-left-out", "values of s", TARGET))
    text = text.replace("Relu", "Neg")
    assert_unknown(Unknown(text, "zeros-beside-negative-numbers", "values of s", TARGET))


def test_they_are_explicit() -> None:
    result = run(model_of(padded(auto="VALID")), TARGET, trust_rules=True)
    assert result.exit_code == 0
    (pool,) = [node for node in result.model.graph.nodes if node.op == "MaxPool"]
    assert "auto_pad" not in pool.attrs


def test_zeros_next_to_negative_numbers() -> None:
    rule = "zeros-beside-negative-numbers"
    feature = "form:MaxPool.padded-with-zeros"
    assert_yes(Yes(padded(op="Neg"), rule, feature, "wrong", "", TARGET))
    assert_no(No(padded(op="Relu"), rule, TARGET))
    assert_no(No(padded(op="Neg", zero=-1.5), rule, TARGET))
