"""One graph while it is read: what its names are, and the casts that are put into it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec import Struct, field
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, numpy_helper

from graphfix.ir.protos import all_graphs, normal_domain
from graphfix.ir.storage.weights import dtype_of, is_external
from graphfix.validity.mending.operands import Array, elem_name

_MOST = 1 << 16  # elements of a constant that is looked at, and stored again in another type


class Names:
    """The names that are taken in a file."""

    def __init__(self, model: ModelProto) -> None:
        """Collect those of every scope."""
        self._taken: set[str] = set()
        self.replaced: set[str] = set()  # constants that were stored again in another type
        for graph in all_graphs(model.graph):
            for node in graph.node:
                self._taken.update((node.name, *node.input, *node.output))
            infos = (*graph.input, *graph.output, *graph.value_info)
            self._taken.update(info.name for info in infos)
            self._taken.update(tensor.name for tensor in graph.initializer)

    def new(self, wanted: str) -> str:
        """Return a name that nothing bears, and take it."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name


class Scope(Struct):
    """What the names of a graph are at the node that is looked at.

    Attributes:
        graph: The graph.
        names: Those that are taken in the file.
        outer: The scope around it.
        types: By name; None for what is known to be unknown.
        constants: By name, what is stored.
        touched: The names whose type follows from a reading.
        nodes: The nodes of the graph as it is to be.
        casts: By name and type, the tensor that holds the same in another type.
    """

    graph: GraphProto
    names: Names
    outer: Scope | None = None
    types: dict[str, TypeProto | None] = field(default_factory=dict[str, "TypeProto | None"])
    constants: dict[str, TensorProto] = field(default_factory=dict[str, TensorProto])
    touched: set[str] = field(default_factory=set[str])
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    casts: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def type_of(self, name: str) -> TypeProto | None:
        """Return the type of a tensor; None while unknown."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.types:
                return scope.types[name]
            scope = scope.outer
        return None

    def elem(self, name: str) -> str:
        """Return the element type of a tensor; empty while unknown, and for what is none."""
        known = self.type_of(name)
        if known is None or known.WhichOneof("value") != "tensor_type":
            return ""
        return elem_name(known.tensor_type.elem_type)

    def is_touched(self, names: Iterable[str]) -> bool:
        """Say whether the type of any of these follows from a reading."""
        wanted = {name for name in names if name}
        scope: Scope | None = self
        while scope is not None:
            if scope.touched and not wanted.isdisjoint(scope.touched):
                return True
            wanted = {name for name in wanted if name not in scope.types}
            scope = scope.outer
        return False

    def stored(self, name: str) -> TensorProto | None:
        """Return the constant of a name; None for what is computed or given."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.types:
                return scope.constants.get(name)
            scope = scope.outer
        return None

    def values(self, name: str) -> Array | None:
        """Return the values of a small constant that lies in the file."""
        proto = self.stored(name)
        if proto is None or is_external(proto) or proto.data_type == TensorProto.STRING:
            return None
        if np.prod(list(proto.dims), dtype=np.int64) > _MOST:
            return None
        try:
            return numpy_helper.to_array(proto)
        except (ValueError, TypeError):
            return None  # the complaint about its data is another one

    def cast(self, name: str, wanted: str) -> str:
        """Return the name of a tensor in another type, put in before the next node."""
        known = self.casts.get((name, wanted))
        if known is not None:
            return known
        fresh = self.names.new(f"{name}_as_{wanted}")
        elem_type = number_of(wanted)
        values = self.values(name)
        dtype = dtype_of(elem_type)
        if values is not None and dtype is not None:
            with np.errstate(all="ignore"):
                proto = numpy_helper.from_array(values.astype(dtype), fresh)
            self.graph.initializer.append(proto)
            self.names.replaced.add(name)
            self.constants[fresh] = proto
        else:
            self.nodes.append(cast_node(name, fresh, elem_type, self.names))
        self.types[fresh] = tensor_type(elem_type)
        self.touched.add(fresh)
        self.casts[(name, wanted)] = fresh
        return fresh


def number_of(name: str) -> int:
    """Return the number of an element type."""
    known = {"float32": "FLOAT", "float64": "DOUBLE"}
    return TensorProto.DataType.Value(known.get(name, name.upper()))


def tensor_type(elem_type: int) -> TypeProto:
    """Return the type of tensors of an element type and any shape."""
    made = TypeProto()
    made.tensor_type.elem_type = elem_type
    return made


def cast_node(name: str, result: str, elem_type: int, names: Names) -> NodeProto:
    """Return a Cast."""
    node = NodeProto(op_type="Cast", name=names.new(f"mended_{result}"))
    node.input.append(name)
    node.output.append(result)
    node.attribute.add(name="to", i=elem_type, type=2)
    return node


def set_elem(known: TypeProto, elem_type: int) -> None:
    """Give a declared tensor another element type; its shape stays."""
    if known.WhichOneof("value") in (None, "tensor_type"):
        known.tensor_type.elem_type = elem_type


def opsets_of(model: ModelProto) -> dict[str, int]:
    """Return the opset of each domain of the main graph."""
    return {normal_domain(entry.domain): entry.version for entry in model.opset_import}
