"""Where patterns may match: found in one walk for all of them, and kept up to date by edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphfix.authoring.declaring import Pass
from graphfix.authoring.patterns.index import DEPTH, Index
from graphfix.ir.graph import Node
from graphfix.ir.model import Model


class PatternPlaces:
    """The nodes that the patterns of some passes may match, as far as operators tell.

    Linear in nodes: the tree of the index makes each of its tests once for a node, and an edit is
    followed as far as a test reaches.
    """

    def __init__(self, model: Model, passes: Sequence[Pass]) -> None:
        """Walk all scopes of `model` once, readers before what they read.

        A pattern with optional nodes at its end is so found whole before a part of it is.
        """
        self._index: Index[str] = Index()
        for declared in passes:
            if declared.pattern is not None:
                self._index.add(declared.pattern.outputs, declared.id)
        self._places: dict[str, dict[int, Node]] = {declared.id: {} for declared in passes}
        for graph in model.graphs():
            for node in reversed(graph.nodes):
                self._place(node)

    def take(self, declared: Pass) -> list[Node]:
        """Return the nodes of the graph that a pattern may match and that it was not given yet."""
        taken = [node for node in self._places[declared.id].values() if node.outputs]
        self._places[declared.id] = {}
        return taken

    def renew(self, added: Iterable[Node]) -> None:
        """Look again at nodes that were added, and at what is computed from them."""
        layer = list(added)
        seen: set[int] = set()
        for _ in range(DEPTH + 1):
            fresh = [node for node in layer if node.outputs and id(node) not in seen]
            seen.update(id(node) for node in fresh)
            for node in fresh:
                self._place(node)
            layer = [reader for node in fresh for t in node.outputs for reader in t.outputs]

    def _place(self, node: Node) -> None:
        for pass_id in self._index.at(node):
            self._places[pass_id][id(node)] = node
