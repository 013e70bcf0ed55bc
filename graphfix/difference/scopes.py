"""One graph, body or function, indexed: who makes and who reads each tensor, in what order."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from msgspec import Struct, field
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
)

from graphfix.errors import InvalidModel
from graphfix.ir.importing import in_order
from graphfix.ir.inlining import inline
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.weights import type_name
from graphfix.report import NodeRef

Stored = TensorProto | SparseTensorProto


def subgraphs_of(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """Yield the graphs inside a node, with the attribute (and the number in a list) of each."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        for number, body in enumerate(attribute.graphs):
            yield f"{attribute.name}[{number}]", body


def inlined(model: ModelProto) -> ModelProto:
    """Return the model with its local functions inlined, so that their tensors are seen."""
    if not model.functions:
        return model
    return inline(model)


class Scope(Struct):
    """A graph or a function.

    Attributes:
        proto: What is indexed.
        name: As reports name it: ``main``, ``main/If_3.then_branch``, ``function:d::f``.
        nodes: The nodes as the file has them; a node is known by its position here.
        order: The positions in topological order; ties in the order of the file.
        inputs: The names of the inputs that have no stored value.
        outputs: The names of the outputs.
        stored: Initializers by name, dense and sparse.
        overridable: Names of initializers that are inputs too.
        makers: Tensor -> (node, output position).
        readers: Tensor -> (node, input position), captures with position -1, sorted.
        subgraphs: Node -> the graphs inside it, by attribute.
        captures: Node -> names that its subgraphs read from here or from further out.
        free: Names that are read here and defined further out.
    """

    proto: GraphProto | FunctionProto
    name: str
    nodes: list[NodeProto]
    inputs: list[str]
    outputs: list[str]
    stored: dict[str, Stored] = field(default_factory=dict[str, "Stored"])
    overridable: frozenset[str] = frozenset()
    makers: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    readers: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict[str, list[tuple[int, int]]]
    )
    subgraphs: dict[int, dict[str, Scope]] = field(default_factory=dict[int, "dict[str, Scope]"])
    captures: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    order: list[int] = field(default_factory=list[int])
    free: frozenset[str] = frozenset()

    @classmethod
    def of_graph(cls, graph: GraphProto, name: str) -> Scope:
        """Index a graph; raises `InvalidModel` when its nodes form a cycle."""
        stored: dict[str, Stored] = {tensor.name: tensor for tensor in graph.initializer}
        stored |= {sparse.values.name: sparse for sparse in graph.sparse_initializer}
        names = [info.name for info in graph.input]
        scope = cls(
            graph,
            name,
            list(graph.node),
            [one for one in names if one not in stored],
            [info.name for info in graph.output],
            stored,
            frozenset(one for one in names if one in stored),
        )
        scope._index()
        return scope

    @classmethod
    def of_function(cls, function: FunctionProto) -> Scope:
        """Index a local function; raises `InvalidModel` when its nodes form a cycle."""
        scope = cls(
            function,
            function_scope(function),
            list(function.node),
            list(function.input),
            list(function.output),
        )
        scope._index()
        return scope

    def _index(self) -> None:
        for index, node in enumerate(self.nodes):
            for position, output in enumerate(node.output):
                if output:
                    self.makers[output] = (index, position)
        for index, node in enumerate(self.nodes):
            for position, name in enumerate(node.input):
                if name:
                    self.readers.setdefault(name, []).append((index, position))
            captured: set[str] = set()
            for attribute, body in subgraphs_of(node):
                inner = Scope.of_graph(body, self._body_name(index, attribute))
                self.subgraphs.setdefault(index, {})[attribute] = inner
                captured |= inner.free
            if captured:
                self.captures[index] = sorted(captured)
                for name in self.captures[index]:
                    self.readers.setdefault(name, []).append((index, -1))
        own = set(self.stored) | set(self.inputs) | set(self.makers)
        self.free = frozenset((set(self.readers) | set(self.outputs)) - own - {""})
        self._sort()

    def _sort(self) -> None:
        needs: list[set[int]] = []
        for index, node in enumerate(self.nodes):
            read = [*node.input, *self.captures.get(index, ())]
            needs.append({self.makers[name][0] for name in read if name in self.makers})
        self.order.extend(in_order(needs))
        if len(self.order) != len(self.nodes):
            raise InvalidModel("the nodes form a cycle", where=self.name)

    def ref(self, index: int) -> NodeRef:
        """Return a node as reports name it."""
        node = self.nodes[index]
        return NodeRef(
            node.name,
            index,
            node.op_type,
            normal_domain(node.domain),
            tuple(node.output),
            self.name,
        )

    def origin(self, name: str) -> str:
        """Return where a tensor comes from: ``Neg 'n' #0``, ``an input``, ``a stored tensor``."""
        if name in self.makers:
            node = self.nodes[self.makers[name][0]]
            known = f" {node.name!r}" if node.name else ""
            return f"{node.op_type}{known} #{self.makers[name][0]}"
        if name in self.inputs:
            return "an input"
        return "a stored tensor" if name in self.stored else "the graph around"

    def _body_name(self, index: int, attribute: str) -> str:
        node = self.nodes[index]
        return f"{self.name}/{node.name or node.op_type}.{attribute}"


def function_scope(function: FunctionProto) -> str:
    """Return ``function:domain::name``, with ``:overload`` where there is one."""
    overload = f":{function.overload}" if function.overload else ""
    return f"function:{function.domain}::{function.name}{overload}"


def type_text(kind: onnx.TypeProto) -> str:
    """Return a type in one line: ``float32[batch, 3, ?]``, ``sequence(int64[...])``.

    An unknown rank is ``[...]``, a dimension without size or name ``?``.
    """
    form = kind.WhichOneof("value")
    if form == "sequence_type":
        return f"sequence({type_text(kind.sequence_type.elem_type)})"
    if form == "optional_type":
        return f"optional({type_text(kind.optional_type.elem_type)})"
    if form == "map_type":
        key = type_name(kind.map_type.key_type)
        return f"map({key}, {type_text(kind.map_type.value_type)})"
    if form in ("tensor_type", "sparse_tensor_type"):
        tensor = kind.tensor_type if form == "tensor_type" else kind.sparse_tensor_type
        text = type_name(tensor.elem_type)
        if not tensor.HasField("shape"):
            text += "[...]"
        else:
            text += f"[{', '.join(_dim_text(dim) for dim in tensor.shape.dim)}]"
        if form == "sparse_tensor_type":
            text = f"sparse({text})"
    elif form == "opaque_type":
        text = f"opaque({kind.opaque_type.domain}::{kind.opaque_type.name})"
    else:
        text = "unknown"
    return f"{text} as {kind.denotation}" if kind.denotation else text


def _dim_text(dim: onnx.TensorShapeProto.Dimension) -> str:
    form = dim.WhichOneof("value")
    text = "?"
    if form == "dim_value":
        text = str(dim.dim_value)
    elif form == "dim_param" and dim.dim_param:
        text = dim.dim_param
    return f"{text}:{dim.denotation}" if dim.denotation else text
