"""cross-entropy-internal-to-onnx: held to the loss as its page has it."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from passes.contrib.cross_entropy_internal_to_onnx import numbers
from tests.passes.gradient_cases import done_by, inside_a_branch, text_of
from tests.passes.test_cross_entropy_gradient_to_arithmetic import WEIGHTS, X, log_softmax, loss

PASS, OP = "cross-entropy-internal-to-onnx", "SoftmaxCrossEntropyLossInternal"
LABELS = np.array([4, 0, 1, 2])
INPUTS = "float[N, 5] x, int64[N] l"


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [None, 1])
def test_values(reduction: str, weighted: bool, ignored: int | None) -> None:
    kind = "float[N]" if reduction == "none" else "float"
    more = f", {'w' if weighted else ''}, i" if ignored is not None else ", w" * weighted
    node = f'y, p = com.microsoft.{OP} <reduction = "{reduction}"> (x, l{more})'
    text = text_of(node, INPUTS + ", float[5] w" * weighted, f"{kind} y, float[N, 5] p")
    if ignored is not None:
        text = text.replace("{ y", f"<int64 i = {{{ignored}}}> {{ y")
    feed = {"x": X, "l": LABELS} | ({"w": WEIGHTS} if weighted else {})
    done = assert_rewrite(
        PASS, text, feeds=[feed], evaluators={("com.microsoft", OP): numbers}, rtol=1e-5, atol=1e-6
    )
    weights = WEIGHTS if weighted else None
    expected = loss(X, LABELS, weights, reduction, -9 if ignored is None else ignored)
    _, (found, chances) = done_by(PASS, text, feed)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(chances, log_softmax(X), rtol=1e-5, atol=1e-6)
    assert done.ops[0] == "SoftmaxCrossEntropyLoss"


def test_halves_are_computed_in_float32() -> None:
    node = f"y = com.microsoft.{OP} <output_type = 10> (x, l)"
    text = text_of(node, "float16[N, 5] x, int64[N] l", "float16 y")
    done, (found,) = done_by(PASS, text, {"x": X.astype(np.float16), "l": LABELS})
    assert done.ops[:2] == ["Cast", "SoftmaxCrossEntropyLoss"]
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, loss(X, LABELS, None, "mean", -1), rtol=5e-3)


def test_nothing_counts() -> None:
    node = f"y = com.microsoft.{OP} (x, l)"
    feed = {"x": X, "l": np.full(4, -1)}
    _, (found,) = done_by(PASS, text_of(node, INPUTS, "float y"), feed)
    assert found == 0


def test_in_a_branch() -> None:
    node = f'u, t = com.microsoft.{OP} <reduction = "sum"> (dy, l)'
    text = inside_a_branch(node, "float[4, 5] dy, int64[4] l", "float[4, 5]")
    _, (found,) = done_by(PASS, text, {"c": np.array(True), "dy": X, "l": LABELS})
    np.testing.assert_allclose(found, log_softmax(X), rtol=1e-5, atol=1e-6)
