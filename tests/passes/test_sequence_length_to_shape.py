"""sequence-length-to-shape: counted without the sequence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "sequence-length-to-shape"
COUNT = "\n@y = SequenceLength (@s)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_any_number_of_rows(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        "@s = SplitToSequence <axis = 1, keepdims = 0> (x)" + COUNT, "float[N, M] x", "int64",
        opset=opset, place=place,
    )  # fmt: skip
    feed = {"x": np.zeros((2, 7), np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"] == 7


@given(st.integers(1, 9), st.integers(1, 4))
def test_pieces_of_a_known_axis(length: int, step: int) -> None:
    body = f"@k = Constant <value = int64 {{{step}}}> ()\n@s = SplitToSequence (x, @k)" + COUNT
    feed = {"x": np.zeros(length, np.int64)}
    done = assert_rewrite(PASS, written(body, f"int64[{length}] x", "int64"), feeds=[feed])
    assert outputs_of(done.after, feed)["y"] == -(-length // step)
