"""swish-fusion: x * sigmoid(alpha * x)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "swish-fusion"
PLAIN = "@s = Sigmoid (x) @y = Mul (x, @s)"
SLOPED = """@k = Constant <value = TYPE {1.75}> () @m = Mul (@k, x) @s = Sigmoid (@m)
    @y = Mul (@s, x)"""


def text(body: str, opset: int = 24) -> str:
    return written(body.replace("TYPE", "float"), "float[N] x", "float[N]", opset=opset).replace(
        "ir_version: 9", "ir_version: 10"
    )


def test_values_wherever_they_are() -> None:
    for body in (PLAIN, SLOPED):
        assert_fused(
            PASS,
            body,
            (5,),
            ["QuickGelu"],
            opset=17,
            typed="N",
            dtypes=("float",),
            options={"contrib": True},
        )


def test_at_opset_24() -> None:
    feeds = [{"x": np.array([-3.0, 0.0, 0.5, 9.0], np.float32)}]
    for body, alpha in ((PLAIN, 1.0), (SLOPED, 1.75)):
        done = assert_rewrite(PASS, text(body), feeds=feeds, after=["Swish"], rtol=1e-5, atol=1e-6)
        assert [a.f for a in done.after.graph.node[0].attribute] == [alpha]
    assert assert_proved(PASS, text(SLOPED)) == ["Swish"]


def test_float16_and_double() -> None:
    for body in (PLAIN, SLOPED):
        assert_fused(PASS, body, (5,), ["Swish"], opset=24, dtypes=("float16", "double"))


def test_older_opsets_and_other_gates_are_left_alone() -> None:
    assert_refused(PASS, text(PLAIN, 17), "Swish needs opset 24 or the option contrib")
    assert_left_alone_with_a_reader(PASS, text(PLAIN), "s")
    assert_unmatched(PASS, text("@s = Tanh (x) @y = Mul (x, @s)"), "must be computed by Sigmoid")


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6))
def test_any_numbers(numbers: list[float]) -> None:
    feed = {"x": np.array(numbers, np.float32)}
    assert_rewrite(PASS, text(SLOPED), feeds=[feed], rtol=1e-4, atol=1e-5)
