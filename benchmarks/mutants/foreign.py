"""Numpy models for the judge: operators of PyTorch and of com.microsoft with further arguments.

Each is written from the page of the operator; floats are computed in the dtype of the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper
from onnx.reference.op_run import OpRun

Array = np.ndarray[Any, Any]
CONTRIB = "com.microsoft"


class Further:
    """More of what PyTorch's operators compute, by their names."""

    def _softplus(self, x: Array, beta: Array, threshold: Array) -> Array:
        at = x * float(beta)
        return np.where(at > float(threshold), x, np.logaddexp(0, at) / float(beta))

    def _hardtanh(self, x: Array, low: Array, high: Array) -> Array:
        return np.clip(x, float(low), float(high))

    def _hardshrink(self, x: Array, border: Array) -> Array:
        return np.where(np.abs(x) <= float(border), 0, x)

    def _slice(self, x: Array, axis: Array, start: Array, end: Array, step: Array) -> Array:
        part: list[Any] = [slice(None)] * x.ndim
        part[int(axis)] = slice(int(start), int(end), int(step))
        return np.array(x[tuple(part)])

    def _pairwise_distance(
        self, x: Array, other: Array, order: Array, eps: Array, *_: Any
    ) -> Array:
        away = np.abs(x - other + float(eps)) ** float(order)
        return np.asarray(away.sum(-1) ** (1 / float(order)))


def _given(run: Any, name: str, default: Any) -> Any:
    for attribute in run.onnx_node.attribute:
        if attribute.name == name:
            value = helper.get_attribute_value(attribute)
            return value.decode() if isinstance(value, bytes) else value
    return default


class QuickGelu(OpRun):
    """x * sigmoid(alpha * x)."""

    op_domain = CONTRIB

    def _run(self, x: Array, **_: Any) -> tuple[Array, ...]:
        alpha = _given(self, "alpha", 1.702)
        return (np.asarray(x / (1 + np.exp(-alpha * x)), dtype=x.dtype),)


class CDist(OpRun):
    """Distances of the rows of two matrices."""

    op_domain = CONTRIB

    def _run(self, a: Array, b: Array, **_: Any) -> tuple[Array, ...]:
        squares = ((a[:, None] - b[None]) ** 2).sum(-1)
        metric = _given(self, "metric", "sqeuclidean")
        return (np.asarray(np.sqrt(squares) if metric == "euclidean" else squares, dtype=a.dtype),)


class BiasSoftmax(OpRun):
    """Softmax of a sum, over an axis and all after it."""

    op_domain = CONTRIB

    def _run(self, x: Array, bias: Array, **_: Any) -> tuple[Array, ...]:
        axes = tuple(range(_given(self, "axis", 1) % x.ndim, x.ndim))
        total = x + bias
        e = np.exp(total - total.max(axes, keepdims=True))
        return (np.asarray(e / e.sum(axes, keepdims=True), dtype=x.dtype),)


class GroupNorm(OpRun):
    """Groups of channels normalised, then x * sigmoid(x) where it is asked for."""

    op_domain = CONTRIB

    def _run(self, x: Array, gamma: Array, beta: Array, **_: Any) -> tuple[Array, ...]:
        last, groups = _given(self, "channels_last", 1), _given(self, "groups", 1)
        first = np.moveaxis(x, -1, 1) if last else x
        parts = first.reshape(len(x), groups, -1)
        away = parts - parts.mean(-1, keepdims=True)
        rate = np.sqrt((away * away).mean(-1, keepdims=True) + _given(self, "epsilon", 1e-5))
        lined = (1, -1, *[1] * (x.ndim - 2))
        y = (away / rate).reshape(first.shape) * gamma.reshape(lined) + beta.reshape(lined)
        y = y / (1 + np.exp(-y)) if _given(self, "activation", 0) else y
        return (np.asarray(np.moveaxis(y, 1, -1) if last else y, dtype=x.dtype),)


FOREIGN: list[type[OpRun]] = [QuickGelu, CDist, BiasSoftmax, GroupNorm]
