from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes

_LSTM = "(float[2,1,2] x, float[1,8,2] w, float[1,8,2] r, float[1,1,2] s) => (float[A,B,C] h) "
YES = [
    Yes(
        f"{_LSTM}{{ , h = LSTM <hidden_size = 2> (x, w, r, , , s) }}",
        "omitted-output",
        "form:outputs.omitted",
        "reject",
        "Failed to sort the model",
    ),
    Yes(
        f"{_LSTM}{{ c = Clip (x, , ) , h = LSTM <hidden_size = 2> (c, w, r) }}",
        "omitted-output",
        "form:outputs.omitted",
        "reject",
        "Failed to sort the model",
        "trt10.1",
    ),
    *(
        Yes(
            f"(float[2,2] x) => (float[A,B] y) {{ y = {call} }}",
            "unset-input",
            f"form:{call.partition(' ')[0]}.unset-input",
            "reject",
            "null tensor",
            target,
        )
        for call in ('Trilu (x, "")', 'Gemm (x, x, "")', 'Squeeze (x, "")')
        for target in ("trt8.6", "trt10.1")
    ),
    Yes(
        "(float[2] x) => (float[A,B] y) <int64[1] a = {0}> { y = Unsqueeze (x, a) }",
        "form-of-other-opset",
        "form:Unsqueeze.other-opset",
        "reject",
        "Attribute not found",
        opset=11,
    ),
    Yes(
        "(float[2] x) => (float[A] y) { y = Slice <starts = [0], ends = [1]> (x) }",
        "form-of-other-opset",
        "form:Slice.other-opset",
        "reject",
        "3 - 5 inputs",
        "trt10.1",
    ),
    Yes(
        "(float[2] x) => (float[A] y) { y, i = TopK <k = 1> (x) }",
        "form-of-other-opset",
        "form:TopK.other-opset",
        "reject",
        "X and K",
    ),
]
NO = [
    No(
        "(float[2] x) => (float[A] y) { y = Slice <starts = [0], ends = [1]> (x) }",
        "form-of-other-opset",
        opset=9,
    ),
    No(f"{_LSTM}{{ , h = LSTM <hidden_size = 2> (x, w, r) }}", "omitted-output"),
    No(
        f"{_LSTM}{{ , g = LSTM <hidden_size = 2> (x, w, r) h = Clip (g, , ) }}",
        "omitted-output",
    ),
    No(f"{_LSTM}{{ g, h = LSTM <hidden_size = 2> (x, w, r, , , s) }}", "omitted-output"),
    No("(float[2,2] x) => (float[A,B] y) { y = Trilu (x) }", "unset-input"),
    No('(float[1,2] x) => (float[A] y) { y = Squeeze (x, "") }', "unset-input", opset=11),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.graph[-30:]}")
def test_says_nothing(case: No) -> None:
    assert_no(case)
