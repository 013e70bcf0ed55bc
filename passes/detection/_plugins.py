"""Asking a plugin for detections, and finding out which boxes these are."""

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value, Variable

from ._plugin_models import DOMAIN, KNOWN
from ._reading import Suppression

EMITS = (
    "Add And Cast Concat Div Equal Gather Greater Less Max Min Mul Not ReduceMin ReduceSum Reshape "
    "Slice Sub TopK Transpose Unsqueeze"
)
_LOOKED_AT = 4096

Asked = tuple[Value, Value, Value]


def above(number: float) -> float:
    """Return the next float32: what is at least that is above the number."""
    return float(np.nextafter(np.float32(number), np.float32(np.inf)))


def check_sizes(what: Suppression, calls: int, most_calls: int) -> None:
    """Look at how many boxes and calls a plugin would have.

    Raises:
        Refuse: It looks at fewer boxes, or there would be too many calls.
    """
    if what.count > _LOOKED_AT:
        raise Refuse(
            f"there must be at most {_LOOKED_AT} boxes, which is what the plugin looks at; there "
            f"are {what.count}"
        )
    if calls > most_calls:
        raise Refuse(
            f"there must be at most {most_calls} plugin nodes; there would be {calls}, and one "
            "for all classes would give rows by falling score and one limit for all classes"
        )


def emit(build: Builder, op: str, outputs: int, *inputs: Value, **given: Any) -> tuple[Value, ...]:
    """Emit a plugin node, with the types of its outputs."""
    values = build.multi(op, *inputs, outputs=outputs, domain=DOMAIN, plugin_version="1", **given)
    producer = values[0].producer
    assert producer is not None, "it was just made"
    for value, known in zip(values, KNOWN[f"{DOMAIN}::{op}"].infer(producer), strict=True):
        if known is not None and isinstance(value.tensor, Variable):
            value.tensor.elem_type, value.tensor.shape = known.elem_type, known.shape
    return values


def corners(build: Builder, what: Suppression) -> Value:
    """Return the boxes as lower and upper corners, float32[images, count, 4].

    Plugins put corners in order with a rounding of their own, and a size below zero is none.
    """
    first = build.Slice(what.boxes, [0], [2], [2])
    second = build.Slice(what.boxes, [2], [4], [2])
    if what.centered:
        half = build.Div(build.Max(second, np.float32(0)), np.float32(2))
        return build.Concat(build.Sub(first, half), build.Add(first, half), axis=2)
    return build.Concat(build.Min(first, second), build.Max(first, second), axis=2)


def of_class(build: Builder, what: Suppression, label: int) -> Value:
    """Return the scores of a class, float32[images, 1, count]."""
    if what.classes == 1:
        return what.scores
    return build.Slice(what.scores, [label], [label + 1], [1])


def by_class(
    build: Builder, what: Suppression, boxes: Value, ask: Callable[[Value], Asked]
) -> tuple[Value, Value]:
    """Ask a plugin about one class after the other.

    Args:
        build: The builder.
        what: The suppression.
        boxes: Corners, float32[images, count, 4].
        ask: Gets the scores of a class, float32[images, 1, count]; returns the boxes and scores
            that the plugin found, and which of them count, bool[images, limit].

    Returns:
        Indices of boxes and which of them count, both [images, classes, limit].
    """
    indices: list[Value] = []
    valid: list[Value] = []
    for label in range(what.classes):
        scores = of_class(build, what, label)
        near, best, counted = ask(scores)
        indices.append(located(build, what, boxes, scores, (near, best)))
        valid.append(counted)
    return stacked(build, indices), stacked(build, valid)


def stacked(build: Builder, parts: list[Value]) -> Value:
    """Return [images, limit] of each class as [images, classes, limit]."""
    return build.Concat(*(build.Unsqueeze(part, axes=[1]) for part in parts), axis=1)


def located(
    build: Builder, what: Suppression, boxes: Value, scores: Value, found: tuple[Value, Value]
) -> Value:
    """Return which boxes a plugin gave back, int64[images, limit]: those with the same values.

    Of several that are alike, the first detection is the first box, the second the second. Where
    there is no such box the result is that of some box.

    Args:
        build: The builder.
        what: What was asked for.
        boxes: float32[images, count, 4], as the plugin got them.
        scores: float32[images, 1, count].
        found: What the plugin gave: float32[images, limit, 4] and float32[images, limit].
    """
    near = _alike(build, build.Unsqueeze(found[0], axes=[2]), build.Unsqueeze(boxes, axes=[1]))
    column = build.Unsqueeze(found[1], axes=[2])
    match = build.Mul(near, _ones(build, build.Equal(column, scores)))
    # Counted from the end, so that nothing is 0 and the first has the highest number.
    falling = np.arange(what.count, 0, -1, dtype=np.float32)
    keys, _ = build.multi(
        "TopK", build.Mul(match, falling), np.array([what.limit]), outputs=2, axis=2
    )
    twins = _alike(build, build.Unsqueeze(found[0], axes=[2]), build.Unsqueeze(found[0], axes=[1]))
    row = build.Unsqueeze(found[1], axes=[1])
    twins = build.Mul(twins, _ones(build, build.Equal(column, row)))
    earlier = np.tril(np.ones((what.limit, what.limit), np.float32), -1)
    rank = build.ReduceSum(build.Mul(twins, earlier), axes=[2], keepdims=1)
    numbers = np.arange(what.limit, dtype=np.float32)
    chosen = build.Mul(keys, _ones(build, build.Equal(rank, numbers)))
    key = build.Max(build.ReduceSum(chosen, axes=[2], keepdims=0), np.float32(1))
    places = build.Sub(build.constant(np.float32(what.count)), key)
    return build.Cast(places, to=TensorProto.INT64)


def _ones(build: Builder, truth: Value) -> Value:
    return build.Cast(truth, to=TensorProto.FLOAT)


def _alike(build: Builder, one: Value, other: Value) -> Value:
    """Say 1 or 0 of each pair of boxes."""
    return build.ReduceMin(_ones(build, build.Equal(one, other)), axes=[3], keepdims=0)
