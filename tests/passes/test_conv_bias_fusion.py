"""conv-bias-fusion: a constant for each channel, after Conv and ConvTranspose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_fused, assert_left_alone_with_a_reader, assert_proved, drawn

PASS = "conv-bias-fusion"
ROWS = "{0.5, -1.5, 2.0}"


def text(
    nodes: str = "n = Conv (x, w) y = Add (n, c)",
    constant: str = f"float[1, 3, 1, 1] c = {ROWS}",
    weights: str = "3, 3",
    dims: str = "N, 3, H, W",
) -> str:
    return f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[{dims}] x, float[{weights}, 3, 3] w) => (float[N, 3, P, Q] y)
    <{constant}, float[3] b = {{1.0, 2.0, 3.0}}> {{ {nodes} }}"""


FEED = {"x": drawn((2, 3, 6, 7)), "w": drawn((3, 3, 3, 3), seed=1)}


@pytest.mark.parametrize(
    ("nodes", "op"),
    [
        ("n = Conv (x, w) y = Add (n, c)", "Conv"),
        ("n = Conv <pads = [1, 2, 1, 2], strides = [2, 1]> (x, w, b) y = Add (c, n)", "Conv"),
        ("n = ConvTranspose <strides = [2, 2]> (x, w, b) y = Add (n, c)", "ConvTranspose"),
    ],
)
def test_values(nodes: str, op: str) -> None:
    done = assert_rewrite(PASS, text(nodes), feeds=[FEED], after=[op], rtol=1e-4, atol=1e-4)
    before, after = done.before.graph.node[0], done.after.graph.node[0]
    assert list(before.attribute) == list(after.attribute)
    assert assert_proved(PASS, text(nodes)) == [op]


@pytest.mark.parametrize(
    "constant", [f"float[3, 1, 1] c = {ROWS}", "float c = {0.5}", "float[1] c = {-2.0}"]
)
def test_other_shapes_of_the_constant(constant: str) -> None:
    model = text(constant=constant)
    assert_rewrite(PASS, model, feeds=[FEED], after=["Conv"], rtol=1e-4, atol=1e-4)


def test_wherever_they_are_and_in_float16() -> None:
    body = """@w = Constant <value = TYPE[3, 3, 1, 1] {1.0, 2.0, -3.0, 4.0, 0.5,
            0.25, 1.0, 0.0, -1.0}> ()
        @c = Constant <value = TYPE[1, 3, 1, 1] {0.5, -1.5, 2.0}> ()
        @n = Conv (x, @w) @y = Add (@n, @c)"""
    assert_fused(PASS, body, (2, 3, 4, 5), ["Conv"], opset=17, typed="N, 3, H, W")
    assert_fused(PASS, body, (2, 3, 4, 5), ["Conv"], opset=17, dtypes=("float16",))


def test_in_a_branch() -> None:
    nodes = """y = If (t) <then_branch = a () => (float[N, 3, P, Q] o)
          { n = Conv (x, w) o = Add (n, c) },
        else_branch = e () => (float[N, 3, P, Q] p) { p = Conv (x, w) }>"""
    model = text(nodes).replace("g (", "g (bool t, ")
    feed = {**FEED, "t": np.array(True)}
    done = assert_rewrite(PASS, model, feeds=[feed], after=["If"], rtol=1e-4, atol=1e-4)
    branch = done.after.graph.node[0].attribute[0].g
    assert [node.op_type for node in branch.node] == ["Conv"]


def test_refusals_and_others() -> None:
    width = text(constant=f"float[1, 1, 1, 3] c = {ROWS}", dims="N, 3, H, 5")
    reason = "the constant must be one value for each of 3 channels; it is [1, 1, 1, 3]"
    assert_refused(PASS, width, reason)
    assert_left_alone_with_a_reader(PASS, text(dims="2, 3, 6, 7"), "n")
    computed = text("n = Conv (x, w) k = Neg (c) m = ReduceSum <keepdims = 0> (x) y = Add (n, m)")
    assert_unmatched(PASS, computed, "must be a constant; it is computed by ReduceSum 'm'")
    late = text("n = Conv (x, w, q) q = Neg (b) y = Add (n, c)").replace(
        "n = Conv (x, w, q) q = Neg (b)", "q = Neg (b) n = Conv (x, w, q)"
    )
    assert_unmatched(PASS, late, "must be a constant; it is computed by Neg 'q'")


@given(st.lists(st.floats(-1e3, 1e3, width=32), min_size=3, max_size=3))
def test_any_numbers(numbers: list[float]) -> None:
    row = "{" + ", ".join(f"{number:.6f}" for number in numbers) + "}"
    model = text(constant=f"float[3, 1, 1] c = {row}")
    assert_rewrite(PASS, model, feeds=[FEED], after=["Conv"], rtol=1e-4, atol=1e-3)
