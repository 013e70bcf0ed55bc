"""Sizes that follow from shapes, pads or bounds which the model computes from what is known."""

from __future__ import annotations

from collections.abc import Iterator

from graphfix.analysis.folding.known_values import Knowledge
from graphfix.analysis.inference import infer_node
from graphfix.ir.graph import Graph, Node, Tensor
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import SIZES

_LIMIT = 1 << 16


def infer_computed_sizes(model: Model) -> bool:
    """Fill in sizes that shape inference did not find for want of a computed value.

    Inference follows the arithmetic on vectors alone; exporters compute pads as matrices. Every
    value comes from `Knowledge`, so nothing is filled in that is not known.

    Returns:
        Whether there was anything to fill in.
    """
    news: set[int] = set()
    if any(_has_unknown_sizes(node) for graph in model.graphs() for node in graph.nodes):
        knowledge = Knowledge(_LIMIT)
        for root in model.roots():
            learned: set[int] = set()
            _walk(root, knowledge, learned)
            news |= learned
    return bool(news)


def _has_unknown_sizes(node: Node) -> bool:
    """Say whether a node takes sizes that are computed, and gives a tensor of unknown sizes."""
    wanted = SIZES.get(node.op)
    if wanted is None or node.domain:
        return False
    return any(map(_open, node.outputs)) and any(
        maker.op != "Constant" for tensor in _taken(node, wanted) for maker in tensor.inputs
    )


def _taken(node: Node, wanted: tuple[int, ...]) -> Iterator[Tensor]:
    return (node.inputs[i] for i in wanted if i < len(node.inputs))


def _open(tensor: Tensor) -> bool:
    return tensor.shape is None or not all(isinstance(size, int) for size in tensor.shape)


def _walk(graph: Graph, knowledge: Knowledge, news: set[int]) -> None:
    for node in graph.nodes:
        subgraphs = [body for _, body in node.graphs()]
        for body in subgraphs:
            _walk(body, knowledge, news)
        if not subgraphs and (
            _has_unknown_sizes(node) or any(id(tensor) in news for tensor in node.inputs)
        ):
            before = [tensor.shape for tensor in node.outputs]
            infer_node(node, lambda tensor: knowledge.full(Value(tensor)))
            news.update(
                id(tensor)
                for tensor, shape in zip(node.outputs, before, strict=True)
                if tensor.shape != shape
            )
        knowledge.learn(NodeView(node))
