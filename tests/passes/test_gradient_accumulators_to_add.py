"""gradient-accumulators-to-add: sums held to numbers."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite
from passes.contrib.gradient_accumulators_to_add import numbers
from tests.passes.gradient_cases import done_by, inside_a_branch, text_of

PASS = "gradient-accumulators-to-add"
BUFFER, NEW = np.array([[1.0, 2, 3]], np.float32), np.array([[10.0, 20, -30]], np.float32)
SUM = [[11, 22, -27]]


def inputs_of(kind: str = "float", *, reported: bool = True) -> str:
    return f"{kind}[N, 3] b, {kind}[N, 3] g" + (", bool[1] o" if reported else "")


@pytest.mark.parametrize("kind", ["float", "float16", "double"])
@pytest.mark.parametrize(("reported", "expected"), [(None, SUM), (False, SUM), (True, NEW)])
def test_the_sum_of_version_2(kind: str, reported: bool | None, expected: Any) -> None:
    dtype: Any = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
    node = f"f, y = com.microsoft.InPlaceAccumulatorV2 (b, g{'' if reported is None else ', o'})"
    text = text_of(
        node, inputs_of(kind, reported=reported is not None), f"bool[1] f, {kind}[N, 3] y"
    )
    feed: dict[str, Any] = {"b": BUFFER.astype(dtype), "g": NEW.astype(dtype)}
    feed |= {} if reported is None else {"o": np.array([reported])}
    models = {("com.microsoft", "InPlaceAccumulatorV2"): numbers}
    assert_rewrite(PASS, text, feeds=[feed], evaluators=models)
    _, (flag, found) = done_by(PASS, text, feed)
    np.testing.assert_array_equal(flag, [True])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("reported", "expected"), [(True, SUM), (False, BUFFER)])
def test_the_first_version_keeps_what_is_not_to_be_updated(reported: bool, expected: Any) -> None:
    text = text_of("y = com.microsoft.InPlaceAccumulator (b, g, o)", inputs_of(), "float[N, 3] y")
    feed = {"b": BUFFER, "g": NEW, "o": np.array([reported])}
    models = {("com.microsoft", "InPlaceAccumulator"): numbers}
    assert_rewrite(PASS, text, feeds=[feed], after=["Add", "Where"], evaluators=models)
    _, (found,) = done_by(PASS, text, feed)
    np.testing.assert_array_equal(found, expected)


def test_a_gradient_is_set_to_zero() -> None:
    node = "y = com.microsoft.ZeroGradient (b, g)"
    text = text_of(node, "float[2, 3] b, float g", "float[2, 3] y")
    feed = {"b": np.ones((2, 3), np.float32), "g": np.array(1, np.float32)}
    _, (found,) = done_by(PASS, text, feed)
    np.testing.assert_array_equal(found, np.zeros((2, 3)))


def test_in_a_branch() -> None:
    node = "f, t = com.microsoft.InPlaceAccumulatorV2 (dy, g)"
    text = inside_a_branch(node, "float[1, 3] dy, float[1, 3] g", "float[1, 3]")
    _, (found,) = done_by(PASS, text, {"c": np.array(True), "dy": BUFFER, "g": NEW})
    np.testing.assert_array_equal(found, SUM)


REFUSED = [
    ("f = com.microsoft.InPlaceAccumulatorV2 (b, g)", "float[3] b, float[3] g", "bool[1] f",
     "something must output what is written into b; nothing does (--allow-io-change"),
    ("f, y = com.microsoft.InPlaceAccumulatorV2 (b, g)", "float[3] b, float[4] g",
     "bool[1] f, float[3] y", "of the type and rank of b"),
    ("f, y = com.microsoft.InPlaceAccumulatorV2 (b, g, o)", "float[3] b, float[3] g, bool[N] o",
     "bool[1] f, float[3] y", "o must be known to be one truth value"),
    ("y = com.microsoft.InPlaceAccumulator (b, g)", "int64[3] b, int64[3] g", "int64[3] y",
     "must be"),
    ("y = com.microsoft.ZeroGradient (b, b)", "float[N] b", "float[N] y", "the shape of b"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "inputs", "outputs", "reason"), REFUSED)
def test_what_is_refused(node: str, inputs: str, outputs: str, reason: str) -> None:
    assert_refused(PASS, text_of(node, inputs, outputs), reason)
