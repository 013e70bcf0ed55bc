"""Rounding errors move what is not round, and keep ties."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from graphfix.comparing.evaluators import Evaluators
from graphfix.comparing.judging import Judge
from graphfix.comparing.noise import moved

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g'


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_round_values_stay_and_others_move_by_one_unit(name: str) -> None:
    dtype = np.dtype(name)
    kept = np.array([0, 1, -2, 3.5, 0.25, np.inf, np.nan], dtype)
    np.testing.assert_array_equal(moved(kept, 1), kept)
    others = np.array([0.1, -0.7, 3.3, 1 / 3] * 8, dtype)
    after = moved(others, 1)
    gap = np.abs(after.astype(np.float64) - others.astype(np.float64))
    np.testing.assert_array_equal(gap, np.abs(np.spacing(others)).astype(np.float64))


def test_equal_values_stay_equal() -> None:
    values = np.array([0.1, 0.3, 0.1, 0.3], np.float32)
    after = moved(values, 5)
    assert after[0] == after[2]
    assert after[1] == after[3]


def judge(text: str) -> Judge:
    return Judge(parser.parse_model(HEAD + text), "", Evaluators({}))


ARGMAX = "(float[1, 3] x) => (int64[1, 1] y) { y = ArgMax<axis = 1>(x) }"


def test_a_tie_that_breaks_another_way_is_a_difference() -> None:
    x = np.array([[1.0, 1.0, 0.0]], np.float32)
    found = judge(ARGMAX)
    assert found.take({"x": x}, {"y": np.array([[0]])}, {"y": np.array([[1]])})
    assert list(found.broken) == ["y"]


def test_a_flip_that_rounding_explains_is_set_aside() -> None:
    low = np.float32(0.1)
    x = np.array([[low, np.nextafter(low, np.float32(1)), 0.0]], np.float32)
    found = judge(ARGMAX)
    assert not found.take({"x": x}, {"y": np.array([[1]])}, {"y": np.array([[0]])})
    assert found.unstable == 1
    assert not found.broken


def test_a_flip_that_rounding_does_not_explain_is_a_difference() -> None:
    x = np.array([[0.1, 0.7, 0.3]], np.float32)
    found = judge(ARGMAX)
    assert found.take({"x": x}, {"y": np.array([[1]])}, {"y": np.array([[0]])})
    assert list(found.broken) == ["y"]
