"""What an engine refuses only because it has misread a form before.

The model is rewritten to what the engine takes it for, and looked at again. The feature of each
finding is that of the misread form: it goes away with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from msgspec import Struct

from graphfix.analysis.folding.known_values import know
from graphfix.engines.tensorrt.engine_view import engine_view
from graphfix.ir.graph import Node
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import Finding, Severity

# Forms whose misreading changes a shape, so that a later node may fail for it.
_RESHAPING = ("form:Shape.", "form:Reduce", "form:Constant.value_int")
_BLAMED = re.compile(r"\(op_type:(\w+)(?:, node name: ([^)]*))?\)")
_VOLUME = (
    "[graphShapeAnalyzer.cpp::analyzeShapes] Error Code 4: Miscellaneous (IShuffleLayer: "
    "reshaping failed for tensor: reshape would change volume)"
)


class AsRead(Struct, frozen=True):
    """A model as the engine reads it.

    Attributes:
        model: The model.
        complaint: What shape inference says against it; empty where it says nothing.
        misread: The identity of a node -> what is said of its form.
    """

    model: Model
    complaint: str
    misread: Mapping[int, Finding]

    def cause(self, node: Node | None) -> Finding | None:
        """Return the misread form nearest before a node."""
        front = [node] if node is not None else []
        seen = {id(node)}
        for near in front:
            if id(near) in self.misread:
                return self.misread[id(near)]
            makers = [maker for tensor in near.inputs for maker in tensor.inputs]
            parent = near.graph.parent
            for maker in (*makers, *([parent] if parent is not None else [])):
                if id(maker) not in seen:
                    seen.add(id(maker))
                    front.append(maker)
        return None

    def refused(
        self, nodes: Iterable[tuple[NodeView, list[Finding]]], known: Sequence[Finding]
    ) -> list[Finding]:
        """Return what is refused in the model as the engine reads it, and not in the model itself.

        Args:
            nodes: What the rules say of its nodes.
            known: What they say of the model itself.
        """
        before = {(f.node.scope, f.node.index, f.rule) for f in known}
        found: list[Finding] = []
        for view, several in nodes:
            for finding in several:
                key = (finding.node.scope, finding.node.index, finding.rule)
                if finding.severity is Severity.REJECT and finding.certain and key not in before:
                    found.append(_because(finding, self.cause(view.node) or _any(self)))
        for finding in (*_reshaped(self), *_complained(self)):
            place = finding.node.scope, finding.node.index
            if all((f.node.scope, f.node.index) != place for f in (*found, *known) if _stops(f)):
                found.append(finding)
        return found


def as_the_engine_reads(model: Model, known: Sequence[Finding]) -> AsRead | None:
    """Return the model as the engine reads it; None where nothing is misread that matters.

    `known` are the findings of the model as it is.
    """
    wrong = {
        (found.node.scope, found.node.index): found
        for found in known
        if found.severity is Severity.WRONG and found.certain and found.feature.startswith("form:")
    }
    misread = {
        place: found for place, found in wrong.items() if found.feature.startswith(_RESHAPING)
    }
    forms = {place: found.feature for place, found in wrong.items()}
    read = engine_view(model, forms) if misread else None
    if read is None:
        return None
    model, complaint = read
    by_node = {
        id(node): misread[graph.scope, index]
        for graph in model.graphs()
        for index, node in enumerate(graph.nodes)
        if (graph.scope, index) in misread
    }
    return AsRead(model, complaint, by_node) if by_node else None


def _stops(finding: Finding) -> bool:
    return finding.severity is Severity.REJECT and finding.certain


def _because(finding: Finding, cause: Finding) -> Finding:
    return replace(
        finding,
        rule="misread-form",
        feature=cause.feature,
        message=f"{finding.message.rstrip('.')}; TensorRT misreads the {cause.node.op} before it",
    )


def _any(read: AsRead) -> Finding:
    return next(iter(read.misread.values()))


def _reshaped(read: AsRead) -> Iterator[Finding]:
    """Yield each Reshape whose shape is computed and has another volume than what is misread."""
    knowledge = know(read.model)
    for graph in read.model.graphs():
        for index, node in enumerate(graph.nodes):
            view = NodeView(node)
            data = view.input(0)
            if node.op != "Reshape" or data is None or data.static_shape is None:
                continue
            shape = knowledge.full(view.input(1))
            if shape is None or _fits(data.static_shape, [int(size) for size in shape.flatten()]):
                continue
            cause = read.cause(node)
            if cause is not None:
                message = "TensorRT: Reshape to a shape with another number of elements"
                own = replace(cause, message=message, node=view.ref(index), engine_text=_VOLUME)
                yield replace(_because(own, cause), severity=Severity.REJECT)


def _fits(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Say whether a tensor can be reshaped; zeros, which copy a dimension, are not judged."""
    if 0 in wanted or 0 in shape:
        return True
    known = prod(size for size in wanted if size > 0)
    return prod(shape) % known == 0 if -1 in wanted else prod(shape) == known


def _complained(read: AsRead) -> Iterator[Finding]:
    """Yield the complaint of shape inference, at the node that it names."""
    if not read.complaint:
        return
    view, index = None, -1
    blamed = _BLAMED.search(read.complaint)
    if blamed is not None:
        view, index = _first(read, blamed.group(1), blamed.group(2) or "")
    cause = (read.cause(view.node) if view is not None else None) or _any(read)
    yield replace(
        cause,
        rule="misread-form",
        severity=Severity.REJECT,
        node=cause.node if view is None else view.ref(index),
        message=f"TensorRT misreads {cause.node.op}, and then shapes do not match: "
        + read.complaint.replace("\n", " "),
    )


def _first(read: AsRead, op: str, name: str) -> tuple[NodeView | None, int]:
    for graph in read.model.graphs():
        for index, node in enumerate(graph.nodes):
            if node.op == op and (not name or node.name == name) and read.cause(node) is not None:
                return NodeView(node), index
    return None, -1
