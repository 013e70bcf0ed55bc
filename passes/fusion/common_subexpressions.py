"""Compute once what several nodes compute from the same values.

What it does: Replaces nodes of a scope that have the same operator, the same inputs and the same
    attributes by one of them. Small constants are compared by their values. It runs only when it is
    named.
Why engines need it: What is computed twice costs twice where the engine does not look, and a fusion
    that looks for one inner value does not find two, as in (x - mean(x)) / sqrt(mean((x - mean(x))
    ** 2)). tract 0.23 takes what two NonZero find in one tensor for two sizes, and joins no rows of
    both; these are merged for it alone.
Before:
    m = ReduceMean (x)
    n = ReduceMean (x)
    y = Add (m, n)
After:
    m = ReduceMean (x)
    y = Add (m, m)
When it refuses: Never; what may draw at random, what has subgraphs, calls of functions and
    operators that ONNX does not know stay as they are.
Accuracy: exact: one node computes what both did.
References: https://en.wikipedia.org/wiki/Common_subexpression_elimination
"""

from collections.abc import Collection, Hashable

from graphfix.authoring import (
    MAY_DRAW,
    NAMED,
    Editor,
    Graph,
    NodeView,
    Tensor,
    Value,
    export_node,
    form_of,
    graph_pass,
    is_empty,
    normal_domain,
)

_COUNTS = ("NonMaxSuppression", "NonZero")
_MOST_COMPARED = 64  # elements of a constant: larger ones are the same where they are one tensor


@graph_pass(emits="*::*", stage=NAMED)
def common_subexpressions(editor: Editor) -> None:
    """Merge nodes scope by scope, see the module."""
    for graph in editor.graphs():
        _merge(editor, graph)


@graph_pass(
    removes=[f"shape:{op}.counted-twice" for op in _COUNTS],
    emits=" ".join(_COUNTS),
)
def counts_once(editor: Editor) -> None:
    """Find once what several nodes find in the same values, and so count it once."""
    for graph in editor.graphs():
        _merge(editor, graph, _COUNTS)


def _merge(editor: Editor, graph: Graph, of: Collection[str] = ()) -> None:
    first: dict[Hashable, NodeView] = {}
    for view in editor.nodes(graph):
        key = _key(view) if not of or view.op in of else None
        if key is None:
            continue
        known = first.get(key)
        if known is None or len(known.node.outputs) != len(view.node.outputs):
            first[key] = view
            continue
        first[key] = editor.merge(known, view)


def _key(view: NodeView) -> Hashable | None:
    """Return what nodes that compute the same have in common; None for a node that stays."""
    node, domain = view.node, normal_domain(view.domain)
    known = form_of(node.op, view.graph.opsets.get(domain, 1), domain) is not None
    if not known or node.op in MAY_DRAW or any(True for _ in node.graphs()) or not node.inputs:
        return None
    attributes = sorted(a.SerializeToString() for a in export_node(node).attribute)
    given = tuple(is_empty(tensor) for tensor in node.outputs)
    return (domain, node.op, tuple(map(_same, node.inputs)), tuple(attributes), given)


def _same(tensor: Tensor) -> Hashable:
    """Return what equal values have in common: the tensor, or the bytes of a small constant."""
    value = Value(tensor)
    size = 1
    for dim in value.static_shape or ():
        size *= dim
    if value.is_constant and value.static_shape is not None and size <= _MOST_COMPARED:
        array = value.array()
        if array is not None:
            return (value.elem_type, array.shape, array.tobytes())
    return None if is_empty(tensor) else id(tensor)
