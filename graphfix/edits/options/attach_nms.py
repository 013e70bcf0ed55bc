"""The edit that puts a suppression after the raw head of a detector."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Unpack

import msgspec
from onnx import ModelProto, NodeProto, TensorProto, helper

from graphfix.edits.addressing import graphs_of, tensors_of
from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.detectors.heads import Head, Noted, find_head, note, noted_of
from graphfix.edits.detectors.suppressing import ASKED, STANDARD, Wish, nodes_of, outputs_of
from graphfix.edits.detectors.suppression_claims import claims_of
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.parts import declared
from graphfix.edits.step import Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import copied, let_store

_PLUGIN = re.compile(r"[A-Za-z_][\w.]*::[A-Za-z_]\w*")
_OLDEST = 11  # of GatherND, GatherElements and ScatterND
_INPUT: Literal["input"] = "input"
_MOST = 10000  # rows; engines sort no more
DEFAULTS: dict[str, Any] = {"score": 0.25, "iou": 0.45, "count": 100, "classes": ()}
Number = float | Literal["input"] | None
Classes = tuple[int, ...] | Literal["input"] | None


@dataclass(frozen=True, slots=True)
class AttachNms:
    """Put a suppression after the raw head of a detector.

    What is None is what `--detach-nms` has noted in the file, or else 0.25, 0.45, 100, all classes.

    Attributes:
        layout: How the head is laid out, see `graphfix.edits.detectors.heads.LAYOUTS`; ``auto``
            finds it by shape.
        score: Scores must exceed it; ``input`` makes it an input of the model.
        iou: A box goes where it overlaps a better one of its class by more; or ``input``.
        count: How many boxes an image has at most, the number of rows; or ``input``.
        classes: Those that are looked for, by number; or ``input``.
        of: How many classes the head has, where columns follow them; 0 where that is plain.
        heads: The outputs that are the head, where that is not plain.
        op: ``NonMaxSuppression``, or ``DOMAIN::NAME`` of a plugin of the interface of EfficientNMS.
    """

    layout: str = "auto"
    score: Number = None
    iou: Number = None
    count: Number = None
    classes: Classes = None
    of: int = 0
    heads: tuple[str, ...] = ()
    op: str = STANDARD
    option: str = field(default="--attach-nms", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put it there; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.layout}"
        opset = _opset(subject.proto, where)
        noted = noted_of(subject.proto)
        head = self._head(subject, noted, where)
        wish = self._wish(head, noted, where)
        stem = "nms"
        taken = {name for each in graphs_of(subject.proto.graph) for name in tensors_of(each)}
        while any(name.startswith(f"{stem}/") for name in taken):
            stem += "_"
        ends = outputs_of(head, wish, _images(subject, head, where))
        new = [*(info.name for info in ends), *(ASKED[name][0] for name in wish.inputs)]
        if clash := sorted(taken & set(new)):
            hint = f"graphfix edit MODEL --rename {clash[0]}=OTHER"
            raise UsageError(f"the model has a tensor {clash[0]!r} already", where=where, hint=hint)
        names = {f"head{i}": name for i, name in enumerate(head.names)} | {n: n for n in new}
        nodes, stored = nodes_of(head, wish, opset, self.op)
        made = _with(subject.proto, head, wish, ends)
        _put(made, nodes, stored, names, f"{stem}/")
        domain = self.op.rpartition("::")[0]
        if domain and all(entry.domain != domain for entry in made.opset_import):
            made.opset_import.add(domain=domain, version=1)
        of = head.classes if head.extra else 0
        noted = Noted(True, self.op, head.layout, head.names, of, inputs=tuple(wish.inputs))
        noted = msgspec.structs.replace(noted, **asdict(wish))
        note(made, noted)
        claims = claims_of(subject.proto, made, head, wish, f"{stem}/")
        boxes = "boxes" if head.boxes is None else f"{head.boxes} boxes"
        more = f" and {head.extra} further columns" if head.extra else ""
        said = [f"{', '.join(head.names)} read as {head.layout}: {boxes} of {head.classes} classes"]
        said[0] += more
        said.append(f"{self.op}, {len(nodes)} nodes: {_text(wish)}")
        said.append(f"outputs {', '.join(info.name for info in ends)}")
        return Step(made, tuple(said), claims)

    def _head(self, subject: Subject, noted: Noted, where: str) -> Head:
        layout, heads, of = self.layout, self.heads, self.of
        if layout == "auto" and noted.layout and not noted.attached:
            layout, heads, of = noted.layout, heads or noted.heads, of or noted.of
        return find_head(subject, layout, heads, of, where)

    def _wish(self, head: Head, noted: Noted, where: str) -> Wish:
        """Return what is asked.

        Raises:
            UsageError: It has no meaning, or the plugin has no such thing.
        """
        asked: dict[str, Any] = {}
        for name, default in DEFAULTS.items():
            value: Any = getattr(self, name)
            if value is None:
                known = getattr(noted, name)
                value = _INPUT if name in noted.inputs else default if known is None else known
            asked[name] = None if value == _INPUT else value
        wish = Wish(**asked)
        for name in ("score", "iou"):
            value = asked[name]
            if value is not None and not 0 <= value <= 1:
                raise UsageError(f"{name} must be from 0 to 1; it is {value:g}", where=where)
        if wish.count is not None and not 1 <= wish.count <= _MOST:
            text = f"count must be from 1 to {_MOST}; it is {wish.count}"
            raise UsageError(text, where=where)
        first = 1 if head.layout == "ssd" else 0
        wrong = [n for n in wish.classes or () if not first <= n < head.classes + first]
        if wrong:
            text = f"classes are {first} to {head.classes + first - 1}; {wrong[0]} is none"
            raise UsageError(text, where=where)
        if len(set(wish.classes or ())) < len(wish.classes or ()):
            raise UsageError("a class is named twice", where=where)
        if self.op != STANDARD and not _PLUGIN.fullmatch(self.op):
            text = f"op must be {STANDARD} or DOMAIN::NAME of a plugin; it is {self.op}"
            raise UsageError(text, where=where)
        if self.op != STANDARD and wish.inputs:
            raise UsageError(f"{self.op} has no input {wish.inputs[0]}", where=where)
        if self.op != STANDARD and head.extra:
            text = f"{self.op} does not say which boxes it chose, so that {head.extra} columns"
            raise UsageError(f"{text} after the classes cannot follow them", where=where)
        return wish


def _opset(proto: ModelProto, where: str) -> int:
    opset = next((e.version for e in proto.opset_import if e.domain in ("", "ai.onnx")), 1)
    if opset < _OLDEST:
        hint = f"graphfix run MODEL --opset {_OLDEST}"
        raise UsageError(f"is for models of opset {_OLDEST} and newer", where=where, hint=hint)
    return opset


def _images(subject: Subject, head: Head, where: str) -> int | str | None:
    if head.rank != 3:
        return 1
    dim = next(dims_of(declared(subject, head.names[0], where).type))
    return dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None


def _with(proto: ModelProto, head: Head, wish: Wish, ends: Sequence[Any]) -> ModelProto:
    """Return a copy with the inputs and outputs that it will have."""
    copy = copied(proto)
    graph = copy.graph
    others = [copied(info) for info in graph.output if info.name not in head.names]
    graph.value_info.extend(info for info in proto.graph.output if info.name in head.names)
    for name in wish.inputs:
        size = "classes" if name == "classes" else 1
        graph.input.append(helper.make_tensor_value_info(*ASKED[name], [size]))
    graph.ClearField("output")
    graph.output.extend([*ends, *others])
    let_store(copy)
    return copy


def _put(
    proto: ModelProto,
    nodes: list[NodeProto],
    stored: list[TensorProto],
    names: dict[str, str],
    prefix: str,
) -> None:
    """Put nodes at the end, their tensors named by `names` or with a prefix."""
    for node in nodes:
        for part in (node.input, node.output):
            part[:] = [names.get(name, prefix + name) for name in part]
        node.name = prefix + node.output[0].removeprefix(prefix)
    for tensor in stored:
        tensor.name = prefix + tensor.name
    proto.graph.node.extend(nodes)
    proto.graph.initializer.extend(stored)


def _text(wish: Wish) -> str:
    parts = [
        f"{name} {'is an input' if value is None else format(value, 'g')}"
        for name, value in (("score", wish.score), ("iou", wish.iou), ("count", wish.count))
    ]
    if wish.picks:
        given = wish.classes
        parts.append(f"classes {'are an input' if given is None else ', '.join(map(str, given))}")
    return ", ".join(parts)


@option(
    "attach-nms",
    "auto|yolov8|...",
    "Choose among the boxes of a raw detector head.",
    Group.ENDS,
    long_form="LAYOUT,score=0.25,iou=0.45,count=100,classes=0+2,of=80,heads=A+B,op=DOMAIN::NAME",
)
def read_attach_nms(given: Given) -> AttachNms:
    """Return the edit that a text asks for."""
    layout, *rest = given.listed()
    found: dict[str, Any] = {}
    for part in rest:
        name, value = given.pair(part)
        try:
            if name in found:
                raise ValueError
            may_be = name in ASKED and value == _INPUT
            found[name] = _INPUT if may_be else _READ[name](value)
        except (KeyError, ValueError):
            raise given.malformed() from None
    return AttachNms(layout, **found)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split("+"))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, _names(text)))


_READ: dict[str, Callable[[str], Any]] = {
    "score": float,
    "iou": float,
    "count": int,
    "classes": _numbers,
    "of": int,
    "heads": _names,
    "op": str,
}


def attach_nms(
    model: ModelLike,
    layout: str = "auto",
    *,
    score: Number = None,
    iou: Number = None,
    count: Number = None,
    classes: Classes = None,
    of: int = 0,
    heads: Sequence[str] = (),
    op: str = STANDARD,
    **how: Unpack[How],
) -> Edited:
    """Choose among the boxes of a raw detector head; see `AttachNms`."""
    asked = AttachNms(layout, score, iou, count, classes, of, tuple(heads), op)
    return edit(model, [asked], **how)
