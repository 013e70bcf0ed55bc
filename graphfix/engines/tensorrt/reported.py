"""Which node an engine names when it stops, where that is not the node that is at fault.

A shape is computed when the node that needs it is imported (NvInfer.h 8.6.1, ITensor;
ShapeTensor.cpp of onnx-tensorrt): that node is named, not the one in the computation which gives no
shape tensor. What stops inside a body of If, Loop or Scan, or inside a local function, is reported
at the node of the graph around it (ModelImporter.cpp:130-260 of 8.6.1: the index of the node is
that of the outermost graph).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphfix.engines.tensorrt.rules.shape_tensors import shape_users
from graphfix.ir.graph import Function, Graph, Node
from graphfix.ir.model import Model
from graphfix.report import Finding, NodeRef, Severity

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
