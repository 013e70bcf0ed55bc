"""fast-gelu-to-tanh: the arithmetic after the name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from passes.contrib.fast_gelu_to_tanh import evaluate
from tests.passes.lowering_models import PLACES, written

PASS = "fast-gelu-to-tanh"
MS = ', "com.microsoft" : 1'


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 17, 21])
@pytest.mark.parametrize("bias", [True, False])
def test_with_and_without_bias(opset: int, place: str, bias: bool) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    given = ", b" if bias else ""
    inputs = "float[N, 4] x" + (", float[4] b" if bias else "")
    text = written(f"@y = com.microsoft.FastGelu (x{given})", inputs, "float[N, 4]",
                   opset=opset, place=place, imports=MS)  # fmt: skip
    feed = {"x": np.linspace(-6, 6, 12, dtype=np.float32).reshape(3, 4)}
    if bias:
        feed["b"] = np.array([0.5, -1, 0, 2], np.float32)
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-5, atol=1e-6)
    (wanted,) = evaluate([feed["x"], feed.get("b")], {})
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=1e-5, atol=1e-6)


def test_half_precision_is_computed_in_single() -> None:
    text = written("@y = com.microsoft.FastGelu (x)", "float16[5] x", "float16[5]", imports=MS)
    done = run_pass(PASS, text)
    assert (done.ops[0], done.ops[-1]) == ("Cast", "Cast")
    x = np.array([-3, -0.5, 0, 0.5, 300], np.float16)
    (wanted,) = evaluate([x], {})
    np.testing.assert_allclose(outputs_of(done.after, {"x": x})["y"], wanted, rtol=1e-3, atol=1e-4)


def test_types_continue_after_it() -> None:
    text = written("@g = com.microsoft.FastGelu (x)\n@h = CastLike (x, @g)\n@y = Add (@g, @h)",
                   "float[2] x", "float[2]", imports=MS)  # fmt: skip
    done = run_pass("castlike-to-cast", text)
    assert "CastLike" not in done.ops
    assert run_pass(PASS, done.after).ops[-1] == "Add"


@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    text = written("@y = com.microsoft.FastGelu (x)", "float[N] x", "float[N]", imports=MS)
    feed = {"x": np.array(values, np.float32)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)
