"""compress-to-gather: what a condition selects."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "compress-to-gather"
DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
CONSTANT = "@c = Constant <value = bool[3] {1, 0, 1}> ()\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dims", ["3, 4", "N, M"])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("known", [True, False])
def test_axes(known: bool, axis: int | None, dims: str, place: str) -> None:
    attribute = "" if axis is None else f"<axis = {axis}>"
    body = f"@y = Compress {attribute} (x, {'@c' if known else 'c0'})"
    inputs = f"float[{dims}] x" + ("" if known else ", bool[K] c0")
    output = "float[p]" if axis is None else "float[p, q]"
    text = written((CONSTANT if known else "") + body, inputs, output, place=place)
    feed: dict[str, Any] = {"x": DATA}
    if not known:
        feed["c0"] = np.array([True, False, True])
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    wanted = np.compress([True, False, True], DATA, axis)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), max_size=4), st.booleans())
def test_any_condition(chosen: list[bool], flat: bool) -> None:
    attribute, output = ("", "int64[p]") if flat else ("<axis = 1>", "int64[p, q]")
    text = written(f"@y = Compress {attribute} (x, c)", "int64[N, 4] x, bool[K] c", output)
    feed = {"x": np.arange(8).reshape(2, 4), "c": np.array(chosen, bool)}
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("target", ["trt8.5", "trt8.6", "trt10.1", "trt11.1"])
def test_for_targets(target: str) -> None:
    text = written("@y = Compress <axis = 0> (x, c)", "float[N, 4] x, bool[N] c", "float[p, 4]")
    result = graphfix.run(parse(text), target, verify="full")
    assert result.exit_code == 0, result.report.findings_after


@pytest.mark.parametrize("target", ["trt7.0", "trt8.0"])
def test_a_constant_condition_needs_no_nonzero(target: str) -> None:
    body = f"{CONSTANT.replace('@', '')}@y = Compress <axis = 0> (x, c)"
    text = written(body, "float[3, 4] x", "float[2, 4]", opset=11)
    result = graphfix.run(parse(text), target, verify="full")
    assert result.exit_code == 0, result.report.findings_after


@pytest.mark.parametrize("condition", [[1, 0, 1, 1, 0], [1, 1], [0, 0, 1], [0, 0], [1, 0] * 20])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_constant_condition_longer_than_a_computed_axis(
    condition: list[int], axis: int | None
) -> None:
    attribute = "" if axis is None else f"<axis = {axis}>"
    words = ", ".join(str(bit) for bit in condition)
    body = (
        f"c = Constant <value = bool[{len(condition)}] {{{words}}}> ()\n"
        f"@y = Compress {attribute} (x, c)"
    )
    text = written(body, "float[N, M] x", "float[p]" if axis is None else "float[p, q]")
    feeds = [{"x": DATA[:a, :b]} for a in (3, 0, 1) for b in (4, 2, 0)]
    assert_rewrite(PASS, text, feeds=feeds)
