"""Parts of a model: some of its nodes, fed at the border and read at the border."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto

from graphfix.difference.scopes import Scope
from graphfix.ir.protos import with_graph
from graphfix.reduction.tensor_types import Types, declaration


class Whole:
    """A model that parts are taken from.

    Attributes:
        proto: The model; never changed.
        scope: Its main graph, indexed.
        types: What is known of its tensors.
    """

    def __init__(self, proto: ModelProto, types: Types) -> None:
        """Index the model; raises `InvalidModel` where its nodes form a cycle."""
        self.proto = proto
        self.scope = Scope.of_graph(proto.graph, "main")
        self.types = types
        self._infos = {
            info.name: info
            for info in (*proto.graph.value_info, *proto.graph.output, *proto.graph.input)
        }

    def read_by(self, index: int) -> list[str]:
        """Return what a node reads, values captured by its subgraphs included."""
        names = [*self.scope.nodes[index].input, *self.scope.captures.get(index, ())]
        return [name for name in names if name]

    def part(self, indices: Collection[int]) -> ModelProto | None:
        """Return a model of these nodes alone; None where it would have no output.

        What a node reads from one that is gone becomes an input; what a node makes for one that
        is gone becomes an output, unless a node that stays reads it too. Inputs, stored tensors
        and functions that no one uses are left out.
        """
        chosen = set(indices)
        nodes = [self.scope.nodes[i] for i in self.scope.order if i in chosen]
        made = {name for node in nodes for name in node.output if name}
        read = {name: None for i in self.scope.order if i in chosen for name in self.read_by(i)}
        outputs = [name for name in self.scope.outputs if name in made]
        outputs += [name for name in self._border(chosen, nodes) if name not in outputs]
        if not outputs:
            return None
        graph = self._empty(made | set(read))
        graph.node.extend(nodes)
        given = [info.name for info in self.proto.graph.input if info.name in read]
        cut = [n for n in read if n not in made and n not in given and n not in self.scope.stored]
        graph.input.extend(self._info(name) for name in (*given, *cut))
        graph.output.extend(self._info(name) for name in outputs)
        graph.initializer.extend(t for t in self.proto.graph.initializer if t.name in read)
        graph.sparse_initializer.extend(
            t for t in self.proto.graph.sparse_initializer if t.values.name in read
        )
        ends = {*given, *cut, *outputs}
        graph.value_info.extend(
            info
            for info in self.proto.graph.value_info
            if info.name in made and info.name not in ends
        )
        return with_graph(self.proto, graph)

    def _border(self, chosen: set[int], nodes: Iterable[NodeProto]) -> list[str]:
        """Return what only nodes that are gone read."""
        found: list[str] = []
        for node in nodes:
            for name in node.output:
                readers = {index for index, _ in self.scope.readers.get(name, ())} if name else ()
                if readers and not chosen.intersection(readers):
                    found.append(name)
        return found

    def _empty(self, names: set[str]) -> GraphProto:
        source = self.proto.graph
        graph = GraphProto(name=source.name, doc_string=source.doc_string)
        graph.metadata_props.extend(source.metadata_props)
        graph.quantization_annotation.extend(
            entry for entry in source.quantization_annotation if entry.tensor_name in names
        )
        return graph

    def _info(self, name: str) -> ValueInfoProto:
        """Return the declaration of a tensor, with what was inferred where it says too little."""
        return declaration(name, self._infos.get(name), self.types)
