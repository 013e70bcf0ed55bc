"""reverse-sequence-to-gather: each sequence from its end, what is beyond it as it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "reverse-sequence-to-gather"
AXES = {"batch": "<batch_axis = 0, time_axis = 1>", "time": ""}


@pytest.mark.parametrize("first", ["batch", "time"])
@pytest.mark.parametrize("shape", [(2, 2, 0), (2, 0, 3), (0, 2, 3), (2, 0, 0), (0, 2, 0)])
def test_sequences_of_no_elements(shape: tuple[int, ...], first: str) -> None:
    body = f"@y = ReverseSequence {AXES[first]} (x, n)"
    text = written(body, "float[A, B, C] x, int64[N] n", "float[A, B, C]")
    batch, time = shape[:2] if first == "batch" else (shape[1], shape[0])
    feed = {"x": np.zeros(shape, np.float32), "n": np.full(batch, min(time, 1))}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].shape == shape


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_lengths(data: st.DataObject) -> None:
    batch, time = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    lengths = data.draw(st.lists(st.integers(0, time), min_size=batch, max_size=batch))
    text = written(
        f"@y = ReverseSequence {AXES['batch']} (x, n)", "int64[B, T] x, int64[B] n", "int64[B, T]"
    )
    x = np.arange(batch * time).reshape(batch, time)
    done = assert_rewrite(PASS, text, feeds=[{"x": x, "n": np.array(lengths)}])
    wanted = [[*row[:n][::-1], *row[n:]] for row, n in zip(x.tolist(), lengths, strict=True)]
    assert outputs_of(done.after, {"x": x, "n": np.array(lengths)})["y"].tolist() == wanted
