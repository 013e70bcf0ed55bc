"""group-normalization-fusion: what both exporters of PyTorch write."""

import pytest

from graphfix.testing import assert_refused, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "group-normalization-fusion"
BODY = """
    @g = Constant <value = int64[3] {0, 2, -1}> ()
    @ones = Constant <value = TYPE[2] {1.0, 1.0}> ()
    @zeros = Constant <value = TYPE[2] {0.0, 0.0}> ()
    @w = Constant <value = TYPE[4, 1, 1] {0.5, -1.5, 2.0, 1.0}> ()
    @b = Constant <value = TYPE[4, 1, 1] {0.25, 1.5, -2.0, 0.0}> ()
    @k = Reshape (x, @g) @i = InstanceNormalization <epsilon = 0.001> (@k, @ones, @zeros)
    BACK
    @o = Reshape (@i, @f) @s = Mul (@o, @w) @y = Add (@s, @b)
"""
COMPUTED = BODY.replace("BACK", "@f = Shape (x)")
FROZEN = BODY.replace("BACK", "@f = Constant <value = int64[4] {2, 4, 3, 5}> ()")


def text(body: str, dims: str = "2, 4, 3, 5", opset: int = 21) -> str:
    plain = body.replace("TYPE", "float")
    whole = written(plain, f"float[{dims}] x", f"float[{dims}]", opset=opset)
    return whole.replace("ir_version: 9", "ir_version: 10")


@pytest.mark.parametrize("body", [COMPUTED, FROZEN])
def test_the_scale_and_the_bias_go_inside(body: str) -> None:
    assert assert_proved(PASS, text(body)) == ["GroupNormalization"]
    assert_fused(PASS, body, (2, 4, 3, 5), ["GroupNormalization"], opset=21)


def test_the_shape_may_have_another_reader() -> None:
    both = COMPUTED + "@z = Cast <to = 1> (@f)"
    model = text(both).replace("y) {", "y, float[4] z) {")
    assert assert_proved(PASS, model) == ["Shape", "GroupNormalization", "Cast"]


def test_free_sizes() -> None:
    assert assert_proved(PASS, text(COMPUTED, "N, 4, H, W")) == ["GroupNormalization"]


def test_float16() -> None:
    ops = ["GroupNormalization"]
    assert_fused(PASS, FROZEN, (2, 4, 3, 5), ops, opset=21, dtypes=("float16",))


def test_refusals_and_others() -> None:
    assert_refused(PASS, text(COMPUTED, opset=18), "GroupNormalization needs opset 21")
    assert_refused(PASS, text(COMPUTED, "N, C, H, W"), "the number of channels must be known")
    other = FROZEN.replace("{2, 4, 3, 5}", "{2, 4, 5, 3}")
    reason = "the second Reshape must restore the shape (2, 4, 3, 5); it makes [2, 4, 5, 3]"
    turned = text(other).replace("(float[2, 4, 3, 5] y)", "(float[2, 4, 5, 3] y)")
    assert_refused(PASS, turned, reason)
    assert_left_alone_with_a_reader(PASS, text(COMPUTED), "i")
    scaled = COMPUTED.replace("{1.0, 1.0}", "{1.0, 2.0}")
    assert_unmatched(PASS, text(scaled), "must be ones; it is the constant 'ones'")
