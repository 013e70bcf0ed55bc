"""What TensorRT for RTX has no plugin and no kernel for, and what its builder takes after all."""

from __future__ import annotations

import pytest

from tests.engines.cases import No, Unknown, Yes, assert_no, assert_unknown, assert_yes

_NMS = (
    "(float[1,9,4] b, float[1,2,9] s) => (int64[n,3] y) <int64 k = {3}, float t = {0.5}> "
    "{ y = NonMaxSuppression (b, s, k, t, t) }"
)
_ROI = (
    "(float[1,3,8,8] x, float[2,4] r, int64[2] b) => (float[2,3,1,1] y) { y = RoiAlign (x, r, b) }"
)


_GRID = "(float[1,1,2,2,2] x, float[1,2,2,2,3] g) => (float[1,1,2,2,2] y) { y = GridSample (x, g) }"


def attention(kind: str, shape: str, attributes: str = "") -> str:
    return (
        f"({kind}[{shape}] q, {kind}[{shape}] k, {kind}[{shape}] v) => ({kind}[{shape}] y) "
        f"{{ y = Attention {attributes} (q, k, v) }}"
    )


def pool(sizes: str, attributes: str) -> str:
    return f"(float[1,3,{sizes}] x) => (float[1,3,h,w] y) {{ y = AveragePool <{attributes}> (x) }}"


def if_in_loop(condition: str, computed: str = "", outer: str = "If (c)") -> str:
    """An If in a Loop in an If; the inner one has a condition."""
    inner = (
        f"If ({condition}) <then_branch = h () => (float[2] p) {{ p = Neg (v) }}, "
        "else_branch = l () => (float[2] q) { q = Abs (v) }>"
    )
    body = (
        "b (int64 i, bool k, float[2] v, bool d) => (bool ko, float[2] w, bool e) "
        f"{{ ko = Identity (k) e = Identity (d) {computed} w = {inner} }}"
    )
    loop = f"y, r = Loop (n, t, x, c) <body = {body}>"
    if outer == "none":
        return (
            f"(float[2] x, bool c) => (float[2] y) <int64 n = {{3}}, bool t = {{1}}> {{ {loop} }}"
        )
    return (
        "(float[2] x, bool c) => (float[2] z) <int64 n = {3}, bool t = {1}, float o = {0}> "
        f"{{ z = {outer} <then_branch = th () => (float[2] y) {{ {loop} }}, "
        "else_branch = el () => (float[2] u) { u = Abs (x) }> }"
    )


_MEAN = "m = ReduceMean <keepdims = 0> (v) g = Greater (m, o)"

YES = [
    *(
        Yes(
            if_in_loop(condition, computed),
            "if-in-loop-in-if",
            "form:If.in-loop-in-if",
            "builder",
            "graphScope.cpp",
            "trt-rtx1.4",
        )
        for condition, computed in (("c", ""), ("d", ""), ("g", "g = Not (c)"))
    ),
    Yes(
        "(float[2,3] x) => (int64[2,n] y) { y = NonZero (x) }",
        "nonzero-plugin",
        "form:NonZero.plugin",
        "reject",
        "NonZero plugin creator version 1 was not found",
        "trt-rtx1.6",
    ),
    Yes(_ROI, "operator-not-supported", "op:RoiAlign", "reject", "No importer", "trt-rtx1.4"),
    Yes(_NMS, "nms-kernel", "op:NonMaxSuppression", "builder", "has no runners", "trt-rtx1.7"),
    Yes(
        attention("float", "1,2,8,16"),
        "attention-kernel",
        "op:Attention",
        "builder",
        "is_decomposable",
        "trt-rtx1.7",
        23,
    ),
    Yes(
        attention("float16", "1,8,514", "<q_num_heads = 2, kv_num_heads = 2>"),
        "attention-kernel",
        "op:Attention",
        "builder",
        target="trt-rtx1.7",
        opset=23,
    ),
    Yes(
        pool("9,9", "kernel_shape = [3, 3], pads = [0, 0, 3, 0]"),
        "average-pool-wide-pads",
        "attr:AveragePool.pads",
        "reject",
        "exclusive-counting",
        "trt-rtx1.4",
    ),
    Yes(
        pool("3,3", "kernel_shape = [7, 7], strides = [2, 2], ceil_mode = 1"),
        "window-too-large",
        "shape:AveragePool.window",
        "reject",
        target="trt-rtx1.7",
    ),
    Yes(
        "(float[1,2,3,3] x, float[2,2,4,4] w) => (float[1,2,n,m] y) { y = Conv (x, w) }",
        "window-too-large",
        "shape:Conv.window",
        "reject",
        target="trt-rtx1.7",
    ),
    Yes(
        "(float[1,1,2,3] x, float[4] s) => (float[n,c,h,w] y) "
        '{ y = Resize <mode = "cubic"> (x, , s) }',
        "shape-input-of-floats",
        "io:float-shape-input",
        "builder",
        target="trt-rtx1.7",
    ),
    Yes(
        _GRID,
        "grid-sample-rank",
        "rank:GridSample.5",
        "reject",
        target="trt-rtx1.5",
        opset=20,
    ),
]


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.target}")
def test_what_it_refuses(case: Yes) -> None:
    assert_yes(case)


NO = [
    No(if_in_loop("g", _MEAN), "if-in-loop-in-if", "trt-rtx1.7"),
    No(if_in_loop("c", outer="none"), "if-in-loop-in-if", "trt-rtx1.7"),
    No(if_in_loop("c", outer="If (t)"), "if-in-loop-in-if", "trt-rtx1.7"),
    No(if_in_loop("t"), "if-in-loop-in-if", "trt-rtx1.7"),
    No("(float[2,3] x) => (int64[2,n] y) { y = NonZero (x) }", "nonzero-plugin", "trt-rtx1.5"),
    No("(float[2,3] x) => (int64[2,n] y) { y = NonZero (x) }", "nonzero-plugin", "trt11.1"),
    No(_NMS, "nms-kernel", "trt11.1"),
    No(attention("float16", "1,2,8,16"), "attention-kernel", "trt-rtx1.7", 23),
    No(
        pool("9,9", "kernel_shape = [3, 3], pads = [3, 3, 3, 3], count_include_pad = 1"),
        "average-pool-wide-pads",
        "trt-rtx1.7",
    ),
    No(
        pool("3,3", "kernel_shape = [192, 192], strides = [192, 192], ceil_mode = 1"),
        "window-too-large",
        "trt-rtx1.7",
    ),
    No(pool("3,3", "kernel_shape = [4, 4]"), "window-too-large", "trt-rtx1.7"),
    No(
        _GRID,
        "grid-sample-rank",
        "trt-rtx1.6",
        20,
    ),
    No(
        "(float[2,2] x, int32[2,2] z) => (float[2,2] y) { y = Pow (x, z) }",
        "mixed-types",
        "trt-rtx1.7",
    ),
    No(
        "(int64[3] i, float[1] x) => (float[a,b,c] y) <int64 k = {0}> "
        "{ v = CumSum (i, k) y = Expand (x, v) }",
        "no-shape-tensor",
        "trt-rtx1.4",
    ),
]


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_what_it_takes(case: No) -> None:
    assert_no(case)


def test_attention_of_an_unknown_type_is_not_judged() -> None:
    graph = "(float[1,2,8,16] x) => (y) { z = mine.Op (x) y = Attention (z, z, z) }"
    assert_unknown(Unknown(graph, "attention-kernel", "dtype of z", "trt-rtx1.7", 23))
