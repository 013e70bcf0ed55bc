"""gemm-fusion: a product of two matrices and a constant row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved, drawn

PASS = "gemm-fusion"
BODY = """@w = Constant <value = TYPE[3, 2] {1.0, 2.0, -3.0, 4.0, 0.5, 0.25}> ()
    @b = Constant <value = TYPE[2] {0.5, -1.5}> ()
    @m = MatMul (x, @w) @s = Add (@b, @m)
    @v = Constant <value = TYPE[2, 3] {1.0, 2.0, -3.0, 4.0, 0.5, 0.25}> () @y = MatMul (@s, @v)"""


def text(bias: str = "float[2] b = {0.5, -1.5}", x: str = "float[N, 3]", y: str = "N, 2") -> str:
    kind = x.partition("[")[0]
    return f"""<ir_version: 8, opset_import: ["" : 17]>
    g ({x} x, {kind}[3, 2] w) => ({kind}[{y}] y) <{bias}> {{ m = MatMul (x, w) y = Add (m, b) }}"""


def test_wherever_they_are_and_in_other_dtypes() -> None:
    ops = ["Gemm", "MatMul"]
    assert_fused(PASS, BODY, (4, 3), ops, opset=13, typed="N, 3", dtypes=("float", "double"))
    assert_fused(PASS, BODY, (4, 3), ops, opset=13, dtypes=("float16",))


@pytest.mark.parametrize(
    "bias",
    [
        "float[2] b = {0.5, -1.5}",
        "float[1, 2] b = {0.5, -1.5}",
        "float b = {2.0}",
        "float[1] b = {2.0}",
    ],
)
def test_each_shape_of_what_is_added(bias: str) -> None:
    feeds = [{"x": drawn((4, 3)), "w": drawn((3, 2))}]
    assert_rewrite(PASS, text(bias), feeds=feeds, after=["Gemm"], rtol=1e-5, atol=1e-5)
    assert assert_proved(PASS, text(bias)) == ["Gemm"]


def test_refusals_and_others() -> None:
    three = text(x="float[5, N, 3]", y="5, N, 2")
    assert_refused(PASS, three, "both operands of the product must have rank 2; they have 3 and 2")
    whole = text("int32[2] b = {1, 2}", x="int32[N, 3]")
    assert_refused(PASS, whole, "the operands must be floats, which engines support; they are int")
    column = text("float[4, 1] b = {0.5, -1.5, 1.0, 2.0}", x="float[4, 3]", y="4, 2")
    assert_unmatched(PASS, column, "must be a row or a number; it is the constant 'b'")
    assert_left_alone_with_a_reader(PASS, text(), "m")


@given(st.integers(1, 5), st.integers(1, 5))
def test_any_sizes(rows: int, seed: int) -> None:
    feeds = [{"x": drawn((rows, 3), seed=seed), "w": drawn((3, 2), seed=seed + 9)}]
    assert_rewrite(PASS, text(), feeds=feeds, after=["Gemm"], rtol=1e-5, atol=1e-5)
