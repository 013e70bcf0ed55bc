"""slice-backwards-to-gather: what a Slice takes backwards, by its indices."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "slice-backwards-to-gather"
LOWEST = -(2**63)


def cut(*bounds: list[int]) -> str:
    names = ["@s", "@e", "@a", "@p"][: len(bounds)]
    constants = "\n".join(
        f"{name} = Constant <value_ints = [{', '.join(map(str, values))}]> ()"
        for name, values in zip(names, bounds, strict=True)
    )
    return f"{constants}\n@y = Slice (x, {', '.join(names)})"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [13, 18])
def test_backwards_along_the_last_axis(opset: int, place: str) -> None:
    text = written(
        cut([-1], [LOWEST], [-1], [-1]), "float[2,3] x", "float[2,3]", opset=opset, place=place
    )
    feed: dict[str, Any] = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])


@pytest.mark.parametrize("kind", ["int64", "bool", "uint8", "string"])
def test_other_types(kind: str) -> None:
    x = np.array(["a", "b", "c"]) if kind == "string" else np.array([1, 0, 1], kind)
    text = written(cut([2], [0], [0], [-1]), f"{kind}[3] x", f"{kind}[2]")
    assert_rewrite(PASS, text, feeds=[{"x": x}], after=["Gather"])


def test_one_axis_forwards_and_a_dynamic_one() -> None:
    text = written(
        cut([0, -2, 1], [2, -9, 4], [0, 1, 2], [1, -2, 2]), "float[N,5,6] x", "float[A,B,C]"
    )
    feed = {"x": np.random.default_rng(0).standard_normal((3, 5, 6)).astype(np.float32)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert [op for op in done.ops if op != "Constant"] == ["Gather", "Slice"]


@given(
    size=st.integers(1, 7),
    start=st.integers(-9, 9),
    end=st.integers(-9, 9),
    step=st.integers(-4, -1),
)
def test_any_bounds(size: int, start: int, end: int, step: int) -> None:
    x = np.arange(size, dtype=np.float32)
    text = written(cut([start], [end], [0], [step]), f"float[{size}] x", "float[A]")
    first = min(max(start + size if start < 0 else start, 0), size - 1)
    last = min(max(end + size if end < 0 else end, -1), size - 1)
    if first > last:
        assert_rewrite(PASS, text, feeds=[{"x": x}])
    else:
        assert_refused(PASS, text, "elements to take; there are 0")


def test_for_a_target_that_walks_forwards() -> None:
    text = written(cut([-1], [LOWEST], [1], [-1]), "float[2,3] x", "float[2,3]")
    result = graphfix.run(onnx.parser.parse_model(text), target="opencv4.10", verify="full")
    assert result.exit_code == 0
