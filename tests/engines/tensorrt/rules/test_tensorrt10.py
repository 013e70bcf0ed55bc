"""What the parser refuses since 10.0."""

from __future__ import annotations

import pytest

from tests.engines.cases import (
    No,
    Unknown,
    Yes,
    assert_no,
    assert_unknown,
    assert_yes,
    check,
    model_of,
)

POOL = "(float[1,2,5,5] x) => (float[A,B,C,D] y) {{ y = MaxPool <kernel_shape = [2, 2]{}> (x) }}"
PADS = "pads = [0, 0, 0, 0]"
SAME = 'auto_pad = "SAME_UPPER"'
CONV = (
    "(float[1,1,5,5] x) => (float[A,B,C,D] y) <float[1,1,1,1] w = {1}> { y = Conv "
    '<auto_pad = "SAME_LOWER", pads = [0, 0, 0, 0]> (x, w) }'
)
ANY = "(bool[2,3] x) => (bool[M,N] y) <int64[1] a = {1}> { y = ReduceMax (x, a) }"
FIVE = "(float[5] x) => (float[A] p, float[B] q, float[C] r, float[D] s) "
SPLIT = FIVE + "{ p, q, r, s = Split <num_outputs = 4> (x) }"
BOTH = (
    "(float[4] x) => (float[2] p, float[2] q) <int64[2] n = {2, 2}> "
    "{ p, q = Split <num_outputs = 2> (x, n) }"
)

YES = [
    Yes(
        CONV,
        "pads-beside-auto-pad",
        "attr:Conv.pads-beside-auto_pad",
        "reject",
        "should not be specified",
        "trt10.0",
    ),
    Yes(
        "(bool[2,3] x) => (bool[M,N] y) { y = ReduceMax <noop_with_empty_axes = 1> (x) }",
        "reduce-of-bool",
        "dtype:ReduceMax.bool",
        "reject",
        "type of BOOL",
        "trt10.1",
        20,
    ),
    Yes(ANY, "reduce-of-bool", "dtype:ReduceMax.bool", "reject", "type of BOOL", "trt10.1", 20),
    Yes(SPLIT, "split-last-chunk", "form:Split.uneven", "reject", "chunk size", "trt10.1", 18),
    Yes(BOTH, "split-twice", "form:Split.num_outputs", "reject", "not both", "trt10.1", 18),
    Yes(
        BOTH.replace("(x, n)", "(x)").replace("outputs = 2", "outputs = 3"),
        "split-twice",
        "form:Split.num_outputs",
        "reject",
        "not the same",
        "trt10.1",
        18,
    ),
]
NO = [
    No(POOL.format(f", {SAME}, {PADS}"), "pads-beside-auto-pad", "trt8.6"),
    No(ANY, "reduce-of-bool", "trt8.6", 20),
    No(ANY.replace("bool", "float"), "reduce-of-bool", "trt10.1", 20),
    No(
        "(float[2] x) => (float[M] y) { q = my.domain.Op (x) y = ReduceSum (q) }",
        "reduce-of-bool",
        "trt10.1",
    ),
    No(SPLIT.replace("float[5]", "float[7]"), "split-last-chunk", "trt10.1", 18),
    No(SPLIT.replace("float[5]", "float[N]"), "split-last-chunk", "trt10.1", 18),
    No(SPLIT, "split-last-chunk", "trt8.6", 18),
    No(BOTH.replace("<num_outputs = 2> ", ""), "split-twice", "trt10.1", 18),
]
UNKNOWN = [
    Unknown(
        "(float[2] x) => (float[M] y) { q = my.domain.Op (x) y = ReduceMax (q) }",
        "reduce-of-bool",
        "dtype of q",
        "trt10.1",
        20,
    ),
]
FUNCTION = '<domain: "local", opset_import: ["" : 17]> Clip2 (a, b) => (c) { c = Clip (a, b) }'


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_does_not_know(case: Unknown) -> None:
    assert_unknown(case)


def test_the_call_of_a_function_gives_every_input() -> None:
    call = "(float[2] x, float l) => (float[2] y) {{ y = local.Clip2 ({}) }}"
    found = {
        given: [
            (f.feature, f.node.op)
            for f in check(model_of(call.format(given), functions=FUNCTION), "trt10.1")
            if f.rule == "function-inputs"
        ]
        for given in ("x, l", "x")
    }
    assert found == {"x, l": [], "x": [("form:function.inputs", "Clip2")]}
