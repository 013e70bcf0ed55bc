"""Names that a file defines more than once: constants that be twice, or no model at all.

ONNX asks that each name is written once (https://onnx.ai/onnx/repo-docs/IR.html#graphs: single
static assignment). onnxruntime refuses two computing nodes that write one name ("Duplicate
definition of name"). Of initializers and Constants of one name it takes the latest, Constants
after initializers (graph.cc, Graph::Graph: "the model will use the latest encountered
initializer").
"""

from __future__ import annotations

from onnx import NodeProto

from graphfix.errors import InvalidModel

_HINT = "each name is to be written once; rename one of them, or export the file again"


class Definitions:
    """Who writes the names of one scope; constants may do so again, and the last one counts."""

    def __init__(self, scope: str) -> None:
        """Begin with nothing; `scope` is the scope as reports name it."""
        self._scope = scope
        self._inputs: set[str] = set()
        self._stored: set[str] = set()
        self._nodes: dict[str, tuple[int, NodeProto]] = {}

    def stored(self, name: str) -> None:
        """Take down an initializer."""
        self._stored.add(name)

    def given(self, name: str) -> None:
        """Take down an input.

        Raises:
            InvalidModel: There is one of this name.
        """
        if name in self._inputs:
            raise self._refused(f"two inputs are called {name!r}")
        self._inputs.add(name)

    def written(self, name: str, index: int, node: NodeProto) -> None:
        """Take down what a node writes.

        Raises:
            InvalidModel: The name is defined already, and one of both is computed or given.
        """
        known = self._nodes.get(name)
        if known is not None and known[0] == index:
            raise self._refused(f"{_shown(index, node)} writes {name!r} twice")
        if known is None:
            known = self._nodes[name] = (index, node)
        if known[0] != index:
            if not (_is_constant(node) and _is_constant(known[1])):
                both = f"{_shown(*known)} and {_shown(index, node)}"
                raise self._refused(f"{both} both write {name!r}")
        elif name in self._stored and not _is_constant(node):
            raise self._refused(f"{_shown(index, node)} writes {name!r}, which is an initializer")
        elif name in self._inputs and name not in self._stored:
            raise self._refused(f"{_shown(index, node)} writes {name!r}, which is an input")

    def _refused(self, message: str) -> InvalidModel:
        return InvalidModel(message, where=self._scope, hint=_HINT)


def _shown(index: int, node: NodeProto) -> str:
    name = f" {node.name!r}" if node.name else ""
    return f"node {index} ({node.op_type}{name})"


def _is_constant(node: NodeProto) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")
