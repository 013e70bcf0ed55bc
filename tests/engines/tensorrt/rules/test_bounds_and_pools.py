from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

FD = "trt6-fulldims"
NORM = (
    "(float[1,2,3,3] x{more}) => (float[1,2,3,3] y) {given}"
    "{{ y = BatchNormalization (x, s, b, m, v) }}"
)
CONSTANT = "<{t}[2] s = {{1, 1}}, {t}[2] b = {{0, 0}}, {t}[2] m = {{0, 0}}, {t}[2] v = {{1, 1}}> "

MAX, MIN = 2**63 - 1, -(2**63)


def sliced(
    starts: int, ends: int, target: str, axis: int = 1, step: int = 0
) -> tuple[str, str, str, int]:
    """Return a Slice by attributes, or with a step by inputs, for the rule about its bounds."""
    shape = "(float[1,6] x) => (float[a,b] y)"
    graph = f"{shape} {{ y = Slice <axes = [{axis}], starts = [{starts}], ends = [{ends}]> (x) }}"
    if step:
        given = zip("seat", (starts, ends, axis, step), strict=True)
        constants = ", ".join(f"int64[1] {name} = {{{number}}}" for name, number in given)
        graph = f"{shape} <{constants}> {{ y = Slice (x, s, e, a, t) }}"
    return graph, "slice-bounds-beyond-int32", target, 10 if step else 9


YES = [
    *(
        Yes(graph, rule, "form:Slice.beyond-int32", "wrong", "", target, opset)
        for graph, rule, target, opset in (
            sliced(2, MAX, "trt5.1"),
            sliced(0, MAX, "trt5.1"),
            sliced(MIN, 4, "trt5.1"),
            sliced(2, MAX, "trt6"),
            sliced(0, MIN + 1, "trt6"),
            sliced(0, MAX, "trt6", step=2),
            sliced(MIN, 4, FD),
        )
    ),
    Yes(
        "(float[1,2,3,4] x) => (float[a,b,c,d] y) "
        "{ y = Slice <axes = [3], starts = [0], ends = [2]> (x) }",
        "slice-bounds-by-position",
        "form:Slice.axes",
        "wrong",
        "",
        "trt6",
        9,
    ),
    Yes(
        "(float[1,2,3,4] x) => (float[a,b,c,d] y) "
        "{ y = Slice <axes = [-1], starts = [0], ends = [2]> (x) }",
        "slice-negative",
        "form:Slice.negative",
        "wrong",
        "",
        FD,
        9,
    ),
    Yes(
        "(float[1,2,4,4] x) => (float[a,b,c,d] y) "
        "{ y = AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 0]> (x) }",
        "average-pool-pads",
        "attr:AveragePool.asymmetric-pads",
        "reject",
        "supported_form_of_asymmetric_padding_for_AveragePool",
        "trt7",
        11,
    ),
    Yes(
        "(float[1,2,H,4] x) => (float[1,2,1,1] y) { y = GlobalMaxPool (x) }",
        "global-pool-dynamic",
        "shape:GlobalMaxPool.dynamic",
        "reject",
        "dynamic spatial dimensions",
        FD,
        9,
    ),
    Yes(
        NORM.format(
            more=", float[2] s",
            given=CONSTANT.format(t="float").replace("float[2] s = {1, 1}, ", ""),
        ),
        "batch-norm-parameters",
        "const:BatchNormalization.scale",
        "reject",
        "scale_weights.type",
        "trt6",
        9,
    ),
]

NO = [
    *(
        No(*case)
        for case in (
            sliced(0, MAX, "trt5.1", axis=0),  # the batch is not cut
            sliced(0, MAX, "trt6"),  # a cut that takes all is passed through
            sliced(0, MAX, "trt6", step=1),
            sliced(2, 2**31 - 1, "trt5.1"),
            sliced(2, MAX, FD),
            sliced(2, MAX, "trt7.0"),
        )
    ),
    No(
        "(float[1,2,3,4] x) => (float[a,b,c,d] y) "
        "{ y = Slice <axes = [1, 2], starts = [0, 0], ends = [2, 1]> (x) }",
        "slice-bounds-by-position",
        "trt6",
        9,
    ),
    No(
        "(float[1,2,3,4] x) => (float[a,b,c,d] y) "
        "{ y = Slice <axes = [3], starts = [0], ends = [2]> (x) }",
        "slice-negative",
        FD,
        9,
    ),
    No(
        "(float[1,2,4,4] x) => (float[a,b,c,d] y) "
        "{ y = AveragePool <kernel_shape = [2, 2], pads = [0, 1, 1, 1]> (x) }",
        "average-pool-pads",
        "trt7",
        11,
    ),
    No(
        "(float[1,2,4,4] x) => (float[a,b,c,d] y) "
        "{ y = AveragePool <kernel_shape = [2, 2], pads = [1, 0, 0, 0]> (x) }",
        "average-pool-pads",
        "trt8.0",
        11,
    ),
    No(
        "(float[N,2,4,4] x) => (float[N,2,1,1] y) { y = GlobalAveragePool (x) }",
        "global-pool-dynamic",
        FD,
        9,
    ),
    No(NORM.format(more="", given=CONSTANT.format(t="float")), "batch-norm-parameters", "trt6", 9),
]

UNKNOWN = [
    Unknown(
        "(float[1,2,3,4] x, int64[1] a, int64[1] b, int64[1] c) => (float[p,q,r,s] y) "
        "{ y = Slice (x, a, b, c) }",
        "slice-negative",
        "axes of Slice",
        FD,
        10,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: case.rule)
def test_finds(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: case.rule)
def test_leaves(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.rule)
def test_does_not_know(case: Unknown) -> None:
    assert_unknown(case)
