"""The nodes that choose among the boxes of a head, as a text of ONNX.

Every image has `count` rows, those that were chosen first, by falling score; zeros fill up, as in
plugins of the interface of EfficientNMS, whose outputs have the same shapes and types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, parser
from onnx import numpy_helper as arrays

from graphfix.edits.arrays import Array
from graphfix.edits.detectors.heads import Head

STANDARD = "NonMaxSuppression"
_CENTERED = frozenset({"yolov5", "yolov8", "detr", "rtdetr"})
_END = np.iinfo(np.int64).max
_LOWEST = np.finfo(np.float32).min  # of what was not chosen: scores may be logits, below 0
# What one image has at most, and other values that may be inputs: name, type.
ASKED = {
    "score": ("score_threshold", TensorProto.FLOAT),
    "iou": ("iou_threshold", TensorProto.FLOAT),
    "count": ("max_detections", TensorProto.INT64),
    "classes": ("classes", TensorProto.INT64),
}
ENDS = ("num_detections", "detection_boxes", "detection_scores", "detection_classes")
EXTRA = "detection_extra"


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a suppression; None is an input of the model.

    Attributes:
        score: A score must exceed it.
        iou: A box goes where it overlaps a better one of its class by more.
        count: How many boxes of an image are chosen at most.
        classes: Those that are looked for, by number; empty for all.
    """

    score: float | None
    iou: float | None
    count: int | None
    classes: tuple[int, ...] | None

    @property
    def picks(self) -> bool:
        """Whether only some classes are looked for."""
        return self.classes is None or bool(self.classes)

    @property
    def inputs(self) -> list[str]:
        """Which of them are inputs."""
        return [name for name in ASKED if getattr(self, name) is None]


def outputs_of(head: Head, wish: Wish, images: int | str | None) -> list[ValueInfoProto]:
    """Return the outputs of the suppression of a head."""
    rows = wish.count if wish.count is not None else ASKED["count"][0]
    kinds = [TensorProto.INT32, TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.INT32]
    shapes: list[tuple[int | str | None, ...]] = [
        (images, 1),
        (images, rows, 4),
        (images, rows),
        (images, rows),
    ]
    names = [*ENDS, EXTRA] if head.extra else list(ENDS)
    kinds.append(TensorProto.FLOAT)
    shapes.append((images, rows, head.extra))
    return [
        helper.make_tensor_value_info(*each) for each in zip(names, kinds, shapes, strict=False)
    ]


def constants_of(wish: Wish) -> dict[str, Array]:
    """Return what is asked, as stored tensors by name; what is an input is none."""
    found: dict[str, Array] = {}
    if wish.score is not None:
        found["score_threshold"] = np.array([wish.score], np.float32)
    if wish.iou is not None:
        found["iou_threshold"] = np.array([wish.iou], np.float32)
    if wish.count is not None:
        found["max_detections"] = np.array([wish.count], np.int64)
    if wish.classes:
        found["classes"] = np.array(wish.classes, np.int64)
    return found


def nodes_of(
    head: Head, wish: Wish, opset: int, op: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes from ``head0`` and ``head1`` to the outputs, and their constants.

    Args:
        head: The head.
        wish: What is asked; all of it numbers for a plugin.
        opset: The opset of the model, 11 at least.
        op: ``NonMaxSuppression``, or ``DOMAIN::NAME`` of a plugin of the interface of EfficientNMS.
    """
    stored = constants_of(wish)
    lines = _boxes_and_scores(head, stored)
    picked = "scores"
    if wish.picks:
        stored["first"] = np.array([_first(head)], np.int64)
        lines.append("chosen = Sub (classes, first)")
        lines.append("picked = Gather <axis = 1> (scores, chosen)")
        picked = "picked"
    if op != STANDARD:
        lines += _by_plugin(head, wish, picked, op, stored)
    else:
        lines += _by_operators(head, wish, picked, opset, stored)
    return _parsed(lines, stored)


def _by_plugin(head: Head, wish: Wish, scores: str, op: str, stored: dict[str, Array]) -> list[str]:
    """Return a plugin, which keeps what reaches a threshold."""
    score, iou, count = wish.score or 0.0, wish.iou or 0.0, wish.count or 0  # none is an input
    plain = not wish.picks and not _first(head)
    label = "detection_classes" if plain else "label"
    lines = [
        f"columns = Transpose <perm = [0, 2, 1]> ({scores})",
        f"num_detections, detection_boxes, detection_scores, {label} = {op.replace('::', '.')}"
        f" <score_threshold = {_above(score)!r}, iou_threshold = {_above(iou)!r},"
        f" max_output_boxes = {count}, background_class = -1, score_activation = 0,"
        ' box_coding = 0, plugin_version = "1"> (corners, columns)',
    ]
    if plain:
        return lines
    stored["places"] = np.arange(count, dtype=np.int32).reshape(1, -1)
    return [*lines, "there = Less (places, num_detections)", *_named(head, wish, label, stored)]


def _above(number: float) -> float:
    return float(np.nextafter(np.float32(number), np.float32(np.inf)))


def _first(head: Head) -> int:
    """Return the label of the first class that is looked at: a background counts as one."""
    return 1 if head.layout == "ssd" else 0


def _slice(result: str, x: str, begin: int, end: int, axis: int, stored: dict[str, Array]) -> str:
    names: list[str] = []
    for number in (begin, end, axis):
        name = "end" if number == _END else f"n{number}"
        stored[name] = np.array([number], np.int64)
        names.append(name)
    return f"{result} = Slice ({x}, {', '.join(names)})"


def _boxes_and_scores(head: Head, stored: dict[str, Array]) -> list[str]:
    """Return what computes ``corners`` [N, boxes, 4] and ``scores`` [N, classes, boxes]."""
    lines = [
        f"f{i} = Identity (head{i})" if kind == "float32" else f"f{i} = Cast <to = 1> (head{i})"
        for i, kind in enumerate(head.types)
    ]
    if head.rank == 2:
        for place, columns in enumerate((4, head.classes + _first(head))):
            if head.layout == "detr" and place:
                columns += 1
            stored[f"shape{place}"] = np.array([1, -1, columns], np.int64)
            lines.append(f"r{place} = Reshape (f{place}, shape{place})")
    one, two = ("r0", "r1") if head.rank == 2 else ("f0", "f1")
    ends = 4 + head.classes
    boxes = one
    if head.layout == "yolov8":
        lines.append("rows = Transpose <perm = [0, 2, 1]> (f0)")
        lines.append(_slice("scores", "f0", 4, ends, 1, stored))
        boxes = "rows"
    elif head.layout == "yolov5":
        ends += 1
        lines.append(_slice("there_is", one, 4, 5, 2, stored))
        lines.append(_slice("which", one, 5, ends, 2, stored))
        lines.append("both = Mul (which, there_is)")
        lines.append("scores = Transpose <perm = [0, 2, 1]> (both)")
    else:
        first = _first(head)
        if head.layout == "detr":
            lines.append(f"all = Softmax <axis = -1> ({two})")
            two = "all"
        if head.layout == "rtdetr":
            lines.append(f"all = Sigmoid ({two})")
            two = "all"
        lines.append(_slice("wanted", two, first, first + head.classes, 2, stored))
        lines.append("scores = Transpose <perm = [0, 2, 1]> (wanted)")
    if head.extra:
        lines.append(_slice("others", boxes, ends, _END, 2, stored))
    if head.layout not in _CENTERED:
        return [*lines, f"corners = Identity ({boxes})"]
    stored["half"] = np.array([0.5], np.float32)
    return [
        *lines,
        _slice("middle", boxes, 0, 2, 2, stored),
        _slice("size", boxes, 2, 4, 2, stored),
        "reach = Mul (size, half)",
        "low = Sub (middle, reach)",
        "high = Add (middle, reach)",
        "corners = Concat <axis = 2> (low, high)",
    ]


def _by_operators(
    head: Head, wish: Wish, scores: str, opset: int, stored: dict[str, Array]
) -> list[str]:
    """Return NonMaxSuppression, and what fills its result up to `count` rows of each image.

    What was chosen keeps its score, the rest gets the lowest; the best `count` of all follow.
    """
    stored |= {
        "none": np.array([_LOWEST], np.float32),
        "zero": np.array([0], np.float32),
        "no_label": np.array([0], np.int64),
        "flat": np.array([0, -1], np.int64),
        "column": np.array([0, -1, 1], np.int64),
        "as_box": np.array([1, 1, 4], np.int64),
        "nowhere": np.array([0, 0, 0], np.int64),
    }
    lines = [
        f"found = NonMaxSuppression (corners, {scores}, max_detections, iou_threshold,"
        " score_threshold)",
        f"values = GatherND ({scores}, found)",
        f"sizes = Shape ({scores})",
        "blank = Expand (none, sizes)",
        "kept = ScatterND (blank, found, values)",
        "every = Reshape (kept, flat)",
    ]
    classes = len(wish.classes or ()) or head.classes
    sizes = (head.boxes, wish.count, wish.classes)
    filled = "every"
    if None in sizes or classes * (head.boxes or 0) < (wish.count or 0):
        filled = "filled"
        stored["scalar"] = np.array(_LOWEST, np.float32)
        lines += [
            "pads = Concat <axis = 0> (nowhere, max_detections)",
            "filled = Pad (every, pads, scalar)",
        ]
    axes = "<axes = [1], keepdims = 1> (counted)"
    if opset >= 13:
        stored["n1"] = np.array([1], np.int64)
        axes = "<keepdims = 1> (counted, n1)"
    lines += [
        f"best, at = TopK ({filled}, max_detections)",
        "there = Greater (best, none)",
        "detection_scores = Where (there, best, zero)",
        "counted = Cast <to = 6> (there)",
        f"num_detections = ReduceSum {axes}",
        _slice("boxes", "sizes", 2, 3, 0, stored),
        "label = Div (at, boxes)",
        *_named(head, wish, "label", stored),
        "box = Mod (at, boxes)",
        "row = Reshape (box, column)",
        "is_box = Reshape (there, column)",
        "place = Expand (row, as_box)",
        "near = GatherElements <axis = 1> (corners, place)",
        "detection_boxes = Where (is_box, near, zero)",
    ]
    if head.extra:
        stored["as_extra"] = np.array([1, 1, head.extra], np.int64)
        lines += [
            "more_places = Expand (row, as_extra)",
            "more = GatherElements <axis = 1> (others, more_places)",
            f"{EXTRA} = Where (is_box, more, zero)",
        ]
    return lines


def _named(head: Head, wish: Wish, label: str, stored: dict[str, Array]) -> list[str]:
    """Return what gives labels the numbers that the classes have, int32, and 0 where none is."""
    stored["no_label"] = np.array([0], np.int64)
    lines = [f"as_int = Cast <to = 7> ({label})", "safe = Where (there, as_int, no_label)"]
    if wish.picks:
        lines.append("number = Gather <axis = 0> (classes, safe)")
    elif _first(head):
        stored["first"] = np.array([1], np.int64)
        lines.append("number = Add (safe, first)")
    else:
        return [*lines, "detection_classes = Cast <to = 6> (safe)"]
    lines.append("shown = Where (there, number, no_label)")
    return [*lines, "detection_classes = Cast <to = 6> (shown)"]


def _parsed(
    lines: list[str], stored: Mapping[str, Array]
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Read the lines; what only gives another name (Identity) is no node."""
    graph: GraphProto = parser.parse_graph(f"g () => () {{ {' '.join(lines)} }}")
    same: dict[str, str] = {}
    nodes: list[NodeProto] = []
    for node in graph.node:
        read = [same.get(name, name) for name in node.input]
        if node.op_type == "Identity":
            same[node.output[0]] = read[0]
            continue
        node.ClearField("input")
        node.input.extend(read)
        nodes.append(node)
    used = {name for node in nodes for name in node.input}
    return nodes, [arrays.from_array(a, name) for name, a in stored.items() if name in used]
