"""What a suppression gives, in numpy: the reference of `--attach-nms`, with nothing of its nodes.

Boxes of an image and a class are taken by falling score, the first of those that tie; a box goes
where its overlap with one that was taken is above the threshold. The best of all classes are
given, of equal scores those of the lower class first.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

Array = np.ndarray[Any, Any]
_HALF = np.float32(0.5)


def detections(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Return int32[N, 1] counts, boxes, scores, int32 classes and the columns after the classes.

    Args:
        inputs: The outputs of the head, then the thresholds of scores and overlaps, how many boxes
            an image has at most, and the classes that are looked for where not all are.
        attributes: ``layout``, how many ``classes`` there are, and columns after them: ``extra``.
    """
    layout = cast("str", attributes["layout"])
    given = [cast("Array", value) for value in inputs]
    heads, rest = (given[:1], given[1:]) if "yolo" in layout else (given[:2], given[2:])
    boxes, scores, extra = _read(heads, layout, cast("int", attributes["classes"]))
    threshold, overlap, count = (value.reshape(-1)[0] for value in rest[:3])
    first = 1 if layout == "ssd" else 0
    every = range(first, scores.shape[2] + first)
    labels: list[int] = rest[3].tolist() if len(rest) > 3 else list(every)
    most, images = int(count), len(boxes)
    counts = np.zeros((images, 1), np.int32)
    shown = np.zeros((images, most, 4), np.float32)
    points = np.zeros((images, most), np.float32)
    named = np.zeros((images, most), np.int32)
    more = np.zeros((images, most, extra.shape[2]), np.float32)
    for image in range(images):
        found: list[tuple[float, int, int]] = []
        for place, label in enumerate(labels):
            own = scores[image, :, label - first]
            kept = suppressed(boxes[image], own, float(threshold), float(overlap), most)
            found += [(-float(own[box]), place, box) for box in kept]
        found = sorted(found)[:most]
        counts[image] = len(found)
        for row, (score, place, box) in enumerate(found):
            shown[image, row], points[image, row] = boxes[image, box], -score
            named[image, row], more[image, row] = labels[place], extra[image, box]
    ends = (counts, shown, points, named)
    return (*ends, more) if attributes["extra"] else ends


def suppressed(
    boxes: Array, scores: Array, threshold: float, overlap: float, most: int
) -> list[int]:
    """Return which boxes of one class are kept, by falling score; corners float32[boxes, 4]."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > np.float32(threshold)]
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    areas = (high - low).prod(axis=1)
    kept: list[int] = []
    while len(order) and len(kept) < most:
        best, order = int(order[0]), order[1:]
        kept.append(best)
        sides = np.minimum(high[best], high[order]) - np.maximum(low[best], low[order])
        common = np.where((sides > 0).all(axis=1), sides.prod(axis=1), np.float32(0))
        union = areas[best] + areas[order] - common
        over = common / np.where(union > 0, union, np.float32(1))
        order = order[~((over > np.float32(overlap)) & (union > 0))]
    return kept


def _read(heads: list[Array], layout: str, classes: int) -> tuple[Array, Array, Array]:
    """Return boxes by their corners, scores [N, boxes, classes] and the columns after them."""
    arrays: list[Array] = [head.astype(np.float32) for head in heads]
    if layout in ("yolov5", "yolov8"):
        rows = arrays[0].swapaxes(1, 2) if layout == "yolov8" else arrays[0]
        before = 4 if layout == "yolov8" else 5
        there = rows[..., 4:5] if layout == "yolov5" else np.float32(1)
        points = rows[..., before : before + classes] * there
        return _corners(rows[..., :4]), points, rows[..., before + classes :]
    boxes = arrays[0].reshape(-1, *arrays[0].shape[-2:])
    scores: Array = arrays[1].reshape(-1, *arrays[1].shape[-2:])
    if layout == "detr":
        risen = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores = (risen / risen.sum(axis=-1, keepdims=True))[..., :-1]
    elif layout == "rtdetr":
        scores = 1 / (1 + np.exp(-scores))
    elif layout == "ssd":
        scores = scores[..., 1:]
    boxes = _corners(boxes) if "detr" in layout else boxes
    return boxes, scores, boxes[..., :0]


def _corners(boxes: Array) -> Array:
    middle, reach = boxes[..., :2], boxes[..., 2:] * _HALF
    return np.concatenate([middle - reach, middle + reach], axis=-1)
