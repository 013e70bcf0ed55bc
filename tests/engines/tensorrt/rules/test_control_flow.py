from __future__ import annotations

import pytest

from tests.engines.cases import No, Yes, assert_no, assert_yes, check, model_of

BODY = (
    " <body = b (int64 i, bool d, float[2] s) => (bool e, float[2] r) "
    "{ e = Identity (d) f = Cast <to = 1> (i) r = Add (s, f) }> }"
)
LOOP = "(float[2] x, bool c) => (float[2] y) <int64 n = {%s}> { y = Loop (%s, x)" + BODY
BLIND = LOOP.replace("r = Add (s, f)", "r = Add (s, s)").replace("f = Cast <to = 1> (i) ", "")
COUNT = (
    "(int64 n, bool t, float[4,2] x, float[2] h) => (float[2] y) { y = Loop (n, t, h) "
    "<body = b (int64%s i, bool c, float[2] s) => (bool d, float[2] r) <int64[1] one = {1}, "
    "int64[1] two = {2}> { d = Identity (c) %s }> }"
)
PICKED = "row = Gather (x, i) flat = Reshape (row, two) r = Add (s, flat)"
SQUEEZED = "k = Squeeze (i) row = Gather (x, k) flat = Reshape (row, two) r = Add (s, flat)"
FACTOR = "f = Cast <to = 1> (i) g = Neg (f) r = Mul (s, g)"
SHAPED = "k = Reshape (i, one) row = Gather (x, k) flat = Reshape (row, two) r = Add (s, flat)"
CHOICE = (
    "(float[2] x) => (float[2] y) %s { y = If (c) "
    "<then_branch = t () => (float[2] a) { a = Relu (x) }, "
    "else_branch = e () => (float[2] b) <int16 w = {1}> { b = Det (x) }> }"
)
YES = [
    *(
        Yes(
            LOOP % (trips, given),
            "loop-unset-input",
            "form:Loop.unset-input",
            "reject",
            "not registered",
            target,
        )
        for target in ("trt8.6", "trt10.1")
        for trips, given in (("9223372036854775807", "n, c"), ("9", "n, "), ("9", ", c"))
    ),
    Yes(
        "(bool c, float[1,2] x) => (float[M] y) <int64[1] a = {0}> { y = If (c) "
        "<then_branch = t () => (float[2] p) { p = Squeeze (x, a) }, else_branch = e () => "
        "(float[1,2] q) { q = Relu (x) }> }",
        "if-shapes",
        "shape:If.branches",
        "reject",
        "Shapes are [2] and [1, 2]",
    ),
    Yes(COUNT % ("", PICKED), "loop-counts-trips", "form:Loop.counter", "wrong", "", "trt7.0"),
    Yes(
        COUNT % ("", FACTOR),
        "loop-counts-nothing",
        "form:Loop.counter",
        "reject",
        "tensors().count(inputName)",
        "trt7.1",
    ),
    *(
        Yes(COUNT % (size, read), "loop-counter-rank", "form:Loop.counter", "wrong", "", target)
        for size, read, target in (
            ("", PICKED, "trt7.2"),
            ("", PICKED, "trt8.5"),
            ("[1]", SQUEEZED, "trt8.6"),
            ("[1]", PICKED, "trt10.1"),
            ("[1]", PICKED, "trt-rtx1.7"),
        )
    ),
]
NO = [
    No(LOOP % ("9", "n, c"), "loop-unset-input"),
    No(BLIND % ("2147483647", "n, c"), "loop-unset-input"),
    No(BLIND % ("9", ", c"), "loop-unset-input", "trt10.1"),
    No(
        "(bool c, float[2] x) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] "
        "p) { p = Abs (x) }, else_branch = e () => (float[2] q) { q = Relu (x) }> }",
        "if-shapes",
    ),
    No(COUNT % ("", "r = Relu (s)"), "loop-counts-trips", "trt7.0"),
    No(COUNT % ("", "r = Relu (s)"), "loop-counts-nothing", "trt7.1"),
    No(COUNT % ("", PICKED), "loop-counts-trips", "trt7.1"),
    *(
        No(COUNT % (size, read), "loop-counter-rank", target)
        for size, read, target in (
            ("", PICKED, "trt8.6"),
            ("", FACTOR, "trt8.5"),
            ("", SHAPED, "trt8.5"),
            ("[1]", PICKED, "trt8.5"),
            ("[1]", SHAPED, "trt10.1"),
        )
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}-{case.target}")
def test_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}-{case.opset}")
def test_says_nothing(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("target", ["trt8.6", "trt10.1"])
def test_the_branch_that_a_known_condition_excludes_is_not_judged(target: str) -> None:
    def found(condition: str) -> set[str]:
        model = model_of(CHOICE % condition)
        return {f.feature for f in check(model, target) if f.blocks}

    assert found("<bool c = {1}>") == set()
    assert found("<bool c = {0}>") == {"op:Det", "dtype:int16"}


def test_onnxruntime_reads_both_branches() -> None:
    model = model_of(CHOICE.replace("Det", "my.domain.Op") % "<bool c = {1}>")
    found = [(f.feature, f.node.op) for f in check(model, "ort-1.17") if f.blocks]
    assert found == [("op:my.domain::Op", "Op")]
