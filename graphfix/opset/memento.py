"""Remembering a graph as it is, so that a chain of steps that fails can be undone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphfix.authoring.workspace import Workspace
from graphfix.graph import Graph, Node, Tensor, Variable
from graphfix.model import Model

_VARIABLE_FIELDS = ("elem_type", "shape", "opaque", "info", "draft")


@dataclass(slots=True)
class Memento:
    """Edges, attributes, types and opsets of a model; weights are not copied."""

    workspace: Workspace
    mark: int
    graphs: list[tuple[Graph, dict[str, Any]]] = field(
        default_factory=list[tuple[Graph, dict[str, Any]]]
    )
    nodes: list[tuple[Node, dict[str, Any], list[Tensor], list[Tensor], Any]] = field(
        default_factory=list[tuple[Node, dict[str, Any], list[Tensor], list[Tensor], Any]]
    )
    tensors: dict[int, tuple[Tensor, list[Node], list[Node], dict[str, Any]]] = field(
        default_factory=dict[int, tuple[Tensor, list[Node], list[Node], dict[str, Any]]]
    )
    opsets: list[tuple[dict[str, int], dict[str, int]]] = field(
        default_factory=list[tuple[dict[str, int], dict[str, int]]]
    )

    @classmethod
    def of(cls, model: Model, workspace: Workspace) -> Memento:
        """Remember `model` as it is now; linear in nodes."""
        kept = cls(workspace, workspace.mark())
        for root in model.roots():
            kept.opsets.append((root.opsets, dict(root.opsets)))
        for graph in model.graphs():
            kept._keep_graph(graph)
        return kept

    def _keep_graph(self, graph: Graph) -> None:
        self.graphs.append(
            (
                graph,
                {
                    "nodes": list(graph.nodes),
                    "inputs": list(graph.inputs),
                    "outputs": list(graph.outputs),
                    "initializers": list(graph.initializers),
                    "parent": graph.parent,
                    "opsets": graph.opsets,
                },
            )
        )
        for tensor in (*graph.inputs, *graph.outputs, *graph.initializers):
            self._keep_tensor(tensor)
        for node in graph.nodes:
            fields = dict(node.__dict__)
            self.nodes.append(
                (node, fields, list(node.inputs), list(node.outputs), node.attrs.saved())
            )
            for tensor in (*node.inputs, *node.outputs):
                self._keep_tensor(tensor)

    def _keep_tensor(self, tensor: Tensor) -> None:
        if id(tensor) in self.tensors:
            return
        fields: dict[str, Any] = {"output_count": tensor.output_count, "name": tensor.name}
        if isinstance(tensor, Variable):
            fields.update((name, tensor.__dict__[name]) for name in _VARIABLE_FIELDS)
        self.tensors[id(tensor)] = (tensor, list(tensor.inputs), list(tensor.outputs), fields)

    def restore(self) -> None:
        """Bring the model back to what was remembered."""
        for opsets, content in self.opsets:
            opsets.clear()
            opsets.update(content)
        for tensor, producers, consumers, fields in self.tensors.values():
            _refill(tensor.inputs, producers)
            _refill(tensor.outputs, consumers)
            tensor.__dict__.update(fields)
        for node, fields, inputs, outputs, attributes in self.nodes:
            node.__dict__.update(fields)
            _refill(node.inputs, inputs)
            _refill(node.outputs, outputs)
            node.attrs.restore(attributes)
        for graph, parts in self.graphs:
            graph.nodes = parts["nodes"]
            graph.inputs = parts["inputs"]
            graph.outputs = parts["outputs"]
            graph.initializers = parts["initializers"]
            graph.parent = parts["parent"]
            graph.opsets = parts["opsets"]
        self.workspace.release(self.mark)


def _refill(edges: list[Any], content: list[Any]) -> None:
    # The lists of graphsurgeon keep the other end of an edge; both ends are restored here.
    list[Any].clear(edges)
    list[Any].extend(edges, content)
