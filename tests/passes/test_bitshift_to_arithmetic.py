"""bitshift-to-arithmetic: every shift of every small number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "bitshift-to-arithmetic"


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_every_number_of_eight_bits(direction: str) -> None:
    body = f'@y = BitShift <direction = "{direction}"> (x, k)'
    text = written(body, "uint8[256, 1] x, uint8[8] k", "uint8[256, 8]")
    x = np.arange(256, dtype=np.uint8).reshape(256, 1)
    feed = {"x": x, "k": np.arange(8, dtype=np.uint8)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    shifted = x << feed["k"] if direction == "LEFT" else x >> feed["k"]
    assert outputs_of(done.after, feed)["y"].tolist() == shifted.tolist()


@given(st.integers(0, 2**16 - 1), st.integers(0, 15), st.sampled_from(["LEFT", "RIGHT"]))
def test_sixteen_bits(number: int, by: int, direction: str) -> None:
    body = (
        f"@k = Constant <value = uint16 {{{by}}}> ()\n"
        f'@y = BitShift <direction = "{direction}"> (x, @k)'
    )
    done = run_pass(PASS, written(body, "uint16[1] x", "uint16[1]", opset=13))
    expected = np.uint16(number) << np.uint16(by) if direction == "LEFT" else number >> by
    x = np.array([number], np.uint16)
    assert outputs_of(done.after, {"x": x})["y"].tolist() == [int(expected)]


@pytest.mark.parametrize(("kind", "bits"), [("uint8", 8), ("uint16", 16)])
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("constant", [False, True])
def test_nothing_is_left_by_a_wide_shift(
    direction: str, kind: str, bits: int, *, constant: bool
) -> None:
    by = [bits - 1, bits, bits + 1, 31]
    given = f"@k = Constant <value = {kind}[4] {{{', '.join(map(str, by))}}}> ()\n"
    body = f'@y = BitShift <direction = "{direction}"> (x, {"@k" if constant else "k"})'
    inputs = f"{kind}[4] x" if constant else f"{kind}[4] x, {kind}[4] k"
    text = written(given + body if constant else body, inputs, f"{kind}[4]")
    feed = {"x": np.array([2**bits - 1] * 4, kind)}
    if not constant:
        feed["k"] = np.array(by, kind)
    if bits == 8:  # onnxruntime has no BitShift of uint16
        assert_rewrite(PASS, text, feeds=[feed])
    done = run_pass(PASS, text)
    left = 2 ** (bits - 1) if direction == "LEFT" else 1
    assert outputs_of(done.after, feed)["y"].tolist() == [left, 0, 0, 0]
    if not constant:  # here onnxruntime has the shift of the processor
        feed["k"] = np.array([0, 32, 100, 255], kind)
        assert outputs_of(done.after, feed)["y"].tolist() == [2**bits - 1, 0, 0, 0]
