"""layer-normalization-fusion: each way to write square and root, scale and bias or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved
from tests.passes.lowering_models import written

PASS = "layer-normalization-fusion"
CONSTANTS = """
    @two = Constant <value = TYPE {2.0}> ()
    @one = Constant <value = TYPE {1.0}> ()
    @less = Constant <value = TYPE {-0.5}> ()
    @part = Constant <value = TYPE {0.5}> ()
    @eps = Constant <value = TYPE {0.00001}> ()
    @w = Constant <value = TYPE[4] {0.5, -1.5, 2.0, 1.0}> ()
    @b = Constant <value = TYPE[4] {0.25, 1.5, -2.0, 0.0}> ()
    @m = ReduceMean <axes = [-1]> (x) @d = Sub (x, @m)
"""
SQUARES = ["@q = Mul (@d, @d)", "@q = Pow (@d, @two)"]
ROOTS = [
    "@r = Sqrt (@e) @n = Div (@d, @r)",
    "@r = Pow (@e, @part) @n = Div (@d, @r)",
    "@r = Sqrt (@e) @i = Reciprocal (@r) @n = Mul (@d, @i)",
    "@r = Sqrt (@e) @i = Div (@one, @r) @n = Mul (@i, @d)",
    "@i = Pow (@e, @less) @n = Mul (@d, @i)",
]
MEAN = "@v = ReduceMean <axes = [2]> (@q) @e = Add (@eps, @v)"
AFFINE = "@s = Mul (@n, @w) @y = Add (@b, @s)"


def body(square: str = SQUARES[0], root: str = ROOTS[0], end: str = AFFINE) -> str:
    return "\n".join((CONSTANTS, square, MEAN, root, end))


def text(form: str, opset: int = 17, dims: str = "N, 3, 4") -> str:
    plain = form.replace("TYPE", "float")
    return written(plain, f"float[{dims}] x", f"float[{dims}]", opset=opset)


@pytest.mark.parametrize("square", SQUARES)
@pytest.mark.parametrize("root", ROOTS)
def test_each_form(square: str, root: str) -> None:
    assert assert_proved(PASS, text(body(square, root))) == ["LayerNormalization"]


def test_wherever_they_are_and_in_other_dtypes() -> None:
    one = ["LayerNormalization"]
    assert_fused(PASS, body(), (2, 3, 4), one, opset=17, typed="N, 3, 4")
    kept = body().replace("0.00001", "0.0000152587890625")
    assert_fused(PASS, kept, (2, 3, 4), one, opset=17, dtypes=("double", "float16"))


@pytest.mark.parametrize(
    ("end", "inputs"),
    [(AFFINE, 3), ("@y = Mul (@w, @n)", 2), ("@y = Add (@n, @b)", 3), ("@y = Identity (@n)", 2)],
)
def test_scale_and_bias_are_optional(end: str, inputs: int) -> None:
    feeds = [{"x": np.linspace(-3, 5, 24, dtype=np.float32).reshape(2, 3, 4)}]
    done = assert_rewrite(PASS, text(body(end=end)), feeds=feeds, rtol=1e-5, atol=1e-5)
    node = next(n for n in done.after.graph.node if n.op_type == "LayerNormalization")
    assert len(node.input) == inputs
    assert {a.name: a.i for a in node.attribute if a.name == "axis"} == {"axis": -1}


def test_what_does_not_fit_stays_after_the_node() -> None:
    column = "TYPE[3, 1] {1.0, 2.0, 3.0}"
    wide = body().replace("TYPE[4] {0.25, 1.5, -2.0, 0.0}", column)
    assert assert_proved(PASS, text(wide)) == ["LayerNormalization", "Add"]
    wide = body().replace("TYPE[4] {0.5, -1.5, 2.0, 1.0}", column)
    assert assert_proved(PASS, text(wide)) == ["LayerNormalization", "Mul", "Add"]


def test_a_residual_is_no_bias() -> None:
    residual = body(end="@s = Mul (@n, @w) @y = Add (x, @s)")
    assert assert_proved(PASS, text(residual)) == ["LayerNormalization", "Add"]


def test_refusals() -> None:
    assert_refused(PASS, text(body(), 16), "LayerNormalization needs opset 17; this is opset 16")
    assert_refused(PASS, text(body(), dims="N, 3, M"), "the sizes along the axes must be known")
    middle = body().replace("axes = [-1]", "axes = [1]").replace("axes = [2]", "axes = [1]")
    middle = middle.replace(AFFINE, "@y = Identity (@n)")
    assert_refused(PASS, text(middle), "the means must be over the last axes; they are over [1]")


def test_others_are_left_alone() -> None:
    assert_left_alone_with_a_reader(PASS, text(body()), "v")
    other = body().replace("axes = [2]", "axes = [1]")
    assert_unmatched(
        PASS,
        text(other, dims="N, 4, 4"),
        "axes of ReduceMean 'v' must be [2], as before; it is [1]",
    )
    cubed = body(SQUARES[1]).replace("{2.0}> ()\n    @one", "{3.0}> ()\n    @one")
    assert_unmatched(PASS, text(cubed), "must be the number 2")


def test_axes_given_as_an_input() -> None:
    late = body().replace("ReduceMean <axes = [-1]> (x)", "ReduceMean (x, @l)")
    late = late.replace("ReduceMean <axes = [2]> (@q)", "ReduceMean (@q, @l)")
    late = "@l = Constant <value = int64[1] {-1}> ()" + late
    assert assert_proved(PASS, text(late, 18)) == ["LayerNormalization"]


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=4, max_size=4))
def test_any_numbers(numbers: list[float]) -> None:
    feed = {"x": np.tile(np.array(numbers, np.float32), (1, 3, 1))}
    assert_rewrite(PASS, text(body()), feeds=[feed], rtol=2e-3, atol=2e-3)
