"""Sums in a narrow type: the numbers of numpy, rounded after every term."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from graphfix.edits.precision.narrow_sums import STEPS, NarrowSums, adds_up, stepwise
from tests.edits.small_models import ran

Array = np.ndarray[Any, np.dtype[Any]]


def drawn(seed: int, *shape: int) -> Array:
    """Return numbers that float16 holds."""
    values = np.random.default_rng(seed).normal(size=shape)
    return values.astype(np.float16).astype(np.float32)


def computed(
    op: str, *inputs: Array, opset: int = 17, at_once: int = 1, **attributes: Any
) -> Array:
    found = tried(op, *inputs, opset=opset, at_once=at_once, **attributes)
    assert found is not None
    return found


def tried(op: str, *inputs: Array, opset: int, at_once: int, **attributes: Any) -> Array | None:
    names = [f"i{place}" for place in range(len(inputs))]
    node = helper.make_node(op, names, ["y"], **attributes)
    assert adds_up(node)
    number = count()
    ranks = {name: array.ndim for name, array in zip(names, inputs, strict=True)}
    how = NarrowSums(ranks, at_once)
    found = stepwise(node, how, opset, TensorProto.FLOAT16, lambda: f"t{next(number)}")
    if found is None:
        return None
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
        for name, array in zip(names, inputs, strict=True)
    ]
    out = helper.make_tensor_value_info(found[1], TensorProto.FLOAT, None)
    graph = helper.make_graph(found[0], "g", ends, [out])
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    output: Array = ran(model, **dict(zip(names, inputs, strict=True)))[found[1]]
    return output


def added(terms: Callable[[int], Array], size: int) -> Array:
    """Return the sum of terms, rounded to float16 after each."""
    total = terms(0).astype(np.float16)
    with np.errstate(over="ignore"):
        for place in range(1, size):
            total = (total + terms(place).astype(np.float16)).astype(np.float16)
    return total.astype(np.float32)


def test_products_are_rounded_after_every_term() -> None:
    a, b, c = drawn(0, 3, 300), drawn(1, 300, 5), drawn(2, 5)
    expected = added(lambda k: a[:, k : k + 1] * b[k], 300)
    assert np.array_equal(computed("MatMul", a, b), expected)
    half = added(lambda k: np.float32(0.5) * a[:, k : k + 1] * b[k], 300)
    expected = (half + 2 * c).astype(np.float16).astype(np.float32)
    turned = np.ascontiguousarray(b.T)
    assert np.array_equal(computed("Gemm", a, turned, c, transB=1, alpha=0.5, beta=2.0), expected)
    x, w = drawn(3, 1, 40, 4, 4), drawn(4, 6, 40, 1, 1)
    expected = added(lambda k: x[:, k : k + 1] * w[:, k].reshape(1, 6, 1, 1), 40)
    assert np.array_equal(computed("Conv", x, w), expected)
    turned = np.ascontiguousarray(w.transpose(1, 0, 2, 3))
    assert np.array_equal(computed("ConvTranspose", x, turned), expected)


def test_terms_that_are_added_at_once() -> None:
    a, b = drawn(0, 2, 70), drawn(1, 70)
    expected = added(lambda k: a[:, 16 * k : 16 * k + 16] @ b[16 * k : 16 * k + 16], 5)
    found = computed("MatMul", a, b, at_once=16)
    assert np.abs(found - expected).max() <= 2.0**-9 * np.abs(expected).max()
    ones = np.ones((1, 4 * STEPS), np.float32)
    few, many = ones[:, :STEPS].copy(), ones
    assert computed("MatMul", few, few.T.copy()) == [[STEPS]]
    assert computed("MatMul", many, many.T.copy()) == [[4 * STEPS]], "four terms in each step"
    assert computed("MatMul", many, many.T.copy(), at_once=16) == [[4 * STEPS]]
    large = 100 * ones
    assert np.isinf(computed("MatMul", large, large.T.copy())).all()


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_softmax(opset: int) -> None:
    x = np.zeros((1, 64), np.float32)
    assert (computed("Softmax", x, opset=opset, axis=-1) == np.float32(1 / 64)).all()
    x = np.full((1, 256), -20, np.float32)
    x[0, 0] = 0
    terms = np.exp(x).astype(np.float16).astype(np.float32)
    total = added(lambda k: terms[:, k : k + 1], 256)
    expected = (terms / total).astype(np.float16).astype(np.float32)
    assert np.array_equal(computed("Softmax", x, opset=opset, axis=-1), expected)


def test_what_is_not_followed() -> None:
    x, w = drawn(0, 1, 4, 3, 3), drawn(1, 4, 1, 1, 1)
    assert tried("Conv", x, w, opset=17, at_once=1, group=4) is None
    assert tried("Softmax", x, opset=11, at_once=1, axis=1) is None
