"""unique-to-sorted-differences: neighbours of what is sorted."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, parse
from tests.passes.lowering_models import PLACES, written

PASS = "unique-to-sorted-differences"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("names", ["@y", "@u, @y", "@u, , @y", "@u, @f, @i, @y"])
def test_each_result(names: str, place: str) -> None:
    kind = "float" if names == "@y" else "int64"
    text = written(f"{names} = Unique (x)", "float[2, 3] x", f"{kind}[N]", opset=13, place=place)
    feed: dict[str, Any] = {"x": np.array([[2, -1, 2], [0, -0.0, -1]], np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.sampled_from(["int64", "double"]))
def test_any_numbers(numbers: list[int], kind: str) -> None:
    size = len(numbers)
    text = f'<ir_version: 8, opset_import: ["" : 13]> g ({kind}[{size}] x) => '
    text += f"({kind}[N] u, int64[N] f, int64[{size}] i, int64[N] c) {{ u, f, i, c = Unique (x) }}"
    dtype = {"int64": np.int64, "double": np.float64}[kind]
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers, dtype)}])


@pytest.mark.parametrize("target", ["trt8.5", "trt8.6", "trt10.1"])
def test_for_targets(target: str) -> None:
    text = written("@y = Unique (x)", "float[7] x", "float[N]")
    done = graphfix.run(parse(text), target, verify="full")
    assert done.exit_code == 0, done.report.findings_after
