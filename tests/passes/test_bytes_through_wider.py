"""bytes-through-wider: limits, remainders and maxima of 8 bits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "bytes-through-wider"


@given(st.integers(-128, 127), st.integers(-128, 127), st.integers(0, 1))
def test_any_remainder(a: int, b: int, fmod: int) -> None:
    if b in (0, -1):
        b = 7
    text = written(f"@y = Mod <fmod = {fmod}> (a, b)", "int8[1] a, int8[1] b", "int8[1]")
    assert_rewrite(PASS, text, feeds=[{"a": np.array([a], np.int8), "b": np.array([b], np.int8)}])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Max", "Min"])
def test_all_bytes_wrap_around(op: str, kind: str) -> None:
    text = written(f"@y = {op} (a, b)", f"{kind}[N, 1] a, {kind}[K] b", f"{kind}[N, K]", opset=14)
    limits = np.iinfo(kind)
    numbers = np.linspace(limits.min, limits.max, 61).astype(kind)
    done = run_pass(PASS, text)
    given = outputs_of(done.after, {"a": numbers[:, None], "b": numbers})["y"]
    compute = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}.get(op)
    compute = compute or (np.maximum if op == "Max" else np.minimum)
    np.testing.assert_array_equal(given, compute(numbers[:, None], numbers))


@pytest.mark.parametrize("op", ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"])
def test_comparisons(op: str) -> None:
    text = written(f"@y = {op} (a, b)", "int8[3] a, int8[3] b", "bool[3]", opset=16)
    feed = {"a": np.array([-128, 5, 127], np.int8), "b": np.array([127, 5, -1], np.int8)}
    given = outputs_of(run_pass(PASS, text).after, feed)["y"].tolist()
    wanted = {"Equal": [0, 1, 0], "Greater": [0, 0, 1], "GreaterOrEqual": [0, 1, 1]}
    assert given == [*map(bool, wanted.get(op, [1, op == "LessOrEqual", 0]))]


@pytest.mark.parametrize("op", ["DepthToSpace", "SpaceToDepth"])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int32"])
def test_places(kind: str, op: str) -> None:
    text = written(f"@y = {op} <blocksize = 2> (x)", f"{kind}[1, 4, 2, 2] x", f"{kind}[A, B, C, D]")
    done = run_pass(PASS, text)
    limits = np.iinfo(kind)
    low, high = np.arange(8) + limits.min, limits.max - np.arange(8)
    x = np.concatenate([low, high]).astype(kind).reshape(1, 4, 2, 2)
    given = outputs_of(done.after, {"x": x})["y"]
    assert given.dtype == kind
    np.testing.assert_array_equal(given, _moved(op, x))


def _moved(op: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what the page of the operator computes with numpy."""
    _, c, h, w = x.shape
    if op == "DepthToSpace":
        parts = x.reshape(1, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2)
        return parts.reshape(1, c // 4, h * 2, w * 2)
    parts = x.reshape(1, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(1, c * 4, h // 2, w // 2)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16"])
def test_a_choice(kind: str, place: str) -> None:
    ends = (f"bool[2] p, {kind}[N, 2] a, {kind} b", f"{kind}[N, 2]")
    text = written("@y = Where (p, a, b)", *ends, place=place)
    limits = np.iinfo(kind)
    feed = {"p": np.array([True, False]), "b": np.array(limits.min, kind)}
    feed["a"] = np.array([[limits.max, 1], [limits.min, 2]], kind)
    if place == "branch":
        feed["c"] = np.array(True)
    done = run_pass(PASS, text)
    found = outputs_of(done.after, feed)["y"]
    assert found.tolist() == [[limits.max, limits.min], [limits.min, limits.min]]
    assert found.dtype == kind


def test_comparisons_of_old_opsets_and_no_sums() -> None:
    text = written("@y = Less (a, b)", "int8[3] a, int8[3] b", "bool[3]", opset=9)
    feed = {"a": np.array([-128, 5, 127], np.int8), "b": np.array([127, 5, -1], np.int8)}
    assert outputs_of(run_pass(PASS, text).after, feed)["y"].tolist() == [True, False, False]
    text = written("@y = Add (a, b)", "int8[3] a, int8[3] b", "int8[3]", opset=9)
    assert_refused(PASS, text, "the opset must have Mod, from 10 on; it is 9")
