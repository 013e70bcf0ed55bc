"""What is left of a model and goes once the sizes of its inputs are fixed.

An engine that has no Shape, or takes the sizes of an Expand from constants alone, refuses what
exporters write for free sizes. Once these are fixed, all that is computed of them is constant.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.analysis.shape_only_values import gives_shapes_alone, of_shapes_alone
from graphfix.ir.graph import Graph
from graphfix.ir.views import NodeView
from graphfix.report import Finding

_OF_INPUTS = "io:dynamic-input"
_OF_VALUES = "const:"  # of an input that has to be constant


def settled_by_sizes(graph: Graph, left: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that fixed sizes of the inputs settle.

    Args:
        graph: The main graph; some of its inputs are of open sizes.
        left: What is left, of nodes of the graph or of subgraphs, or of the whole model.

    Returns:
        Those of a node that gives what follows from shapes alone, and that an input is no
        constant, where one follows from them.
    """
    made = {
        tensor.name: node
        for each in graph.walk()
        for node in each.nodes
        for tensor in node.outputs
        if tensor.name
    }
    found: list[Finding] = []
    for finding in left:
        nodes = [made[name] for name in finding.node.outputs if name in made]
        if finding.feature == _OF_INPUTS or (nodes and _is_settled(finding, NodeView(nodes[0]))):
            found.append(finding)
    return tuple(found)


def _is_settled(finding: Finding, node: NodeView) -> bool:
    if gives_shapes_alone(node):
        return True
    if not finding.feature.startswith(_OF_VALUES):
        return False
    given = [value for value in node.inputs if value is not None and not value.is_constant]
    return any(map(of_shapes_alone, given))
