"""What each node, interface and weight of a model is, so that edits can be told afterwards."""

from __future__ import annotations

from graphfix.authoring.editing import Editor
from graphfix.graph import Constant, Graph, Node, Shape, Tensor, Weights
from graphfix.model import Model

_Types = list[tuple[int, Shape | None]]


class _NodePrint:
    """What a node is: its operator, its edges, its attributes, and the types of its outputs."""

    __slots__ = ("attributes", "domain", "inputs", "node", "op", "outputs", "types")

    def __init__(self, node: Node) -> None:
        """Take down what `node` is now."""
        self.node = node
        self.op = node.op
        self.domain = node.domain
        self.inputs = node.inputs.copy()
        self.outputs = node.outputs.copy()
        self.attributes = sorted(node.attrs) if node.attrs.replaced() else []
        self.types: _Types = [(t.elem_type, t.shape) for t in node.outputs]

    def holds(self, node: Node) -> bool:
        """Say whether the node is what it was, but for the types of its outputs."""
        attributes = sorted(node.attrs) if node.attrs.replaced() else []
        return (
            node.inputs == self.inputs  # by identity, as all tensors are compared
            and node.outputs == self.outputs
            and node.op == self.op
            and node.domain == self.domain
            and attributes == self.attributes
        )

    def types_hold(self) -> bool:
        """Say whether the types of the outputs are what they were."""
        for tensor, (elem_type, shape) in zip(self.outputs, self.types, strict=True):
            known = tensor.shape
            if tensor.elem_type != elem_type or (known is not shape and known != shape):
                return False
        return True


_Ends = tuple[list[Tensor], list[Tensor], list[str]]


class Fingerprints:
    """What was in a model; things are compared by identity.

    Attributes:
        nodes: By the id of the node, which is kept alive.
        ends: Inputs, outputs and their names, by the id of the graph.
        constants: Name and weights, by the id of the constant.
    """

    __slots__ = ("constants", "ends", "nodes")

    def __init__(self, model: Model) -> None:
        """Take down what is in a model now."""
        self.nodes: dict[int, _NodePrint] = {}
        self.ends: dict[int, tuple[Graph, _Ends]] = {}
        self.constants: dict[int, tuple[Constant, str, Weights]] = {}
        for graph in model.graphs():
            self.ends[id(graph)] = (graph, _ends(graph))
            for constant in graph.initializers:
                self.constants[id(constant)] = (constant, constant.name, constant.weights)
            for node in graph.nodes:
                self.nodes[id(node)] = _NodePrint(node)

    def update(self, model: Model, editor: Editor) -> Node | Graph | Constant | None:
        """Take down what is in the model now; return what changed outside of a recorded site.

        What a tensor that stays was known to be is to be known of it still.

        Args:
            model: The model after a pass.
            editor: The editor of the pass, finished.
        """
        if not editor.recorded and self._still_hold(model):
            return None
        nodes, ends, constants = self.nodes, self.ends, self.constants
        edits = [recorded.edit for recorded in editor.recorded]
        whole_file = any(edit is None for edit in edits)  # such as inlining
        rebuilt = {id(edit.graph) for edit in edits if edit is not None}
        allowed = _recorded_nodes(editor)
        stray: Node | Graph | Constant | None = None
        self.nodes, self.ends, self.constants = {}, {}, {}
        for graph in model.graphs():
            now = _ends(graph)
            self.ends[id(graph)] = (graph, now)
            # What is new came with a site; a body may give out another tensor at one.
            known_ends = ends.get(id(graph)) if id(graph) not in rebuilt else None
            if known_ends is not None and known_ends[1] != now:
                stray = stray or graph
            for constant in graph.initializers:
                fresh = self.constants[id(constant)] = (constant, constant.name, constant.weights)
                if constants.get(id(constant), fresh) != fresh:
                    stray = stray or constant
            for node in graph.nodes:
                if self._keep(node, nodes.get(id(node)), allowed):
                    stray = stray or node
        return None if whole_file else stray

    def _still_hold(self, model: Model) -> bool:
        """Say whether all is as it was; most passes leave a model alone."""
        count = 0
        for graph in model.graphs():
            ends = self.ends.get(id(graph))
            if ends is None or ends[1] != _ends(graph):
                return False
            for constant in graph.initializers:
                known = self.constants.get(id(constant))
                if known != (constant, constant.name, constant.weights):
                    return False
            for node in graph.nodes:
                printed = self.nodes.get(id(node))
                if printed is None or not (printed.holds(node) and printed.types_hold()):
                    return False
            count += len(graph.nodes)
        return count == len(self.nodes)

    def _keep(self, node: Node, known: _NodePrint | None, allowed: set[int]) -> bool:
        """Take down a node, by what is known where nothing changed; say whether it is a stray."""
        if known is None or not known.holds(node):
            fresh = self.nodes[id(node)] = _NodePrint(node)
            if id(node) not in allowed:
                return True
            return known is not None and _worse(known.types, fresh.types)
        if known.types_hold():
            self.nodes[id(node)] = known
            return False
        self.nodes[id(node)] = fresh = _NodePrint(node)
        return _worse(known.types, fresh.types)


def _ends(graph: Graph) -> _Ends:
    names = [tensor.name for tensor in (*graph.inputs, *graph.outputs)]
    return list(graph.inputs), list(graph.outputs), names


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
