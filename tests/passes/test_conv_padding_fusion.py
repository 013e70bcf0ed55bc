"""conv-padding-fusion: zeros around the spatial axes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved, drawn

PASS = "conv-padding-fusion"
BODY = """@s = Constant <value = int64[6] {0, 0, 2, 0, 0, 1}> ()
        @w = Constant <value = TYPE[2, 2, 4] {1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.0,
            9.0, -1.0, 0.5, 0.25, 0.0, 1.0, 2.0, 3.0}> ()
        @p = Pad (x, @s) @y = Conv (@p, @w)"""
CONV = "y = Conv <strides = [1, 2], group = 1> (p, w)"


def text(
    pads: str = "{0, 0, 1, 0, 0, 0, 2, 3}",
    pad: str = "p = Pad (x, s)",
    conv: str = CONV,
    opset: int = 17,
) -> str:
    return f"""<ir_version: 8, opset_import: ["" : {opset}]>
    g (float[N, 2, H, W] x, float[3, 2, 3, 3] w) => (float[N, 3, P, Q] y)
    <int64[8] s = {pads}, float zero = {{0.0}}, float one = {{1.0}}> {{ {pad} {conv} }}"""


FEED = {"x": drawn((2, 2, 6, 7)), "w": drawn((3, 2, 3, 3), seed=1)}


def pads_after(model: str) -> list[int]:
    done = assert_rewrite(PASS, model, feeds=[FEED], after=["Conv"], rtol=1e-5, atol=1e-5)
    return next(list(a.ints) for a in done.after.graph.node[0].attribute if a.name == "pads")


@pytest.mark.parametrize(
    "pad", ["p = Pad (x, s)", "p = Pad (x, s, zero)", 'p = Pad <mode = "constant"> (x, s, zero)']
)
def test_pads_are_added_up(pad: str) -> None:
    assert pads_after(text(pad=pad)) == [1, 0, 2, 3]
    own = "y = Conv <pads = [1, 1, 0, 2]> (p, w)"
    assert pads_after(text(pad=pad, conv=own)) == [2, 1, 2, 5]
    valid = 'y = Conv <auto_pad = "VALID"> (p, w)'
    assert pads_after(text(pad=pad, conv=valid)) == [1, 0, 2, 3]
    assert assert_proved(PASS, text(pad=pad)) == ["Conv"]


def test_pads_as_an_attribute_up_to_opset_10() -> None:
    pad = "p = Pad <pads = [0, 0, 1, 0, 0, 0, 2, 3]> (x)"
    assert pads_after(text(pad=pad, opset=10)) == [1, 0, 2, 3]
    ones = pad.replace("[0, 0, 1, 0, 0, 0, 2, 3]", "[0, 0, 1, 0, 0, 0, 2, 3], value = 1.0")
    assert_unmatched(PASS, text(pad=ones, opset=10), "value of Pad 'p' must be as ONNX fills it in")


def test_wherever_they_are() -> None:
    assert_fused(PASS, BODY, (2, 2, 6), ["Conv"], opset=17)


def test_float16() -> None:
    assert_fused(PASS, BODY, (2, 2, 6), ["Conv"], opset=17, dtypes=("float16",))


def test_others_are_left_alone() -> None:
    assert_unmatched(PASS, text(pad="p = Pad (x, s, one)"), "must be the number 0; it is 1.0")
    edge = text(pad='p = Pad <mode = "edge"> (x, s)')
    assert_unmatched(PASS, edge, "mode of Pad 'p' must be as ONNX fills it in")
    axes = text(pad="p = Pad (x, k, zero, a)", opset=18)
    axes = axes.replace("float zero", "int64[4] k = {1, 1, 1, 1}, int64[2] a = {2, 3}, float zero")
    assert_unmatched(PASS, axes, "must have no input 3")
    assert_left_alone_with_a_reader(PASS, text(), "p")


@given(st.lists(st.integers(0, 4), min_size=4, max_size=4))
def test_any_pads(pads: list[int]) -> None:
    given_pads = f"{{0, 0, {pads[0]}, {pads[1]}, 0, 0, {pads[2]}, {pads[3]}}}"
    assert pads_after(text(given_pads)) == pads
