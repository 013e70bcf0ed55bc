"""What an engine refuses only because it has misread a form before, and which node it names.

The model is rewritten to what the engine takes it for (without what it never looks at; which form
each version misreads is what a rule of the target says), and looked at again with the same rules.
The feature of each finding is that of the misread form: it goes away with it.

A shape is computed when the node that needs it is imported (NvInfer.h 8.6.1, ITensor;
ShapeTensor.cpp of onnx-tensorrt): that node is named, not the one in the computation which gives no
shape tensor. What stops inside a body of If, Loop or Scan, or inside a local function, is reported
at the node of the graph around it (ModelImporter.cpp:130-260 of 8.6.1: the index of the node is
that of the outermost graph).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import prod

import onnx
from msgspec import Struct
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.analysis.folding.known_values import know
from graphfix.analysis.shape_inference import infer_shapes
from graphfix.engines.tensorrt.rules.parsed import shape_users
from graphfix.ir.graph import Function, Graph, Node
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import Finding, NodeRef, Severity

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


_OF_SHAPES = frozenset({"shape-of-rank-2", "no-shape-tensor", "shape-of-floats"})
_DEPTH = 16


def reported_elsewhere(model: Model, known: Sequence[Finding]) -> Iterator[Finding]:
    """Yield a finding at each node that the engine names in the place of another one.

    Args:
        model: The model; its types are inferred.
        known: What was found.
    """
    blocked = [f for f in known if f.certain and f.severity is Severity.REJECT and f.node.op]
    if not blocked:
        return
    graphs = list(model.graphs())
    nodes = {(g.scope, i): node for g in graphs for i, node in enumerate(g.nodes)}
    places = {id(node): place for place, node in nodes.items()}
    reported = {(f.node.scope, f.node.index) for f in blocked}
    for finding in blocked:
        node = nodes.get((finding.node.scope, finding.node.index))
        if node is None:
            continue
        users = shape_users(node) if finding.rule in _OF_SHAPES else []
        for named in users or [node]:
            for outer in _outermost(model, named, 0):
                scope, index = places[id(outer)]
                if outer is not node and (scope, index) not in reported:
                    reported.add((scope, index))
                    yield _at(finding, outer, scope, index)


def _at(finding: Finding, node: Node, scope: str, index: int) -> Finding:
    where = finding.node
    name = f" {where.name}" if where.name else ""
    return replace(
        finding,
        rule="reported-here",
        node=NodeRef(
            node.name,
            index,
            node.op,
            node.domain or "",
            tuple(t.name for t in node.outputs if t.name),
            scope,
        ),
        message=f"TensorRT stops here because of {where.op}{name}: {finding.message}",
    )


def _outermost(model: Model, node: Node, depth: int) -> list[Node]:
    """Return the nodes of the main graph in whose subgraphs and functions a node is."""
    while node.graph.parent is not None:
        node = node.graph.parent
    root: Graph = node.graph
    if not isinstance(root, Function) or depth > _DEPTH:
        return [node]
    return [
        outer for call in _calls(model, root) for outer in _outermost(model, call, depth + 1)
    ] or [node]


def _calls(model: Model, function: Function) -> list[Node]:
    key = (function.domain, function.name, function.overload)
    return [
        node
        for graph in model.graphs()
        for node in graph.nodes
        if (node.domain or "", node.op, node.overload) == key
    ]


# Scope and position of a node -> the feature of its misread form.
Misread = Mapping[tuple[str, int], str]


def engine_view(model: Model, misread: Misread) -> tuple[Model, str] | None:
    """Return the model as the engine reads it, and what shape inference says against it.

    Shapes that the file states are left out, except those of the inputs. None where inference has
    something against the model as it is, or the model cannot be taken apart.

    Args:
        model: The model.
        misread: The nodes that are misread, with what a rule of the target says of each.
    """
    light = model.light_proto()
    for graph in (light.graph, *_subgraphs(light.graph)):
        _forget_shapes(graph)
    if _complaint(light):
        return None
    _misread_all(model.graph, light.graph, misread)
    complaint = _complaint(light)
    return Model(light, path=model.path), complaint


def _subgraphs(graph: GraphProto) -> list[GraphProto]:
    own = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [*own, *chain.from_iterable(map(_subgraphs, own))]


def _forget_shapes(graph: GraphProto) -> None:
    del graph.value_info[:]
    for output in graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")


def _complaint(proto: ModelProto) -> str:
    try:
        infer_shapes(proto, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        return str(error)
    return ""


def _misread_all(graph: Graph, proto: GraphProto, misread: Misread) -> None:
    """Misread the nodes of a graph and its subgraphs; both hold the same nodes in one order."""
    scope = graph.scope
    for index, (node, written) in enumerate(zip(graph.nodes, proto.node, strict=True)):
        subgraphs = {a.name: a.g for a in written.attribute if a.HasField("g")}
        for name, body in node.graphs():
            _misread_all(body, subgraphs[name], misread)
        feature = misread.get((scope, index))
        if feature is not None:
            _misread(written, feature)


def _misread(node: NodeProto, feature: str) -> None:
    """Change a node to what the engine takes it for."""
    form = feature.rpartition(".")[2]
    if form == "start-end":
        _drop(node, "start", "end")
    elif form == "axes-input":
        del node.input[1:]
        _drop(node, "noop_with_empty_axes")
    elif form in ("noop_with_empty_axes", "layout"):
        _drop(node, form)
    elif form in ("value_int", "value_ints"):
        _zero(node)


def _drop(node: NodeProto, *names: str) -> None:
    kept = [attribute for attribute in node.attribute if attribute.name not in names]
    if len(kept) != len(node.attribute):
        copies = [type(attribute).FromString(attribute.SerializeToString()) for attribute in kept]
        del node.attribute[:]
        node.attribute.extend(copies)


def _zero(node: NodeProto) -> None:
    for name, dims in (("value_int", []), ("value_ints", [0])):
        if any(attribute.name == name for attribute in node.attribute):
            values = [0] if not dims else []
            tensor = onnx.helper.make_tensor("", TensorProto.INT64, dims, values)
            del node.attribute[:]
            node.attribute.append(onnx.helper.make_attribute("value", tensor))
