"""cross-entropy-gradient-to-arithmetic: held to differences, and to PyTorch's autograd."""

from typing import Any

import numpy as np
import pytest

from graphfix.authoring import Array
from graphfix.testing import assert_refused, assert_rewrite
from passes.contrib.cross_entropy_gradient_to_arithmetic import numbers
from tests.passes.gradient_cases import done_by, gradient, inside_a_branch, text_of

PASS = "cross-entropy-gradient-to-arithmetic"
OP, INTERNAL = "SoftmaxCrossEntropyLossGrad", "SoftmaxCrossEntropyLossInternalGrad"
RNG = np.random.default_rng(5)
X = RNG.standard_normal((4, 5)).astype(np.float32)
IMAGE = RNG.standard_normal((2, 5, 3)).astype(np.float32)
LABELS = np.array([4, 0, -1, 2])
IMAGE_LABELS = np.array([[4, -1, 0], [2, 2, -1]])
WEIGHTS = np.array([0.5, 2, 1, 0.25, 3], np.float32)


def log_softmax(x: Array) -> Array:
    away = x - x.max(1, keepdims=True)
    return np.asarray(away - np.log(np.exp(away).sum(1, keepdims=True)))


def loss(x: Array, labels: Array, weights: Array | None, reduction: str, ignored: int) -> Array:
    """Return the loss as the page of ONNX's operator has it."""
    counts = labels != ignored
    index = np.where(counts, labels, 0)
    share = np.where(counts, 1.0 if weights is None else weights[index], 0.0)
    each = -np.take_along_axis(log_softmax(x), index[:, None], 1)[:, 0] * share
    if reduction == "none":
        return np.asarray(each)
    return np.asarray(each.sum() / (share.sum() if reduction == "mean" else 1))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["int64", "int32"])
@pytest.mark.parametrize("of_images", [False, True])
def test_gradients(reduction: str, weighted: bool, kind: str, of_images: bool) -> None:
    x, labels = (IMAGE, IMAGE_LABELS) if of_images else (X, LABELS)
    dy = RNG.standard_normal(labels.shape if reduction == "none" else ()).astype(np.float32)
    weights = WEIGHTS if weighted else None
    expected = gradient(lambda v: loss(v, labels, weights, reduction, -1), x, dy)
    feed = {"dy": dy, "p": log_softmax(x), "l": labels.astype(kind)}
    feed |= {"w": WEIGHTS} if weighted else {}
    node = f'dx = com.microsoft.{OP} <reduction = "{reduction}"> (dy, p, l{", w" * weighted})'
    sizes = "N, 5, M" if of_images else "N, 5"
    rows = sizes.replace(", 5", "")
    inputs = f"float{f'[{rows}]' if reduction == 'none' else ''} dy, float[{sizes}] p, "
    inputs += f"{kind}[{rows}] l" + ", float[5] w" * weighted
    models = {("com.microsoft", OP): numbers}
    done = assert_rewrite(
        PASS,
        text_of(node, inputs, f"float[{sizes}] dx"),
        feeds=[feed],
        evaluators=models,
        rtol=1e-5,
        atol=1e-6,
    )
    assert OP not in done.ops
    _, (found,) = done_by(PASS, text_of(node, inputs, f"float[{sizes}] dx"), feed)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_the_internal_form_ignores_an_input_and_adds_a_bias() -> None:
    bias = np.ones((4, 5), np.float16)
    constants = "<int64 i = {2}>"
    node = f"dx = com.microsoft.{INTERNAL} <output_type = 1> (dy, p, l, , i, b)"
    inputs = "float16 dy, float16[4, 5] p, int64[4] l, float16[4, 5] b"
    text = text_of(node, inputs, "float[4, 5] dx").replace("{ dx", f"{constants} {{ dx")
    labels = np.array([4, 0, 1, 2])
    dy = np.array(2, np.float16)
    feed = {"dy": dy, "p": log_softmax(X).astype(np.float16), "l": labels, "b": bias}
    _, (found,) = done_by(PASS, text, feed)
    assert found.dtype == np.float32
    expected = 1 + gradient(lambda v: loss(v, labels, None, "mean", 2), X, dy)
    np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)


def test_nothing_counts() -> None:
    node = f"dx = com.microsoft.{OP} <ignore_index = 3> (dy, p, l)"
    text = text_of(node, "float dy, float[N, 5] p, int64[N] l", "float[N, 5] dx")
    feed = {"dy": np.array(1, np.float32), "p": log_softmax(X), "l": np.full(4, 3)}
    _, (found,) = done_by(PASS, text, feed)
    np.testing.assert_array_equal(found, np.zeros((4, 5)))


def test_pytorch_computes_the_same() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.tensor(IMAGE, requires_grad=True)
    reported: dict[str, Any] = {"weight": torch.tensor(WEIGHTS), "ignore_index": 2}
    labels = np.array([[4, 2, 0], [2, 1, 3]])
    torch.nn.functional.cross_entropy(x, torch.tensor(labels), **reported).backward(
        torch.tensor(1.5)
    )
    node = f"dx = com.microsoft.{OP} <ignore_index = 2> (dy, p, l, w)"
    inputs = "float dy, float[N, 5, M] p, int64[N, M] l, float[5] w"
    feed = {"dy": np.array(1.5, np.float32), "p": log_softmax(IMAGE), "l": labels, "w": WEIGHTS}
    _, (found,) = done_by(PASS, text_of(node, inputs, "float[N, 5, M] dx"), feed)
    np.testing.assert_allclose(found, x.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_in_a_branch() -> None:
    node = f'e0 = com.microsoft.{OP} <reduction = "sum"> (one, dy, l) t = Identity (e0)'
    text = inside_a_branch(node, "float[4, 5] dy, int64[4] l, float one", "float[4, 5]")
    one, labels = np.array(1, np.float32), np.array([4, 0, 1, 2])
    feed = {"c": np.array(True), "dy": log_softmax(X), "l": labels, "one": one}
    _, (found,) = done_by(PASS, text, feed)
    expected = gradient(lambda v: loss(v, labels, None, "sum", -1), X, one)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


REFUSED = [
    ("float dy, float[N, C] p, int64[N] l", "(dy, p, l)", "the number of classes must be known"),
    ("float dy, float[N, 5] p, int64[N, 5] l", "(dy, p, l)", "have one axis less"),
    ("float dy, float[N, 5] p, int64[N] l, int64 i", "(dy, p, l, , i)", "the label to ignore"),
    ("float dy, float[N, 5] p, float[N] l", "(dy, p, l)", "must be"),
    ("float dy, float[N, 5] p, int64[N] l, float[5] b", "(dy, p, l, , , b)", "of the shape of p"),
]


@pytest.mark.parametrize(("inputs", "operands", "reason"), REFUSED)
def test_what_is_refused(inputs: str, operands: str, reason: str) -> None:
    node = f"dx = com.microsoft.{INTERNAL} {operands}"
    assert_refused(PASS, text_of(node, inputs, "float[N, C] dx"), reason)


def test_labels_that_do_not_fit_are_no_input_of_the_model() -> None:
    given: list[Array | None] = [np.array(1.0), log_softmax(X), LABELS[:2]]
    with pytest.raises(ValueError, match="labels for chances"):
        numbers(given, {})
