"""Heads of detectors that choose no boxes: where boxes and scores are, found by shape."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from onnx import ModelProto

from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.parts import declared
from graphfix.edits.step import Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import copied
from graphfix.ir.storage.weights import type_name
from graphfix.operators.table import GIVES_ELEMENTS

KEY = "graphfix_nms"  # of the metadata: what was attached or detached
FLOATS = ("float16", "float32")
_TASKS = ("detect", "segment", "pose", "obb")  # of ultralytics
_BOX = 4
_ROW = 6  # columns of finished detections: corners, score and class
_MOVES = GIVES_ELEMENTS | {"Cast"}
# The inputs of what joins numbers or takes some of each; other moves have them in the first.
_JOINED = {
    "Concat": slice(None),
    "Where": slice(1, None),
    "ScatterElements": slice(0, None, 2),
    "ScatterND": slice(0, None, 2),
}
_ARITHMETIC = frozenset({"Add", "Clip", "Div", "Max", "Min", "Mul", "Sub"})


@dataclass(frozen=True, slots=True)
class Layout:
    """How a head lays its numbers out.

    Attributes:
        tensors: How many: one, or boxes and scores.
        before: Columns before those of the classes, or classes left out at the beginning.
        after: Classes left out at the end.
        text: The shapes, for messages and the help.
    """

    tensors: int
    before: int
    after: int
    text: str


# What is in them is in docs/edit.md.
LAYOUTS = {
    "yolov5": Layout(1, 5, 0, "[N, boxes, 5 + classes]"),
    "yolov8": Layout(1, 4, 0, "[N, 4 + classes, boxes]"),
    "detr": Layout(2, 0, 1, "[N, boxes, 4] and logits [N, boxes, classes + 1]"),
    "rtdetr": Layout(2, 0, 0, "[N, boxes, 4] and logits [N, boxes, classes]"),
    "ssd": Layout(2, 1, 0, "[N, boxes, 4] and scores [N, boxes, 1 + classes]"),
    "retinanet": Layout(2, 0, 0, "[N, boxes, 4] and scores [N, boxes, classes]"),
}


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a detector.

    Attributes:
        layout: One of `LAYOUTS`.
        names: Its outputs: one, or boxes and scores.
        classes: How many classes it has.
        boxes: How many boxes; None where that is open.
        extra: Columns after those of the classes: coefficients of masks, keypoints.
        rank: 3; 2 where it has no axis of images.
        type: The element type of boxes, of scores.
    """

    layout: str
    names: tuple[str, ...]
    classes: int
    boxes: int | None
    extra: int
    rank: int
    types: tuple[str, ...]


class Noted(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the metadata says of a suppression that was attached or detached.

    Attributes:
        attached: Whether the model has it now.
        op: The operator.
        layout: That of the head.
        heads: The outputs that are, or were, the head.
        of: How many classes the head has, where columns follow them.
        score: The threshold of scores; None where it is not known, or an input.
        iou: The threshold of overlaps.
        count: How many boxes an image has at most.
        classes: Those that are looked for; empty for all.
        inputs: Which of these are inputs.
    """

    attached: bool = False
    op: str = ""
    layout: str = ""
    heads: tuple[str, ...] = ()
    of: int = 0
    score: float | None = None
    iou: float | None = None
    count: int | None = None
    classes: tuple[int, ...] | None = None
    inputs: tuple[str, ...] = ()


def noted_of(proto: ModelProto) -> Noted:
    """Return what the metadata says; nothing where it says nothing that can be read."""
    text = next((entry.value for entry in proto.metadata_props if entry.key == KEY), "{}")
    try:
        return msgspec.json.decode(text, type=Noted)
    except msgspec.MsgspecError:
        return Noted()


def note(proto: ModelProto, noted: Noted) -> None:
    """Write it into the metadata of a model."""
    kept = [copied(entry) for entry in proto.metadata_props if entry.key != KEY]
    proto.ClearField("metadata_props")
    proto.metadata_props.extend(kept)
    proto.metadata_props.add(key=KEY, value=msgspec.json.encode(noted).decode())


def find_head(
    subject: Subject, layout: str, names: tuple[str, ...], classes: int, where: str
) -> Head:
    """Return the head of a model.

    Args:
        subject: The model.
        layout: A key of `LAYOUTS`; ``auto`` looks for it.
        names: The outputs that are the head; none looks for them.
        classes: How many classes it has; 0 where the shape or the metadata says it.
        where: What is said with errors.

    Raises:
        UsageError: No output is a head, or what it is is not plain; says what to name.
    """
    if layout != "auto" and layout not in LAYOUTS:
        known = ", ".join(LAYOUTS)
        raise UsageError(f"{layout!r} is no layout; they are auto, {known}", where=where)
    outputs = {info.name: info for info in subject.proto.graph.output}
    for name in names:
        if name not in outputs:
            raise UsageError(f"{name!r} is no output; they are {', '.join(outputs)}", where=where)
    shapes: dict[str, _Shape] = {}
    for name in names or outputs:
        if not (info := declared(subject, name, where)).type.HasField("tensor_type"):
            continue
        sizes = [
            d.dim_value if d.HasField("dim_value") else d.dim_param or None
            for d in dims_of(info.type)
        ]
        shapes[name] = _Shape(type_name(info.type.tensor_type.elem_type), tuple(sizes))
    if layout == "auto":
        counted = classes or _counted(metadata_of(subject.proto))
        layout, names = _found(subject, shapes, counted, where, is_named=bool(names or classes))
    names = names or _fitting(shapes, LAYOUTS[layout].tensors, layout, where)
    if len(names) != LAYOUTS[layout].tensors:
        text = f"{layout} has {LAYOUTS[layout].tensors} outputs, not {len(names)}"
        raise UsageError(text, where=where)
    return _read(subject.proto, layout, {name: shapes[name] for name in names}, classes, where)


@dataclass(frozen=True, slots=True)
class _Shape:
    type: str
    sizes: tuple[int | str | None, ...]

    @property
    def text(self) -> str:
        return f"[{', '.join('?' if size is None else str(size) for size in self.sizes)}]"


def _singles(shapes: Mapping[str, _Shape]) -> list[str]:
    return [n for n, s in shapes.items() if len(s.sizes) == 3 and s.type in FLOATS]


def _pairs(shapes: Mapping[str, _Shape]) -> list[tuple[str, str]]:
    """Return outputs of boxes, each with one of scores that has as many rows."""
    rows = {n: s for n, s in shapes.items() if len(s.sizes) in (2, 3) and s.type in FLOATS}
    return [
        (one, two)
        for one, boxes in rows.items()
        for two, scores in rows.items()
        if one != two and boxes.sizes[-1] == _BOX and len(boxes.sizes) == len(scores.sizes)
        if boxes.sizes[-2] == scores.sizes[-2] or not _are_numbers(boxes, scores)
        if isinstance(scores.sizes[-1], int)
    ]


def _are_numbers(*shapes: _Shape) -> bool:
    return all(isinstance(shape.sizes[-2], int) for shape in shapes)


def _fitting(
    shapes: Mapping[str, _Shape], tensors: int, layout: str, where: str
) -> tuple[str, ...]:
    found = [(name,) for name in _singles(shapes)] if tensors == 1 else _pairs(shapes)
    if len(found) != 1:
        text = "; ".join(f"{name} {shape.text}" for name, shape in shapes.items())
        what = "no output is" if not found else "several outputs may be"
        form = "NAME" if tensors == 1 else "BOXES+SCORES"
        hint = f"name them: --attach-nms {layout},heads={form}"
        text = f"{what} {LAYOUTS[layout].text} for {layout}: {text}"
        raise UsageError(text, where=where, hint=hint)
    return found[0]


def _found(
    subject: Subject, shapes: Mapping[str, _Shape], classes: int, where: str, *, is_named: bool
) -> tuple[str, tuple[str, ...]]:
    """Return the layout of the outputs, and which they are.

    Args:
        subject: The model.
        shapes: The outputs that may be a head.
        classes: How many it has, where something says it; 0 for unknown.
        where: What is said with errors.
        is_named: Whether the user says that they are one.
    """
    pairs = _pairs(shapes)
    if pairs:
        boxes, scores = pairs[0]
        layout = {"Softmax": "ssd", "Sigmoid": "retinanet"}.get(_maker(subject, scores))
        is_decoded = is_named or "Exp" in _makers(subject, boxes, _MOVES | _ARITHMETIC)
        if layout is None or not is_decoded or len(pairs) > 1:
            text = f"{' and '.join(pairs[0])} may be detr, rtdetr, ssd or retinanet"
            text += "" if is_decoded else ": nothing shows that boxes are decoded to corners"
            hint = "name it: --attach-nms detr,heads=BOXES+SCORES"
            raise UsageError(text, where=where, hint=hint)
        return layout, pairs[0]
    names = _fitting(shapes, 1, "yolov8", where)
    shape = shapes[names[0]]
    first, last = shape.sizes[1:]
    is_wide = isinstance(first, int) and isinstance(last, int) and first < last
    if isinstance(first, int) and first > _BOX and (is_wide or not isinstance(last, int)):
        if is_named or _is_detector(subject.proto) or _joins_scores(subject, names[0]):
            return "yolov8", names
        text = f"{names[0]} {shape.text} may be yolov8, or no head: nothing shows that scores"
        text += " of a Sigmoid are next to boxes"
    elif not is_wide and classes and last == LAYOUTS["yolov5"].before + classes:
        return "yolov5", names
    else:  # [N, boxes, 4 + classes] looks like it
        text = f"{names[0]} {shape.text} may be yolov5 or yolov8"
        if last == _ROW:
            text += ", or rows that are chosen already (corners, score, class)"
        elif isinstance(last, int):
            text += f", or no head: nothing says that it has {last - 5} classes"
    raise UsageError(text, where=where, hint="name it: --attach-nms yolov8")


def metadata_of(proto: ModelProto) -> dict[str, str]:
    """Return the metadata of a model."""
    return {entry.key: entry.value for entry in proto.metadata_props}


def _is_detector(proto: ModelProto) -> bool:
    """Say whether the metadata says it, as ultralytics writes it."""
    return metadata_of(proto).get("task") in _TASKS


def _joins_scores(subject: Subject, name: str) -> bool:
    """Say whether a tensor has numbers of a Sigmoid next to others."""
    return {"Sigmoid"} < _makers(subject, name, _MOVES)


def _makers(subject: Subject, name: str, passing: AbstractSet[str]) -> set[str]:
    """Return the operators that compute the numbers of a tensor, past those of `passing`."""
    nodes, makers = subject.scope.nodes, subject.scope.makers
    found, seen, pending = set[str](), set[str](), [name]
    while pending:
        name = pending.pop()
        if name in seen or name not in makers:
            continue
        seen.add(name)
        node = nodes[makers[name][0]]
        found.add(node.op_type)
        if node.op_type in passing:
            every = slice(None) if node.op_type in _ARITHMETIC else slice(1)
            pending += node.input[_JOINED.get(node.op_type, every)]
    return found - _MOVES


def _maker(subject: Subject, name: str) -> str:
    """Return the operator that computes the numbers of a tensor, past what only moves them."""
    nodes, makers = subject.scope.nodes, subject.scope.makers
    while name in makers:
        node = nodes[makers[name][0]]
        if node.op_type not in _MOVES:
            return node.op_type
        name = node.input[0]
    return ""


def _read(
    proto: ModelProto, layout: str, shapes: Mapping[str, _Shape], classes: int, where: str
) -> Head:
    """Return the head of these outputs, its columns counted."""
    shape = list(shapes.values())[-1]
    for name, each in shapes.items():
        if each.type not in FLOATS:
            raise UsageError(f"{name!r} must be of floats; it is {each.type}", where=where)
        ranks = (3,) if len(shapes) == 1 else (2, 3)
        if len(each.sizes) not in ranks:
            text = f"{name!r} must be {LAYOUTS[layout].text} for {layout}; it is {each.text}"
            raise UsageError(text, where=where)
    columns, boxes = shape.sizes[-1], shape.sizes[-2]
    if layout == "yolov8":
        columns, boxes = boxes, columns
    meta = metadata_of(proto)
    if meta.get("task") == "obb":
        text = "the boxes are turned (task obb of the metadata), which no NMS of ONNX knows"
        raise UsageError(text, where=where)
    around = LAYOUTS[layout].before + LAYOUTS[layout].after
    classes = classes or _counted(meta)
    if not isinstance(columns, int):
        if not classes or len(shapes) == 2:
            text = f"the number of columns of {shape.text} is open"
            raise UsageError(text, where=where, hint="fix it with --shape, or name of=CLASSES")
        columns = around + classes
    left = columns - around
    if len(shapes) == 2 or not classes:
        masks = [i.name for i in proto.graph.output if len(list(dims_of(i.type))) == _BOX]
        if masks and len(shapes) == 1:
            text = f"{', '.join(masks)} may be masks: how many of {left} columns are classes?"
            raise UsageError(text, where=where, hint="say so: --attach-nms auto,of=80")
        classes = left
    if not 0 < classes <= left:
        text = f"{layout} of {shape.text} has {left} columns for classes, not {classes}"
        raise UsageError(text, where=where)
    count = boxes if isinstance(boxes, int) else None
    types = tuple(each.type for each in shapes.values())
    return Head(layout, tuple(shapes), classes, count, left - classes, len(shape.sizes), types)


def _counted(meta: Mapping[str, str]) -> int:
    """Return how many classes the metadata names, as ultralytics writes them; 0 for none."""
    try:
        names: Any = ast.literal_eval(meta.get("names", ""))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return 0
    return len(cast("list[str]", names)) if isinstance(names, dict | list) else 0
