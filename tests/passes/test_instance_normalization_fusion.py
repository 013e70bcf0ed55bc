"""instance-normalization-fusion: means over all axes after the channels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "instance-normalization-fusion"
BODY = """
    @one = Constant <value = TYPE {1.0}> ()
    @eps = Constant <value = TYPE {0.00001}> ()
    @w = Constant <value = TYPE[3, 1, 1] {0.5, -1.5, 2.0}> ()
    @b = Constant <value = TYPE[1, 3, 1, 1] {0.25, 1.5, -2.0}> ()
    @m = ReduceMean <axes = [2, 3]> (x) @d = Sub (x, @m) @q = Mul (@d, @d)
    @v = ReduceMean <axes = [-2, -1]> (@q) @e = Add (@eps, @v) @r = Sqrt (@e)
    @i = Div (@one, @r) @n = Mul (@i, @d)
"""
PLAIN = BODY + "@y = Identity (@n)"
SCALED = BODY + "@y = Mul (@w, @n)"
AFFINE = BODY + "@s = Mul (@w, @n) @y = Add (@s, @b)"


def text(body: str, dims: str = "2, 3, H, 5") -> str:
    return written(body.replace("TYPE", "float"), f"float[{dims}] x", f"float[{dims}]")


@pytest.mark.parametrize(
    ("body", "ops"),
    [
        (PLAIN, ["InstanceNormalization", "Identity"]),
        (SCALED, ["InstanceNormalization"]),
        (AFFINE, ["InstanceNormalization", "Add"]),
    ],
)
def test_a_scale_goes_inside_and_a_bias_stays_after(body: str, ops: list[str]) -> None:
    assert assert_proved(PASS, text(body)) == ops


def test_wherever_they_are_and_in_other_dtypes() -> None:
    one = ["InstanceNormalization"]
    assert_fused(PASS, SCALED, (2, 3, 4, 5), one, opset=17, typed="2, 3, H, 5")
    assert_fused(PASS, SCALED, (2, 3, 4, 5), one, opset=17, dtypes=("float16",))


def test_refusals_and_others() -> None:
    last = PLAIN.replace("[2, 3]", "[3]").replace("[-2, -1]", "[3]")
    reason = "the means must be over all axes after the channels; they are over [3]"
    assert_refused(PASS, text(last), reason)
    assert_refused(PASS, text(PLAIN, "2, C, H, 5"), "the number of channels must be known")
    row = SCALED.replace("TYPE[3, 1, 1] {0.5, -1.5, 2.0}", "TYPE[2] {0.5, -1.5}")
    reason = "the scale must be one value for each of 3 channels; it is [2]"
    assert_refused_in_part(text(row, "2, 3, 4, 2"), reason)
    assert_left_alone_with_a_reader(PASS, text(SCALED, "2, 3, 4, 5"), "v")
    assert_unmatched(PASS, text(SCALED.replace("Sqrt (", "Abs (")), "Sqrt")


def assert_refused_in_part(model: str, reason: str) -> None:
    """Assert that the scale stays outside of the node, and why."""
    feeds = [{"x": np.linspace(-1, 2, 48, dtype=np.float32).reshape(2, 3, 4, 2)}]
    done = assert_rewrite(PASS, model, feeds=feeds, rtol=1e-5, atol=1e-5)
    assert [op for op in done.ops if op != "Constant"] == ["InstanceNormalization", "Mul"]
    assert done.reasons == [reason]


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=6, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    feed = {"x": np.tile(np.array(numbers, np.float32), 10).reshape(2, 3, 2, 5)}
    assert_rewrite(PASS, text(SCALED), feeds=[feed], rtol=2e-3, atol=2e-3)
