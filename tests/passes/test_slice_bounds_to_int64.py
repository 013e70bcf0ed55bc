"""slice-bounds-to-int64: computed bounds of int32."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix import run
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "slice-bounds-to-int64"
KINDS: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "int8": np.int8,
    "int32": np.int32, "int64": np.int64, "bool": np.bool_,
}  # fmt: skip
BOUNDS = "int32[1] s, int32[1] e"
STORED = "@a = Constant <value = int32[1] {1}> ()\n@t = Constant <value = int32[1] {2}> ()\n"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [10, 13, 18])
def test_computed_bounds(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = STORED + "@y = Slice (x, s, e, @a, @t)"
    text = written(body, f"float[N, 6] x, {BOUNDS}", "float[N, M]", opset=opset, place=place)
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    feed: dict[str, Any] = {"x": x, "s": np.array([1], np.int32), "e": np.array([-1], np.int32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[:, 1:-1:2])


@pytest.mark.parametrize("kind", KINDS)
def test_types(kind: str) -> None:
    x: np.ndarray[Any, Any] = np.arange(6).astype(KINDS[kind])
    feed: dict[str, Any] = {"x": x, "s": np.array([2], np.int32), "e": np.array([9], np.int32)}
    text = written("@y = Slice (x, s, e)", f"{kind}[N] x, {BOUNDS}", f"{kind}[M]")
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[2:])


@given(st.integers(-8, 8), st.integers(-(2**31), 2**31 - 1))
def test_any_bound(start: int, end: int) -> None:
    x = np.arange(6, dtype=np.float32)
    feed: dict[str, Any] = {
        "x": x, "s": np.array([start], np.int32), "e": np.array([end], np.int32),
    }  # fmt: skip
    done = assert_rewrite(
        PASS, written("@y = Slice (x, s, e)", f"float[6] x, {BOUNDS}", "float[M]"), feeds=[feed]
    )
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[start:end])


def test_tflite_is_given_int64() -> None:
    body = "@a = Constant <value = int32[1] {1}> ()\n@y = Slice (x, s, e, @a)"
    text = written(body, f"float[2, 6] x, {BOUNDS}", "float[2, M]")
    result = run(parse(text), "tflite1.29", trust_rules=True, verify="full")
    assert result.exit_code == 0
    assert not result.report.findings_after
    assert [node.op for node in result.model.graph.nodes].count("Cast") == 2
