"""Heads that are drawn for a proof: boxes that overlap, and as many scores that pass as matter.

Numbers that are drawn for the image of a detector give nothing that passes a threshold, or nothing
else; the first image here has few detections, the second some, the third more than rows.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from graphfix.edits.arrays import Array
from graphfix.edits.detectors.heads import Head
from graphfix.edits.detectors.suppressing import Wish

IMAGES = 3
_BOXES = 200  # at most
_SIDE = 100.0  # of the image
_ROWS, _SCORE, _IOU = 20, 0.25, 0.5  # what the inputs of the model are fed with
_MOST = 1500


def drawn(head: Head, wish: Wish) -> dict[str, Array]:
    """Return a head, and what the inputs for thresholds are fed with, by ``head0`` and names."""
    rng = np.random.default_rng(0)
    images = IMAGES if head.rank == 3 else 1
    rows = wish.count or _ROWS
    threshold = _SCORE if wish.score is None else wish.score
    count = max(min(head.boxes or _BOXES, _BOXES), ceil(rows / head.classes))
    # The pattern of each class has as many, whether it is looked for or not.
    some = min(head.classes, 8)
    part = np.array([[[4]], [[rows / 2]], [[3 * rows]]][-images:]) / (count * some)
    shape = (images, count, head.classes)
    passing = rng.uniform(size=shape) < np.minimum(part, _MOST / (count * some))
    passing[..., some:] &= rng.uniform(size=passing[..., some:].shape) < some / head.classes
    scores = rng.uniform(size=shape) * np.where(passing, 1 - threshold, threshold)
    scores = np.where(passing, threshold + scores, scores).clip(1e-6, 1 - 1e-6)
    middle = rng.uniform(0, _SIDE, (images, count, 2))
    boxes = np.concatenate([middle, rng.uniform(0.1, 0.7, (images, count, 2)) * _SIDE], axis=-1)
    found = _laid_out(head, boxes, scores, rng)
    fed = {
        f"head{i}": (each if head.rank == 3 else each[0]).astype(kind)
        for i, (each, kind) in enumerate(zip(found, head.types, strict=True))
    }
    values = {
        "score": ("score_threshold", np.array([_SCORE], np.float32)),
        "iou": ("iou_threshold", np.array([_IOU], np.float32)),
        "count": ("max_detections", np.array([_ROWS], np.int64)),
        "classes": ("classes", np.arange(head.classes)[-3:] + (head.layout == "ssd")),
    }
    return fed | {values[name][0]: values[name][1] for name in wish.inputs}


def _laid_out(head: Head, boxes: Array, scores: Array, rng: np.random.Generator) -> list[Array]:
    """Return the outputs of a head with these boxes (middle and size) and scores."""
    shape = boxes.shape[:2]
    if head.layout in ("yolov5", "yolov8"):
        columns = [boxes, scores, rng.normal(size=(*shape, head.extra))]
        if head.layout == "yolov5":
            there = rng.uniform(0.8, 1, (*shape, 1))
            columns[1:2] = [there, scores]
        rows = np.concatenate(columns, axis=-1)
        return [rows.swapaxes(1, 2) if head.layout == "yolov8" else rows]
    if head.layout == "rtdetr":
        return [boxes / _SIDE, np.log(scores / (1 - scores))]
    none = rng.uniform(size=(*shape, 1))
    if head.layout == "detr":  # softmax of logarithms is the share of the sum
        left = np.maximum(1 - scores.sum(axis=-1, keepdims=True), 1e-6)
        return [boxes / _SIDE, np.log(np.concatenate([scores, left], axis=-1))]
    low, high = boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2
    corners = np.concatenate([low, high], axis=-1)
    return [corners, np.concatenate([none, scores], axis=-1) if head.layout == "ssd" else scores]
