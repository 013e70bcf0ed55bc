"""Shape inference of a graph with hundreds of subgraphs, one piece of it after another.

onnx hands each body a copy of all types that are known around it (implementation.cc of its
shape_inference, 1.23), so that thousands of Ifs in one graph take time that grows with their
square. A piece knows the types of what it reads. What was computed of shapes in an earlier piece it
does not know: sizes that follow from that stay unknown here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from onnx import GraphProto, ModelProto, NodeProto, TensorShapeProto, ValueInfoProto

from graphfix.ir.protos import all_graphs, names_read, subgraphs_of

_MANY, _FEW = 256, 64  # nodes with subgraphs: from there on in pieces, and of one piece
_SUBGRAPHS = (b"then_branch", b"body")  # the names of If's attribute, and of that of Loop and Scan
_MADE = re.compile(r"unk__\d+")  # the symbols that onnx makes up
Infer = Callable[[ModelProto], ModelProto]


def has_many_subgraphs(raw: bytes) -> bool:
    """Say whether the bytes of a model may be those of one with hundreds of subgraphs."""
    return sum(raw.count(name) for name in _SUBGRAPHS) > _MANY


def infer_in_pieces(model: ModelProto, infer: Infer) -> ModelProto:
    """Infer the types of a model; piece by piece where its main graph has hundreds of subgraphs.

    Args:
        model: The model, which is not changed.
        infer: Infers the types of a model.
    """
    if sum(any(True for _ in subgraphs_of(node)) for node in model.graph.node) <= _MANY:
        return infer(model)
    return _Pieces(model, infer).inferred()


class _Pieces:
    """One inference: what is known so far, and the symbols that are taken."""

    def __init__(self, model: ModelProto, infer: Infer) -> None:
        graph = model.graph
        self._model, self._infer = model, infer
        self._outputs = {info.name: info for info in graph.output}
        self._declared = {info.name: info for info in graph.value_info}
        self._inputs = {info.name: info for info in graph.input}
        self._stored = {tensor.name: tensor for tensor in graph.initializer}
        self._sparse = {tensor.values.name: tensor for tensor in graph.sparse_initializer}
        self._known: dict[str, ValueInfoProto] = {}  # what earlier pieces gave
        self._symbols = _symbols(graph)
        self._count = 0

    def inferred(self) -> ModelProto:
        """Return the model with types."""
        result = ModelProto()
        result.CopyFrom(self._model)
        del result.graph.node[:], result.graph.value_info[:]
        for nodes in self._cut():
            before = self._piece(nodes)
            piece = self._infer(before)
            self._rename(piece.graph, _symbols(before.graph))
            result.graph.node.extend(piece.graph.node)
            for info in (*piece.graph.value_info, *piece.graph.output):
                self._known[info.name] = info
        for info in result.graph.output:
            if info.name in self._known:
                info.type.CopyFrom(self._known[info.name].type)
        rest = (info for name, info in self._declared.items() if name not in self._known)
        found = (info for name, info in self._known.items() if name not in self._outputs)
        result.graph.value_info.extend((*found, *rest))
        return result

    def _cut(self) -> Iterator[list[NodeProto]]:
        piece: list[NodeProto] = []
        subgraphs = 0
        for node in self._model.graph.node:
            piece.append(node)
            subgraphs += any(True for _ in subgraphs_of(node))
            if subgraphs == _FEW:
                yield piece
                piece, subgraphs = [], 0
        yield piece

    def _piece(self, nodes: list[NodeProto]) -> ModelProto:
        piece = ModelProto(ir_version=self._model.ir_version)
        piece.opset_import.extend(self._model.opset_import)
        piece.functions.extend(self._model.functions)
        graph = piece.graph
        graph.node.extend(nodes)
        made = {name for node in nodes for name in node.output}
        for name in dict.fromkeys(name for node in nodes for name in names_read(node)):
            if name in made:
                continue
            if name in self._stored:
                graph.initializer.append(self._stored[name])
            if name in self._sparse:
                graph.sparse_initializer.append(self._sparse[name])
            info = self._inputs.get(name) or self._known.get(name)
            if info is not None:
                graph.input.append(info)
        graph.output.extend(self._outputs[name] for name in made if name in self._outputs)
        graph.value_info.extend(self._declared[name] for name in made if name in self._declared)
        return piece

    def _rename(self, graph: GraphProto, own: set[str]) -> None:
        """Give the symbols that were made up for a piece names that no other piece has."""
        if b"unk__" not in graph.SerializeToString():
            return
        names: dict[str, str] = {}
        for dim in _dims(graph):
            symbol = dim.dim_param
            if symbol in own or not _MADE.fullmatch(symbol):
                continue
            if symbol not in names:
                names[symbol] = self._fresh() if symbol in self._symbols else symbol
                self._symbols.add(names[symbol])
            dim.dim_param = names[symbol]

    def _fresh(self) -> str:
        while f"unk__{self._count}" in self._symbols:
            self._count += 1
        return f"unk__{self._count}"


def _symbols(graph: GraphProto) -> set[str]:
    return {dim.dim_param for dim in _dims(graph)}


def _dims(graph: GraphProto) -> Iterator[TensorShapeProto.Dimension]:
    """Yield the dimensions of all types that a graph and its subgraphs declare."""
    for each in all_graphs(graph):
        for info in (*each.input, *each.output, *each.value_info):
            kind = info.type
            while kind.HasField("sequence_type") or kind.HasField("optional_type"):
                inner = kind.sequence_type if kind.HasField("sequence_type") else kind.optional_type
                kind = inner.elem_type
            yield from kind.tensor_type.shape.dim
