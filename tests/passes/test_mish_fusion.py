"""mish-fusion: x * tanh(softplus(x))."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "mish-fusion"
BODY = "@p = Softplus (x) @t = Tanh (@p) @y = Mul (@t, x)"


def text(body: str = BODY, opset: int = 18) -> str:
    return written(body, "float[N] x", "float[N]", opset=opset)


def test_values_wherever_they_are() -> None:
    assert_fused(PASS, BODY, (9,), ["Mish"], opset=18, typed="N")
    assert assert_proved(PASS, text()) == ["Mish"]


def test_float16_and_double() -> None:
    assert_fused(PASS, BODY, (9,), ["Mish"], opset=18, dtypes=("float16", "double"))


def test_older_opsets_and_others_are_left_alone() -> None:
    assert_refused(PASS, text(opset=17), "Mish needs opset 18; this is opset 17")
    assert_left_alone_with_a_reader(PASS, text(), "t")
    other = text(BODY.replace("Softplus", "Softsign"))
    assert_unmatched(PASS, other, "must be computed by Softplus; it is computed by Softsign 'p'")


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    feed = {"x": np.array(numbers, np.float32)}
    assert_rewrite(PASS, text(), feeds=[feed], rtol=1e-5, atol=1e-5)
