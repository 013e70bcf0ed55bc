"""reverse-sequence-to-gather: each sequence from its end, what is beyond it as it is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "reverse-sequence-to-gather"
AXES = {"batch": "<batch_axis = 0, time_axis = 1>", "time": ""}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dims", ["3, 3, 2", "A, B, C", "A, 3, C", "3, B, 2"])
@pytest.mark.parametrize("first", ["batch", "time"])
@pytest.mark.parametrize("lengths", ["computed", "constant"])
def test_axes(lengths: str, first: str, dims: str, place: str) -> None:
    body, inputs = f"@y = ReverseSequence {AXES[first]} (x, n)", f"float[{dims}] x"
    if lengths == "constant":
        body = f"@n = Constant <value = int64[3] {{1, 3, 2}}> ()\n{body.replace('n)', '@n)')}"
    else:
        inputs += ", int64[N] n"
    text = written(body, inputs, f"float[{dims}]", place=place)
    x = np.arange(18, dtype=np.float32).reshape(3, 3, 2)
    x[0, 0, 0] = np.nan
    feed: dict[str, Any] = {"x": x}
    if lengths == "computed":
        feed["n"] = np.array([1, 3, 2])
    if place == "branch":
        feed["c"] = np.array(False)
    assert_rewrite(PASS, text, feeds=[feed])


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


def test_constant_lengths_need_one_gather() -> None:
    body = (
        f"n = Constant <value = int64[2] {{1, 3}}> ()\n@y = ReverseSequence {AXES['batch']} (x, n)"
    )
    done = assert_rewrite(
        PASS,
        written(body, "bool[2, 3] x", "bool[2, 3]"),
        feeds=[{"x": np.array([[1, 0, 0], [1, 0, 0]], bool)}],
    )
    assert done.ops[-2:] == ["Reshape", "Gather"]


@pytest.mark.parametrize("target", ["trt7.0", "trt7.2", "trt8.0", "trt8.5"])
@pytest.mark.parametrize("dims", ["4, 3, 2", "T, B, 2"])
def test_for_targets(target: str, dims: str) -> None:
    batch = dims.split(", ")[1]
    text = written(
        "@y = ReverseSequence (x, n)",
        f"float[{dims}] x, int64[{batch}] n",
        f"float[{dims}]",
        opset=11,
    )
    result = graphfix.run(parse(text), target, verify="full")
    assert result.exit_code == 0, result.report.findings_after
