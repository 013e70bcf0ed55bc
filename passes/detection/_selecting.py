"""Selecting boxes with operators of fixed sizes: one step for each box that may be taken."""

import numpy as np

from graphfix.authoring import Builder, Value

from ._reading import Suppression

EMITS = (
    "Add Concat Div Equal Gather Greater Max Min Mul Or ReduceProd Reshape Slice Sub TopK "
    "Transpose Unsqueeze Where"
)


def select(build: Builder, what: Suppression) -> tuple[Value, Value]:
    """Return which boxes are taken, and whether there was one to take.

    Returns:
        int64[images * classes, limit] and bool[images * classes, limit]; where there was none the
        index is that of some box.
    """
    indices: list[Value] = []
    scores: list[Value] = []
    for image in range(what.images):
        taken, best = _of_image(build, what, image)
        indices.append(taken)
        scores.append(best)
    chosen = _joined(build, indices, 0)
    return chosen, build.Greater(_joined(build, scores, 0), np.float32(-np.inf))


def _joined(build: Builder, values: list[Value], axis: int) -> Value:
    return values[0] if len(values) == 1 else build.Concat(*values, axis=axis)


def _picked(build: Builder, values: Value, image: int, shape: list[int], images: int) -> Value:
    if images == 1:
        return build.Reshape(values, shape)
    return build.Gather(values, np.int64(image), axis=0)


def corners(build: Builder, boxes: Value, centered: bool) -> tuple[Value, Value]:
    """Return the lower and the upper corners of boxes[count, 4] as float32[2, count]."""
    columns = build.Transpose(boxes, perm=[1, 0])
    first = build.Slice(columns, [0], [2], [0])
    second = build.Slice(columns, [2], [4], [0])
    if not centered:
        return build.Min(first, second), build.Max(first, second)
    half = build.Div(second, np.float32(2))
    return build.Sub(first, half), build.Add(first, half)


def _of_image(build: Builder, what: Suppression, image: int) -> tuple[Value, Value]:
    """Take box after box for all classes at once; see SuppressByIOU of onnxruntime for the order.

    Sides that do not overlap are no sides at all, so that no product of two negative ones counts.
    """
    boxes = _picked(build, what.boxes, image, [what.count, 4], what.images)
    scores = _picked(build, what.scores, image, [what.classes, what.count], what.images)
    low, high = corners(build, boxes, what.centered)
    area = build.ReduceProd(build.Sub(high, low), axes=[0], keepdims=0)
    lows, highs = build.Unsqueeze(low, axes=[1]), build.Unsqueeze(high, axes=[1])
    numbers = build.constant(np.arange(what.count))
    nothing = build.constant(np.float32(-np.inf))
    left = scores
    if what.score is not None:
        left = build.Where(build.Greater(scores, np.float32(what.score)), scores, nothing)
    taken: list[Value] = []
    best: list[Value] = []
    for step in range(what.limit):
        score, index = build.multi("TopK", left, np.array([1]), outputs=2, axis=-1)
        taken.append(index)
        best.append(score)
        if step + 1 == what.limit:
            break
        top = build.Min(build.Gather(high, index, axis=1), highs)
        bottom = build.Max(build.Gather(low, index, axis=1), lows)
        sides = build.Max(build.Sub(top, bottom), np.float32(0))
        common = build.ReduceProd(sides, axes=[0], keepdims=0)
        both = build.Sub(build.Add(build.Gather(area, index, axis=0), area), common)
        over = build.Greater(build.Div(common, both), np.float32(what.overlap))
        gone = build.Or(over, build.Equal(numbers, index))
        left = build.Where(gone, nothing, left)
    return _joined(build, taken, 1), _joined(build, best, 1)
