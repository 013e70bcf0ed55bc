"""Remembering a graph as it is, so that a chain of steps that fails can be undone."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from msgspec import Struct, field

from graphfix.authoring.workspace import Workspace
from graphfix.ir.graph import Graph, Node, Tensor, Variable
from graphfix.ir.model import Model

# Of each object all but the lists of edges, which are copied.
_TENSOR_FIELDS = ("name", "output_count")
_VARIABLE_FIELDS = (*_TENSOR_FIELDS, "elem_type", "shape", "opaque", "info", "draft")
_NODE_FIELDS = tuple(
    name for name in Node.__slots__ if name not in {"attrs", "inputs", "kept", "outputs"}
)
_GRAPH_FIELDS = ("parent", "opsets")
_LISTS = ("nodes", "inputs", "outputs", "initializers")

_Fields = tuple[tuple[str, ...], tuple[Any, ...]]


def _fields(thing: object, names: tuple[str, ...]) -> _Fields:
    return names, attrgetter(*names)(thing)


def _restore(thing: object, fields: _Fields) -> None:
    for name, value in zip(*fields, strict=True):
        setattr(thing, name, value)


class Snapshot(Struct):
    """Edges, attributes, types and opsets of a model; weights are not copied."""

    workspace: Workspace
    mark: int
    graphs: list[tuple[Graph, _Fields, list[list[Any]]]] = field(
        default_factory=list[tuple[Graph, _Fields, list[list[Any]]]]
    )
    nodes: list[tuple[Node, _Fields, list[Tensor], list[Tensor], Any]] = field(
        default_factory=list[tuple[Node, _Fields, list[Tensor], list[Tensor], Any]]
    )
    tensors: dict[int, tuple[Tensor, _Fields, list[Node], list[Node]]] = field(
        default_factory=dict[int, tuple[Tensor, _Fields, list[Node], list[Node]]]
    )
    opsets: list[tuple[dict[str, int], dict[str, int]]] = field(
        default_factory=list[tuple[dict[str, int], dict[str, int]]]
    )

    @classmethod
    def of(cls, model: Model, workspace: Workspace) -> Snapshot:
        """Remember `model` as it is now; linear in nodes."""
        kept = cls(workspace, workspace.mark())
        for root in model.roots():
            kept.opsets.append((root.opsets, dict(root.opsets)))
        for graph in model.graphs():
            kept._keep_graph(graph)
        return kept

    def _keep_graph(self, graph: Graph) -> None:
        lists = [list(getattr(graph, name)) for name in _LISTS]
        self.graphs.append((graph, _fields(graph, _GRAPH_FIELDS), lists))
        for tensor in (*graph.inputs, *graph.outputs, *graph.initializers):
            self._keep_tensor(tensor)
        for node in graph.nodes:
            fields = _fields(node, _NODE_FIELDS)
            self.nodes.append(
                (node, fields, list(node.inputs), list(node.outputs), node.attrs.saved())
            )
            for tensor in (*node.inputs, *node.outputs):
                self._keep_tensor(tensor)

    def _keep_tensor(self, tensor: Tensor) -> None:
        if id(tensor) in self.tensors:
            return
        names = _VARIABLE_FIELDS if isinstance(tensor, Variable) else _TENSOR_FIELDS
        fields = _fields(tensor, names)
        self.tensors[id(tensor)] = (tensor, fields, list(tensor.inputs), list(tensor.outputs))

    def restore(self) -> None:
        """Bring the model back to what was remembered."""
        for opsets, content in self.opsets:
            opsets.clear()
            opsets.update(content)
        for tensor, fields, producers, consumers in self.tensors.values():
            _restore(tensor, fields)
            tensor.inputs, tensor.outputs = list(producers), list(consumers)
        for node, fields, inputs, outputs, attributes in self.nodes:
            _restore(node, fields)
            node.inputs, node.outputs = list(inputs), list(outputs)
            node.attrs.restore(attributes)
        for graph, fields, lists in self.graphs:
            _restore(graph, fields)
            for name, kept in zip(_LISTS, lists, strict=True):
                setattr(graph, name, list(kept))
        self.workspace.release(self.mark)
