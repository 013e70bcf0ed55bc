"""What each node, interface and weight of a model is, so that edits can be told afterwards."""

from __future__ import annotations

from graphfix.authoring.editing import Editor
from graphfix.graph import Constant, Graph, Node, Shape, Tensor
from graphfix.model import Model

_Types = list[tuple[int, Shape | None]]
_Said = tuple[str, str, list[Tensor], list[Tensor], list[str]]


class _Print:
    """What a graph and its nodes are, property by property: lists compare at once, node by node.

    Attributes:
        graph: The graph.
        ends: Its inputs, outputs and their names.
        constants: Its initializers, with the names and weights that they had.
        nodes: Its nodes, which are kept alive.
    """

    __slots__ = (
        "_attributes",
        "_domains",
        "_elem_types",
        "_inputs",
        "_ops",
        "_outputs",
        "_shapes",
        "constants",
        "ends",
        "graph",
        "nodes",
    )

    def __init__(self, graph: Graph) -> None:
        """Take down what `graph` is now."""
        nodes = graph.nodes.copy()
        self.graph = graph
        self.ends = _ends(graph)
        self.constants = [(each, each.name, each.weights) for each in graph.initializers]
        self.nodes = nodes
        self._ops = [node.op for node in nodes]
        self._domains = [node.domain for node in nodes]
        self._inputs = [node.inputs.copy() for node in nodes]
        self._outputs = [node.outputs.copy() for node in nodes]
        self._attributes = _replaced(nodes)
        # The types of all outputs, one after the other.
        self._elem_types = [tensor.elem_type for node in nodes for tensor in node.outputs]
        self._shapes = [tensor.shape for node in nodes for tensor in node.outputs]

    def holds(self) -> bool:
        """Say whether the graph is what it was; tensors are compared by identity."""
        graph, nodes = self.graph, self.nodes
        return (
            graph.nodes == nodes
            and self.ends == _ends(graph)
            and self.constants == [(each, each.name, each.weights) for each in graph.initializers]
            and self._inputs == [node.inputs for node in nodes]
            and self._outputs == [node.outputs for node in nodes]
            and self._ops == [node.op for node in nodes]
            and self._domains == [node.domain for node in nodes]
            and self._attributes == _replaced(nodes)
            and self._elem_types == [tensor.elem_type for node in nodes for tensor in node.outputs]
            and self._shapes == [tensor.shape for node in nodes for tensor in node.outputs]
        )

    def said(self) -> list[tuple[Node, _Said, _Types]]:
        """Return each node with what it was, and the types that its outputs had."""
        types = iter(zip(self._elem_types, self._shapes, strict=True))
        told: list[tuple[Node, _Said, _Types]] = []
        columns = zip(
            self.nodes, self._ops, self._domains, self._inputs, self._outputs, strict=True
        )
        for node, op, domain, inputs, outputs in columns:
            said = (op, domain, inputs, outputs, self._attributes.get(id(node), []))
            told.append((node, said, [next(types) for _ in outputs]))
        return told


_Ends = tuple[list[Tensor], list[Tensor], list[str]]


class Fingerprints:
    """What was in a model; things are compared by identity."""

    __slots__ = ("_prints",)

    def __init__(self, model: Model) -> None:
        """Take down what is in a model now."""
        self._prints = {id(graph): _Print(graph) for graph in model.graphs()}

    def update(self, model: Model, editor: Editor) -> Node | Graph | Constant | None:
        """Take down what is in the model now; return what changed outside of a recorded site.

        What a tensor that stays was known to be is to be known of it still.

        Args:
            model: The model after a pass.
            editor: The editor of the pass, finished.
        """
        if not editor.recorded and self.still_hold(model):
            return None
        before = self._prints
        self._prints = {id(graph): _Print(graph) for graph in model.graphs()}
        edits = [recorded.edit for recorded in editor.recorded]
        if any(edit is None for edit in edits):  # of the whole file, such as inlining
            return None
        rebuilt = {id(edit.graph) for edit in edits if edit is not None}
        nodes = {id(told[0]): told for known in before.values() for told in known.said()}
        constants = {id(each[0]): each for known in before.values() for each in known.constants}
        allowed = _recorded_nodes(editor)
        for key, now in self._prints.items():
            # What is new came with a site; a body may give out another tensor at one.
            was = before.get(key) if key not in rebuilt else None
            if was is not None and was.ends != now.ends:
                return now.graph
            for fresh in now.constants:
                if constants.get(id(fresh[0]), fresh) != fresh:
                    return fresh[0]
            for node, said, types in now.said():
                _, old, old_types = nodes.get(id(node), (node, None, types))
                if old != said and id(node) not in allowed:
                    return node
                if old_types != types and _worse(old_types, types):
                    return node
        return None

    def still_hold(self, model: Model) -> bool:
        """Say whether all is as it was; most passes leave a model alone."""
        count = 0
        for graph in model.graphs():
            known = self._prints.get(id(graph))
            if known is None or not known.holds():
                return False
            count += 1
        return count == len(self._prints)


def _ends(graph: Graph) -> _Ends:
    names = [tensor.name for tensor in (*graph.inputs, *graph.outputs)]
    return list(graph.inputs), list(graph.outputs), names


def _replaced(nodes: list[Node]) -> dict[int, list[str]]:
    """Return the names of the attributes of the nodes that have others than in the file."""
    touched = [node for node in nodes if node.attrs.own or node.attrs.dropped]
    return {id(node): sorted(node.attrs) for node in touched if node.attrs.replaced()}


def _recorded_nodes(editor: Editor) -> set[int]:
    allowed: set[int] = set()
    for recorded in editor.recorded:
        edit = recorded.edit
        if edit is None:
            continue
        for group in (edit.added, edit.removed, edit.touched):
            allowed.update(map(id, group))
        for node in edit.added:
            for _, body in node.graphs():  # what came in a new body came with its node
                allowed.update(id(inner) for graph in body.walk() for inner in graph.nodes)
    return allowed


def _worse(known: _Types, now: _Types) -> bool:
    """Say whether something that was known of tensors is another thing now, or forgotten."""
    if len(known) != len(now):
        return False
    for (old, old_shape), (new, new_shape) in zip(known, now, strict=True):
        if old and new != old:
            return True
        if old_shape is None:
            continue
        if new_shape is None or len(new_shape) != len(old_shape):
            return True
        if any(isinstance(a, int) and a != b for a, b in zip(old_shape, new_shape, strict=True)):
            return True
    return False
