"""integer-div-through-float: quotients cut off towards zero."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.report import APPROXIMATE, EXACT
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "integer-div-through-float"
A = np.array([7, -7, 7, -7, 0, 2**31 - 1, -(2**31)])
B = np.array([2, 2, -2, -2, 5, 2**31 - 2, 3])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_values(kind: str, place: str) -> None:
    ends = (f"{kind}[N] a, {kind}[N] b", f"{kind}[N]")
    feed = {"a": A.astype(kind), "b": B.astype(kind)}
    if place == "branch":
        feed["c"] = np.array(True)
    why = "a divisor cut to nothing has no numbers"
    text = written("@y = Div (a, b)", *ends, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], no_small_sides=why)
    wanted = [3, -3, -3, 3, 0, 1, -715827882]
    assert outputs_of(done.after, feed)["y"].tolist() == wanted
    label = EXACT if kind == "int32" else APPROXIMATE
    assert done.outcomes[0].sites[0].accuracy is label


@pytest.mark.parametrize("kind", ["int8", "int16", "uint8", "uint16", "uint32"])
def test_other_widths(kind: str) -> None:
    text = written("@y = Div (a, b)", f"{kind}[3] a, {kind}[3] b", f"{kind}[3]", opset=14)
    feed = {"a": np.array([100, 99, 7], kind), "b": np.array([3, 100, 7], kind)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert done.outcomes[0].sites[0].accuracy is EXACT


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1).filter(bool))
def test_any_operands(dividend: int, divisor: int) -> None:
    if (dividend, divisor) == (-(2**31), -1):
        return  # its quotient does not fit
    feed = {"a": np.array([dividend], np.int32), "b": np.array([divisor], np.int32)}
    text = written("@y = Div (a, b)", "int32[1] a, int32[1] b", "int32[1]")
    assert_rewrite(PASS, text, feeds=[feed])


@given(st.integers(-3000, 3000), st.integers(-50, 50).filter(bool))
def test_multiples_and_their_neighbours(factor: int, divisor: int) -> None:
    a = np.array([factor * divisor + step for step in (-1, 0, 1)])
    feed = {"a": a, "b": np.full(3, divisor)}
    text = written("@y = Div (a, b)", "int64[3] a, int64[3] b", "int64[3]")
    assert_rewrite(PASS, text, feeds=[feed])


def test_for_a_target_that_leaves_fractions() -> None:
    text = written("@y = Div (a, b)", "int64[2,3] a, int64[2,3] b", "int64[2,3]")
    result = graphfix.run(onnx.parser.parse_model(text), target="opencv4.10", verify="full")
    assert result.exit_code == 0
    assert "Floor" in [node.op_type for node in result.model.to_proto().graph.node]
