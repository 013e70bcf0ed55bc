"""bitwise-to-bits: every operator, every sign."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "bitwise-to-bits"

FUNCTIONS = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_edges_of_int32(op: str, place: str) -> None:
    info = np.iinfo(np.int32)
    a = np.array([info.min, info.max, -1, 0, 5, -6], np.int32)
    feed = {"a": a.reshape(6, 1), "b": a}
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(
        f"@y = {op} (a, b)", "int32[6, 1] a, int32[6] b", "int32[6, 6]", opset=18, place=place
    )
    done = assert_rewrite(PASS, text, feeds=[feed])
    expected = FUNCTIONS[op](a.reshape(6, 1), a)
    assert outputs_of(done.after, feed)["y"].tolist() == expected.tolist()


@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.sampled_from(["int8", "uint8", "int16", "uint16", "int32"]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
)
def test_any_numbers(op: str, kind: str, first: int, second: int) -> None:
    text = written(f"@y = {op} (a, b)", f"{kind}[1] a, {kind}[1] b", f"{kind}[1]", opset=18)
    a, b = (np.array([n], np.uint32).astype(kind) for n in (first, second))
    done = run_pass(PASS, text)
    result = outputs_of(done.after, {"a": a, "b": b})["y"]
    assert result.dtype == np.dtype(kind)
    assert result.tolist() == FUNCTIONS[op](a, b).tolist()


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32"])
def test_not(kind: str) -> None:
    text = written("@y = BitwiseNot (a)", f"{kind}[3] a", f"{kind}[3]", opset=18)
    a = np.array([0, 1, 100], kind)
    done = run_pass(PASS, text)
    assert outputs_of(done.after, {"a": a})["y"].tolist() == np.invert(a).tolist()


@pytest.mark.parametrize("operator", ["And", "Or", "Xor"])
def test_integers_of_64_bits_are_taken_apart(operator: str) -> None:
    a = np.array([[0, -1, 2**62 + 5, -(2**63)], [7, 65536, -65537, 2**63 - 1]])
    b = np.array([-1, 12345678901234, -(2**40), 2**33 - 1])
    body = f"@y = Bitwise{operator} (a, b)"
    text = written(body, "int64[n, 4] a, int64[4] b", "int64[n, 4]", opset=18)
    done = assert_rewrite(PASS, text, feeds=[{"a": a, "b": b}])
    wanted = {"And": a & b, "Or": a | b, "Xor": a ^ b}[operator]
    assert outputs_of(done.after, {"a": a, "b": b})["y"].tolist() == wanted.tolist()
