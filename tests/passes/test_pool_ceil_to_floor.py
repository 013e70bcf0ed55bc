"""pool-ceil-to-floor: ceil_mode left out where it adds no window."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.api import run
from graphfix.report import Status
from graphfix.testing import (
    assert_refused,
    assert_rewrite,
    assert_same,
    outputs_of,
    parse,
    run_pass,
)
from tests.passes.lowering_models import written

PASS = "pool-ceil-to-floor"
RNG = np.random.default_rng(3)
ENDS = ("float[1,2,9,9] x", "float[1,2,3,3]")


def pool(op: str = "MaxPool", more: str = "") -> str:
    return f"@y = {op} <kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1{more}> (x)"


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize("place", ["main", "branch"])
def test_a_window_that_begins_after_the_end_counts_nowhere(op: str, place: str) -> None:
    feed: dict[str, Any] = {"x": RNG.standard_normal((1, 2, 9, 9)).astype(np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, written(pool(op), *ENDS, place=place), feeds=[feed])
    if place == "main":
        assert done.ops == [op]
        assert "ceil_mode" not in [a.name for a in done.after.graph.node[0].attribute]


@given(
    size=st.integers(4, 12), kernel=st.integers(2, 4), step=st.integers(1, 5), pad=st.integers(0, 1)
)
def test_only_where_the_sizes_stay(size: int, kernel: int, step: int, pad: int) -> None:
    pad = min(pad, kernel - 1)
    body = (
        f"@y = MaxPool <kernel_shape = [{kernel}], strides = [{step}], pads = [{pad}, {pad}],"
        " ceil_mode = 1> (x)"
    )
    text = written(body, f"float[1,1,{size}] x", "float[1,1,A]")
    feed = {"x": RNG.standard_normal((1, 1, size)).astype(np.float32)}
    room = size + 2 * pad - kernel
    up = -(-room // step)
    following = up * step >= size + pad
    if room % step == 0 or following:
        assert_rewrite(PASS, text, feeds=[feed])
    else:
        assert run_pass(PASS, text).ops == ["MaxPool"]
        assert_refused(PASS, text, "no window may reach beyond the pads")


@pytest.mark.parametrize("counts", [0, 1])
@given(
    size=st.integers(4, 12), kernel=st.integers(2, 4), step=st.integers(1, 5), pad=st.integers(0, 1)
)
def test_averages_of_the_same_numbers(
    counts: int, size: int, kernel: int, step: int, pad: int
) -> None:
    body = (
        f"@y = AveragePool <kernel_shape = [{kernel}], strides = [{step}], pads = [{pad}, {pad}],"
        f" ceil_mode = 1, count_include_pad = {counts}> (x)"
    )
    feed = {"x": RNG.standard_normal((1, 1, size)).astype(np.float32)}
    done = run_pass(PASS, written(body, f"float[1,1,{size}] x", "float[1,1,A]"))
    assert_same(outputs_of(done.before, feed), outputs_of(done.after, feed), rtol=1e-6, atol=1e-6)


def test_pads_for_the_window_too_many_are_left_out_whatever_the_file_declares() -> None:
    """The TorchScript exporter declares what inference counts, and PyTorch computes one fewer."""
    body = pool().replace("strides = [3, 3]", "strides = [2, 2], pads = [1, 1, 1, 1]")
    text = written(body, "float[1,2,21,17] x", "float[1,2,12,10]")
    feed = {"x": RNG.standard_normal((1, 2, 21, 17)).astype(np.float32)}
    done = run_pass(PASS, text)
    (node,) = done.after.graph.node
    assert [list(a.ints) for a in node.attribute if a.name == "pads"] == [[1, 1, 0, 0]]
    before, after = outputs_of(done.before, feed), outputs_of(done.after, feed)
    assert after["y"].shape == (1, 2, 11, 9)
    assert_same(before, after, rtol=0, atol=0)


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
def test_tensorrt_gets_the_windows_that_onnx_counts(op: str) -> None:
    result = run(parse(written(pool(op), *ENDS)), "trt10.10", verify="full")
    assert result.exit_code == 0, result.report.findings_after
    assert [o.pass_id for o in result.report.outcomes if o.status is Status.APPLIED] == [PASS]
