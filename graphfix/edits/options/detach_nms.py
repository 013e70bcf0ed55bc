"""The edit that takes the suppression of a detector off: what its head computes comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import msgspec
import numpy as np
from onnx import ModelProto

from graphfix.analysis.front import Head, head_of
from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.detectors.heads import FLOATS, Noted, find_head, note, noted_of
from graphfix.edits.detectors.suppressing import ASKED, ENDS, EXTRA, STANDARD
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.options.ends import with_outputs
from graphfix.edits.parts import declared, unread
from graphfix.edits.step import Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.graph import Graph, Node
from graphfix.ir.model import Model
from graphfix.ir.protos import called, copied
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView, Value
from graphfix.operators.row import Motion
from graphfix.operators.table import moving

_MOST = 10000
_BOX = 4
Sizes = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class DetachNms:
    """Cut a detector where the choice among its boxes begins; what was cut is noted in the file."""

    option: str = field(default="--detach-nms", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Cut it; see `graphfix.edits.step.Edit`."""
        noted = noted_of(subject.proto)
        if noted.attached:
            outputs = [o.name for o in subject.proto.graph.output if o.name not in (*ENDS, EXTRA)]
            names, ends = noted.heads, tuple(name for name in outputs if name not in noted.heads)
            noted = msgspec.structs.replace(noted, attached=False)
        else:
            head = self._head(subject)
            names, ends = head.tensors, head.ends
            noted = _noted(head.after)
        for name in names:
            if name not in subject.scope.makers:
                raise UsageError(f"no node computes {name!r}, the head", where=self.option)
        step = with_outputs(subject, [declared(subject, n, self.option) for n in (*names, *ends)])
        proto = copied(step.proto)
        asked = [ASKED[name][0] for name in noted.inputs if name in ASKED]
        kept = [i for i in step.proto.graph.input if i.name not in {*asked} & {*unread(proto)}]
        proto.graph.ClearField("input")
        proto.graph.input.extend(kept)
        noted = msgspec.structs.replace(noted, heads=names)
        if not noted.layout:
            noted = _with_layout(proto, noted, subject.base_dir)
        note(proto, noted)
        said = [f"cut at {', '.join(names)}: {noted.layout or 'of no layout that is known'}"]
        known = [
            f"{name} {getattr(noted, name):g}"
            for name in ("score", "iou", "count")
            if getattr(noted, name) is not None
        ]
        said.append(f"it was {', '.join((noted.op, *known))}; noted for --attach-nms auto")
        return replace(step, proto=proto, said=(*said, *step.said))

    def _head(self, subject: Subject) -> Head:
        """Return where to cut.

        Raises:
            UsageError: Nothing suppresses boxes, or it is part of the network.
        """
        graph = Model(subject.proto, base_dir=subject.base_dir).graph
        found = [node for node in graph.nodes if any(map(_suppresses, _with_inner(node)))]
        if not found:
            text = "no node suppresses boxes"
            best = next((node for node in graph.nodes if node.op == "TopK"), None)
            if best is not None:
                name = called(best.op, best.name, [t.name for t in best.outputs])
                text += f"; {name} takes the best by score, whatever they overlap"
            raise UsageError(text, where=self.option)
        sizes: dict[str, Sizes] = {}
        for name, kind in subject.inferred.items():
            if type_name(kind.tensor_type.elem_type) in FLOATS:
                sizes[name] = tuple(dim.dim_value or dim.dim_param for dim in dims_of(kind))
        stored = {tensor.name for tensor in subject.proto.graph.initializer}
        stored |= {n.output[0] for n in subject.proto.graph.node if n.op_type == "Constant"}
        head = head_of(graph, found, sizes, stored)
        name = called(found[0].op, found[0].name, [t.name for t in found[0].outputs])
        if head is None:
            text = f"no boxes and scores are before all that leads to {name}, or weights come after"
            raise UsageError(text, where=self.option)
        late = [node for node in head.after if node.op == "Exp"]
        if len(head.tensors) == 2 and late:
            text = f"the boxes of {name} are decoded after some were chosen, by Exp "
            raise UsageError(f"{text}{late[0].outputs[0].name!r}", where=self.option)
        return _with_rows(graph, head, sizes)


def _with_rows(graph: Graph, head: Head, sizes: Mapping[str, Sizes]) -> Head:
    """Return a head before what only turns it for its suppression, with a row for each box."""
    ways = [_unmoved(graph, name, sizes) for name in head.tensors]
    if len(ways) == 1:
        turned = next((n for n in graph.nodes if n.outputs[0].name == ways[0][0]), None)
        if turned is None or turned.op != "Transpose" or len(ways[0]) == 1:
            return head
        return msgspec.structs.replace(head, tensors=(ways[0][1],))
    for boxes in ways[0]:
        for scores in ways[1]:
            one, two = sizes[boxes], sizes[scores]
            if len(one) == len(two) and one[-2] == two[-2] and one[-1] == _BOX:
                return msgspec.structs.replace(head, tensors=(boxes, scores))
    return head


def _unmoved(graph: Graph, name: str, sizes: Mapping[str, Sizes]) -> list[str]:
    """Return a tensor and those before it that have the same elements, of two or three axes."""
    made = {tensor.name: node for node in graph.nodes for tensor in node.outputs}
    found = [name]
    while made[name].op in moving(Motion.SAME, Motion.ORDERED):
        name = made[name].inputs[0].name
        if name not in made or len(sizes.get(name, ())) not in (2, 3):
            break
        found.append(name)
    return found


def _with_inner(node: Node) -> list[Node]:
    return [node, *(n for _, body in node.graphs() for inner in body.walk() for n in inner.nodes)]


def _suppresses(node: Node) -> bool:
    """Say whether a node is ONNX's operator, or a plugin that is called so."""
    return node.op == STANDARD or ("NMS" in node.op and bool(node.domain))


def _noted(after: tuple[Node, ...]) -> Noted:
    """Return what is known of a suppression: its thresholds, where they are stored."""
    nodes = [NodeView(inner) for node in after for inner in _with_inner(node)]
    node = next(node for node in nodes if _suppresses(node.node))
    found: dict[str, float] = {}
    if node.op == STANDARD:
        places = {"count": 2, "iou": 3, "score": 4}
        for name, place in places.items():
            array = _stored(node.input(place))
            if array is not None and array.size == 1:
                found[name] = float(array.reshape(-1)[0])
        compared = {float(a.reshape(-1)[0]) for a in map(_threshold, nodes) if a is not None}
        if "score" not in found and len(compared) == 1:
            found["score"] = compared.pop()
    else:
        attributes = {"count": "max_output_boxes", "iou": "iou_threshold"}
        attributes["score"] = "score_threshold"
        old = {"count": "keepTopK", "iou": "iouThreshold", "score": "scoreThreshold"}
        for name in attributes:
            value = node.attr(attributes[name], node.attr(old[name]))
            if isinstance(value, int | float):
                found[name] = float(np.float32(value))
    count = int(found.pop("count", 0))
    op = f"{node.node.domain}::{node.op}" if node.node.domain else node.op
    score, iou = (v if 0 <= v <= 1 else None for v in (found.get(n, -1) for n in ("score", "iou")))
    return Noted(op=op, count=count if 1 <= count <= _MOST else None, score=score, iou=iou)


def _stored(value: Value | None) -> Any:
    """Return the array of a constant, which may be cast; None for what is computed."""
    while value is not None and value.producer is not None and value.producer.op == "Cast":
        value = value.producer.input(0)
    return None if value is None else value.array()


def _threshold(node: NodeView) -> Any:
    """Return what scores are compared with, one float; None for another node."""
    array = _stored(node.input(1)) if node.op in ("Greater", "GreaterOrEqual") else None
    return array if array is not None and array.size == 1 and array.dtype.kind == "f" else None


def _with_layout(proto: ModelProto, noted: Noted, base_dir: str) -> Noted:
    """Return what is noted with the layout of the head, where its shape says it."""
    try:
        head = find_head(Subject(proto, base_dir), "auto", noted.heads, 0, "")
    except UsageError:
        return noted
    of = head.classes if head.extra else 0
    return msgspec.structs.replace(noted, layout=head.layout, heads=head.names, of=of)


@option("detach-nms", "", "Take the suppression of a detector off.", Group.ENDS)
def read_detach_nms(given: Given) -> DetachNms:
    """Return the edit that a text asks for."""
    return DetachNms()


def detach_nms(model: ModelLike, **how: Unpack[How]) -> Edited:
    """Cut a detector where the choice among its boxes begins."""
    return edit(model, [DetachNms()], **how)
