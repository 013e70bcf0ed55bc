from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

YES = [
    Yes(
        "(float[2,1,3] x, float[2,2,3] w, float[2,2,2] r) => (float[A,B,C,D] y) { y = RNN "
        '<hidden_size = 2, direction = "bidirectional", activations = ["Tanh", "Relu"]> (x, '
        "w, r) }",
        "rnn-activations",
        "attr:RNN.activations",
        "reject",
        "reverse pass",
    ),
]
NO = [
    No(
        "(float[2,1,3] x, float[2,2,3] w, float[2,2,2] r) => (float[A,B,C,D] y) { y = RNN "
        '<hidden_size = 2, direction = "bidirectional", activations = ["Relu", "Relu"]> (x, '
        "w, r) }",
        "rnn-activations",
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
