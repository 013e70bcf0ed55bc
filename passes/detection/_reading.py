"""What a NonMaxSuppression node asks for, as far as it is known when the file is written.

onnxruntime/core/providers/cpu/object_detection/non_max_suppression.cc of microsoft/onnxruntime is
what is meant: images one after the other, in each the classes, in each the boxes by falling score,
the one that comes first of those that tie; a box goes where the intersection over union with one
that was taken is above the threshold.
"""

import numpy as np
from msgspec import Struct

from graphfix.authoring import NodeView, Refuse, Value, needed

_BOXES, _SCORES, _LIMIT, _OVERLAP, _SCORE = range(5)


class Suppression(Struct, frozen=True):
    """One node.

    Attributes:
        boxes: float32[images, count, 4].
        scores: float32[images, classes, count].
        images: How many images.
        classes: How many classes.
        count: How many boxes.
        limit: How many boxes are taken of an image and a class at most.
        overlap: The threshold on the intersection over union.
        score: What a score must exceed; None where each box is looked at.
        centered: Whether boxes are middle and size instead of two corners.
    """

    boxes: Value
    scores: Value
    images: int
    classes: int
    count: int
    limit: int
    overlap: float
    score: float | None
    centered: bool

    @property
    def rows(self) -> int:
        """How many rows the result has at most."""
        return self.images * self.classes * self.limit


def read(node: NodeView) -> Suppression:
    """Read a node.

    Raises:
        Refuse: Something is not known, or onnxruntime would not run it.
    """
    boxes, scores = node.need(_BOXES), node.need(_SCORES)
    for value in (boxes, scores):
        if value.type_name != "float32":
            raise Refuse(f"{value.name} must be float32; it is {value.type_name}")
    sizes, others = boxes.static_shape, scores.static_shape
    if sizes is None or others is None:
        what = boxes if sizes is None else scores
        raise Refuse(f"the shape of {what.name} must be static; it is {list(what.shape or ())}")
    fits = len(sizes) == len(others) == 3 and sizes[::2] == (others[0], 4)
    if not fits or sizes[1] != others[2]:
        raise Refuse(
            f"boxes and scores must fit together; they are {list(sizes)} and {list(others)}"
        )
    images, classes, count = others
    limit = min(int(_number(node, _LIMIT, "max_output_boxes_per_class", 0)), count)
    if min(images, classes, limit) < 1:
        raise Refuse("some box must be selected; none ever is")
    overlap = _number(node, _OVERLAP, "iou_threshold", 0.0)
    if not 0 <= overlap <= 1:
        raise Refuse(f"the iou_threshold must be from 0 to 1; it is {overlap:g}")
    score = None
    if node.input(_SCORE) is not None:
        score = _number(node, _SCORE, "score_threshold", 0.0)
        if not np.isfinite(score):
            raise Refuse(f"the score_threshold must be finite; it is {score}")
    centered = int(node.attr("center_point_box", 0))
    if centered not in (0, 1):
        raise Refuse(f"center_point_box must be 0 or 1; it is {centered}")
    return Suppression(boxes, scores, images, classes, count, limit, overlap, score, bool(centered))


def _number(node: NodeView, place: int, name: str, default: float) -> float:
    value = node.input(place)
    if value is None:
        return default
    array = needed(value.array(), f"{name} must be a constant; it is computed at run time")
    if array.size != 1:
        raise Refuse(f"{name} must have one element; it has {array.size}")
    return float(array.reshape(-1)[0]) if array.dtype.kind == "f" else int(array.reshape(-1)[0])
