"""concat-training-to-concat: Concat, and the sizes of its parts."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from passes.contrib.concat_training_to_concat import numbers
from tests.passes.gradient_cases import done_by, inside_a_branch, text_of

PASS, OP = "concat-training-to-concat", "ConcatTraining"
NODE = f"y, n = com.microsoft.{OP} <axis = 1> (a, b)"


@pytest.mark.parametrize("kind", ["float", "float16", "int64", "bool"])
@pytest.mark.parametrize("free", [False, True])
def test_values(kind: str, free: bool) -> None:
    dtype: Any = np.float32 if kind == "float" else kind
    a = np.array([[1, 0], [3, 4]]).astype(dtype)
    b = np.array([[5, 6, 0], [8, 0, 10]]).astype(dtype)
    sizes = ("M", "K", "L") if free else ("2", "3", "5")
    inputs = f"{kind}[N, {sizes[0]}] a, {kind}[N, {sizes[1]}] b"
    text = text_of(NODE, inputs, f"{kind}[N, {sizes[2]}] y, int64[2] n")
    feed = {"a": a, "b": b}
    assert_rewrite(PASS, text, feeds=[feed], evaluators={("com.microsoft", OP): numbers})
    _, (joined, lengths) = done_by(PASS, text, feed)
    np.testing.assert_array_equal(joined, np.concatenate([a, b], 1))
    np.testing.assert_array_equal(lengths, [2, 3])


def test_lengths_that_no_one_uses() -> None:
    text = text_of(f"y = com.microsoft.{OP} (a, a)", "float[N] a", "float[M] y")
    done, (found,) = done_by(PASS, text, {"a": np.array([1, 2], np.float32)})
    assert done.ops == ["Concat"]
    np.testing.assert_array_equal(found, [1, 2, 1, 2])


def test_in_a_branch() -> None:
    node = f"s = com.microsoft.{OP} <axis = 0> (dy, dy) t = Neg (s)"
    text = inside_a_branch(node, "float[2] dy", "float[N]")
    dy = np.array([1, -2], np.float32)
    _, (found,) = done_by(PASS, text, {"c": np.array(True), "dy": dy})
    np.testing.assert_array_equal(found, [-1, 2, -1, 2])
