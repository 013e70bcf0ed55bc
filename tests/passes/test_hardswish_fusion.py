"""hardswish-fusion: both definitions, in any order of their products."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "hardswish-fusion"
CLIPPED = """
    @zero = Constant <value = TYPE {0.0}> ()
    @three = Constant <value = TYPE {3.0}> ()
    @six = Constant <value = TYPE {6.0}> ()
    @sixth = Constant <value = TYPE {0.1666666716337204}> ()
    @a = Add (@three, x) @c = Clip (@a, @zero, @six)
"""
FORMS = [
    "@h = HardSigmoid <alpha = 0.1666666716337204> (x) @y = Mul (x, @h)",
    CLIPPED + "@m = Mul (x, @c) @y = Div (@m, @six)",
    CLIPPED + "@m = Div (@c, @six) @y = Mul (x, @m)",
    CLIPPED + "@m = Mul (@c, @sixth) @y = Mul (@m, x)",
    CLIPPED + "@m = Mul (@sixth, x) @y = Mul (@c, @m)",
]


def text(body: str, opset: int = 17) -> str:
    return written(body.replace("TYPE", "float"), "float[N] x", "float[N]", opset=opset)


@pytest.mark.parametrize("form", FORMS)
def test_values_wherever_they_are(form: str) -> None:
    assert_fused(PASS, form, (9,), ["HardSwish"], opset=14, typed="N")
    assert assert_proved(PASS, text(form)) == ["HardSwish"]


def test_float16() -> None:
    assert_fused(PASS, FORMS[1], (9,), ["HardSwish"], opset=14, dtypes=("float16",))


def test_older_opsets_and_others_are_left_alone() -> None:
    assert_refused(PASS, text(FORMS[0], 13), "HardSwish needs opset 14; this is opset 13")
    assert_left_alone_with_a_reader(PASS, text(FORMS[0]), "h")
    default = text("@h = HardSigmoid (x) @y = Mul (x, @h)")
    assert_unmatched(PASS, default, "alpha of HardSigmoid 'h' must be as the pattern asks")
    five = text(FORMS[1]).replace("{6.0}", "{5.0}")
    assert_unmatched(PASS, five, "must be the number 6")


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6), st.sampled_from(FORMS))
def test_any_numbers(numbers: list[float], form: str) -> None:
    feed = {"x": np.array(numbers, np.float32)}
    assert_rewrite(PASS, text(form), feeds=[feed], rtol=1e-5, atol=1e-5)
