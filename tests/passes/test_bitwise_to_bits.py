"""bitwise-to-bits: every operator, every sign."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "bitwise-to-bits"

FUNCTIONS = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}


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
