"""What subgraphs read of the scopes around them."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.ir.graph import Graph, is_empty
from graphfix.ir.views import NodeView, Value


def reads_of_outer_scopes(body: Graph) -> Iterator[tuple[NodeView, Value]]:
    """Find what the nodes of a body, not of subgraphs in it, read of the scopes around it.

    Args:
        body: A graph that a node holds.

    Yields:
        The node, and a tensor that is neither of the body nor missing.
    """
    made = (tensor for node in body.nodes for tensor in node.outputs)
    own = {id(tensor) for tensor in (*body.inputs, *body.initializers, *made)}
    for node in body.nodes:
        for tensor in node.inputs:
            if id(tensor) not in own and not is_empty(tensor):
                yield NodeView(node), Value(tensor)
