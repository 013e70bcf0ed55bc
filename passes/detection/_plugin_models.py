"""Numpy models of TensorRT's plugins for detection, and the types of what they give.

plugin/efficientNMSPlugin and plugin/batchedNMSPlugin of NVIDIA/TensorRT, tag v8.6.1, with the
kernels efficientNMSInference.cu, gatherNMSOutputs.cu and, in plugin/common/kernels, allClassNMS.cu,
sortScoresPerClass.cu and sortScoresPerImage.cu. From 7.1.3 to v11.1 other versions differ in what
the passes here keep out of the way: 8.0 looks at 4096 boxes instead of 5000, and gives corners back
in order. Where the order is open on the device, which it is among equal scores above a threshold of
0.007 and among images in EfficientNMS_ONNX_TRT, these models take the first. Devices may round the
intersection over union otherwise in its last bit.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto

from graphfix.authoring import InferredType, Known, NodeView

Array = np.ndarray[Any, Any]

DOMAIN = "TRT"
EFFICIENT = f"{DOMAIN}::EfficientNMS_TRT"
EFFICIENT_ONNX = f"{DOMAIN}::EfficientNMS_ONNX_TRT"
BATCHED = f"{DOMAIN}::BatchedNMS_TRT"
BATCHED_DYNAMIC = f"{DOMAIN}::BatchedNMSDynamic_TRT"

_CANDIDATES = 5000
_DENSE = 0.007  # below this threshold scores are marked, not left out
_MARK = -32768.0


def _floats(inputs: Sequence[Array | None]) -> tuple[Array, Array]:
    """Return boxes[images, count, classes or 1, 4] and scores[images, count, classes]."""
    boxes, scores = inputs[0], inputs[1]
    if boxes is None or scores is None or len(inputs) > 2:
        raise NotImplementedError("boxes and scores alone are modelled")
    if boxes.dtype != np.float32 or scores.dtype != np.float32:
        raise NotImplementedError("float32 alone is modelled")
    boxes = boxes if boxes.ndim == 4 else boxes[:, :, np.newaxis]
    return boxes, scores.reshape(scores.shape[:3])


def _ordered(low: Array, high: Array) -> tuple[Array, Array]:
    """Swap coordinates in the plugin's way, which rounds."""
    difference = low - high
    larger = difference + high
    swap = low > high
    return np.where(swap, larger - difference, low), np.where(swap, larger, high)


def _overlaps(box: Array, others: Array) -> Array:
    """Return the intersection over union of one box with others, each [.., 4] of corners."""
    low, high = _ordered(box[..., :2], box[..., 2:])
    lows, highs = _ordered(others[..., :2], others[..., 2:])
    sides = np.minimum(high, highs) - np.maximum(low, lows)
    common = np.where((sides > 0).all(axis=-1), sides.prod(axis=-1), np.float32(0))
    union = _area(low, high) + _area(lows, highs) - common
    positive = (common > 0) & (union > 0)
    return np.where(positive, common / np.where(positive, union, np.float32(1)), np.float32(0))


def _area(low: Array, high: Array) -> Array:
    sides = high - low
    return np.where((sides > 0).all(axis=-1), sides.prod(axis=-1), np.float32(0))


def _detected(inputs: Sequence[Array | None], given: dict[str, Any], most: int) -> list[list[Any]]:
    """Return (score, class, box, number) of what EfficientNMS keeps of each image, in its order."""
    boxes, scores = _floats(inputs)
    if given["centered"]:
        half = boxes[..., 2:] * np.float32(0.5)
        boxes = np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)
    threshold, select = np.float32(given["score"]), np.float32(_DENSE)
    if given["sigmoid"]:
        select = np.log(select / (1 - select))
        threshold = np.log(threshold / (1 - threshold)) if threshold > 0 else np.float32(_MARK)
    classes = int(scores.shape[2])
    kept: list[list[Any]] = []
    for image, all_scores in enumerate(scores):
        flat = all_scores.reshape(-1)
        low: Array = np.less(flat, threshold)
        if given["background"] >= 0:
            low[int(given["background"]) :: classes] = True
        flat = np.where(low, np.float32(_MARK), flat)
        order = np.argsort(-flat, kind="stable")
        if threshold >= select:
            order = order[~low[order]]
        order = order[:_CANDIDATES]
        places, labels = order // classes, order % classes
        mine = boxes[image, places, labels if boxes.shape[2] > 1 else 0]
        alive = np.ones(len(order), bool)
        found: list[Any] = []
        for number in range(len(order)):
            if not alive[number]:
                continue
            if len(found) >= most:
                break
            found.append((flat[order[number]], labels[number], mine[number], places[number]))
            over = _overlaps(mine[number], mine) >= np.float32(given["overlap"])
            rivals = over if given["agnostic"] else over & (labels == labels[number])
            rivals[: number + 1] = False
            alive &= ~rivals
        kept.append(found)
    return kept


def efficient_nms(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """EfficientNMS_TRT: int32[images, 1] counts, boxes, scores, int32 classes; zeros fill up."""
    most = int(attributes["max_output_boxes"])
    given = {
        "score": attributes["score_threshold"],
        "overlap": attributes["iou_threshold"],
        "background": attributes.get("background_class", -1),
        "sigmoid": attributes.get("score_activation", 0),
        "agnostic": attributes.get("class_agnostic", 0),
        "centered": attributes.get("box_coding", 0),
    }
    kept = _detected(inputs, given, most)
    counts = np.array([[len(found)] for found in kept], np.int32)
    boxes = np.zeros((len(kept), most, 4), np.float32)
    scores = np.zeros((len(kept), most), np.float32)
    labels = np.zeros((len(kept), most), np.int32)
    for image, found in enumerate(kept):
        for place, (score, label, box, _) in enumerate(found):
            boxes[image, place], labels[image, place] = box, label
            scores[image, place] = 1 / (1 + np.exp(-score)) if given["sigmoid"] else score
    return counts, boxes, scores, labels


def efficient_nms_onnx(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """EfficientNMS_ONNX_TRT: int32[images * most, 3], filled up with the last row, or with -1."""
    most = int(attributes["max_output_boxes_per_class"])
    given = {
        "score": attributes["score_threshold"],
        "overlap": attributes["iou_threshold"],
        "background": -1,
        "sigmoid": 0,
        "agnostic": 0,
        "centered": attributes.get("center_point_box", 0),
    }
    kept = _detected(inputs, given, most)
    rows = [(i, label, place) for i, found in enumerate(kept) for _, label, _, place in found]
    result = np.full((len(kept) * most, 3), -1, np.int32)
    if rows:
        result[:] = rows[-1]
        result[: len(rows)] = rows
    return (result,)


def _jaccard(box: Array, others: Array, normal: bool, caffe: bool) -> Array:
    """Return the intersection over union as BatchedNMS has it."""
    more = np.float32(0 if normal or not caffe else 1)
    low, high = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    lows = np.minimum(others[:, :2], others[:, 2:])
    highs = np.maximum(others[:, :2], others[:, 2:])
    outside: Array = (lows > high) | (highs < low)
    sides = np.minimum(high, highs) - np.maximum(low, lows)
    sides = np.where(outside.any(axis=1, keepdims=True), np.float32(0), sides) + more
    common = np.where((sides > 0).all(axis=1), sides.prod(axis=1), np.float32(0))
    own = np.float32(0 if normal else 1)
    areas = (highs - lows + own).prod(axis=1) + (high - low + own).prod()
    positive = common > 0
    return np.where(positive, common / np.where(positive, areas - common, 1), np.float32(0))


def batched_nms(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """BatchedNMSDynamic_TRT: int32[images, 1] counts, boxes, scores, classes as floats."""
    boxes, scores = _floats(inputs)
    top, keep = int(attributes["topK"]), int(attributes["keepTopK"])
    if keep > top:
        raise NotImplementedError("keepTopK above topK leaves the outputs as they were")
    if attributes.get("shareLocation", 1) and boxes.shape[2] != 1:
        raise NotImplementedError("boxes that all classes share are one column")
    if attributes.get("numClasses", scores.shape[2]) != scores.shape[2]:
        raise NotImplementedError("numClasses is not the number of columns of the scores")
    clips = bool(attributes.get("clipBoxes", 1))
    said = _Said(
        np.float32(attributes["scoreThreshold"]),
        np.float32(attributes["iouThreshold"]),
        bool(attributes.get("isNormalized", 1)),
        bool(attributes.get("caffeSemantics", 1)),
        int(attributes.get("backgroundLabelId", -1)),
        top,
    )
    results = [_of_image(boxes[i], scores[i], said) for i in range(len(boxes))]
    counts = np.zeros((len(boxes), 1), np.int32)
    kept_boxes = np.zeros((len(boxes), keep, 4), np.float32)
    kept_scores = np.zeros((len(boxes), keep), np.float32)
    labels = np.full((len(boxes), keep), -1, np.float32)
    for image, found in enumerate(results):
        order = np.argsort(-np.array([entry[0] for entry in found]), kind="stable")[:keep]
        for place, number in enumerate(order):
            score, label, box = found[number]
            if box is None:
                continue
            clipped = box.clip(0, 1) if clips else box
            kept_boxes[image, place], labels[image, place] = clipped, label
            kept_scores[image, place] = score
            counts[image, 0] += 1
    return counts, kept_boxes, kept_scores, labels


class _Said(NamedTuple):
    """The attributes of a BatchedNMS, read before it is known how many images there are."""

    threshold: Any
    overlap: Any
    normal: bool
    caffe: bool
    background: int
    top: int


def _of_image(boxes: Array, scores: Array, said: _Said) -> list[Any]:
    """Return (score, class, box) in the order of classes; no box for what is dropped."""
    found: list[Any] = []
    for label in range(scores.shape[1]):
        own = scores[:, label]
        high = (own > said.threshold) & (label != said.background)
        own = np.where(high, own, np.float32(0))
        order = np.argsort(-own, kind="stable")[: said.top]
        mine, alive = boxes[order, label if boxes.shape[1] > 1 else 0], high[order].copy()
        if len(order) and alive[0]:
            for number in range(len(order)):
                if alive[number]:
                    over = _jaccard(mine[number], mine, said.normal, said.caffe) > said.overlap
                    over[: number + 1] = False
                    alive &= ~over
        for place, number in enumerate(order):
            entry = (own[number], label, mine[place]) if alive[place] else (np.float32(0), -1, None)
            found.append(entry)
        found.extend([(np.float32(0), -1, None)] * (said.top - len(order)))
    return found


def batched_nms_flat(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """BatchedNMS_TRT: as BatchedNMSDynamic_TRT, with counts of rank 1."""
    counts, *rest = batched_nms(inputs, attributes)
    return (counts.reshape(-1), *rest)


def _four(node: NodeView, most: str, flat: bool, labels: int) -> Sequence[InferredType | None]:
    boxes = node.input(0)
    if boxes is None or boxes.shape is None:
        return (None,) * 4
    images, rows, kind = boxes.shape[0], int(node.attr(most)), boxes.elem_type
    return (
        InferredType(TensorProto.INT32, (images,) if flat else (images, 1)),
        InferredType(kind, (images, rows, 4)),
        InferredType(kind, (images, rows)),
        InferredType(labels or kind, (images, rows)),
    )


def infer_efficient(node: NodeView) -> Sequence[InferredType | None]:
    """Return the types that EfficientNMS_TRT gives."""
    return _four(node, "max_output_boxes", False, TensorProto.INT32)


def infer_efficient_onnx(node: NodeView) -> Sequence[InferredType | None]:
    """Return the type that EfficientNMS_ONNX_TRT gives."""
    boxes = node.input(0)
    images = boxes.dim(0) if boxes is not None else None
    rows = None if images is None else images * int(node.attr("max_output_boxes_per_class"))
    return (InferredType(TensorProto.INT32, (rows, 3)),)


def infer_batched(node: NodeView) -> Sequence[InferredType | None]:
    """Return the types that BatchedNMSDynamic_TRT and BatchedNMS_TRT give."""
    return _four(node, "keepTopK", node.op == "BatchedNMS_TRT", 0)


KNOWN = {
    EFFICIENT: Known(infer_efficient, efficient_nms),
    EFFICIENT_ONNX: Known(infer_efficient_onnx, efficient_nms_onnx),
    BATCHED: Known(infer_batched, batched_nms_flat),
    BATCHED_DYNAMIC: Known(infer_batched, batched_nms),
}
