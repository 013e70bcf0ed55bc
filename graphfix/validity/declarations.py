"""Whether what a file declares, names and stores can be true, is said once and is long enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import prod

from onnx import (
    AttributeProto,
    GraphProto,
    SparseTensorProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
)

from graphfix.analysis.inference import shapes_contradict, type_of, type_text
from graphfix.errors import InvalidModel
from graphfix.ir.graph import Constant, Graph, Node, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.weights import dtype_of, is_external, load_array, stored_bytes, type_name
from graphfix.ir.views import NodeView
from graphfix.validity.complaints import Complaint, called


def contradicts(declared: TypeProto, found: TypeProto, *, shapes: bool = True) -> bool:
    """Say whether two types cannot both be true of a tensor; what is not said is no contradiction.

    Args:
        declared: What a file says of it.
        found: What is known of it otherwise.
        shapes: Whether ranks and sizes count as well.
    """
    kinds = declared.WhichOneof("value"), found.WhichOneof("value")
    if None in kinds:
        return False
    if kinds[0] != kinds[1]:
        return True
    one, shape = shape_of_type(declared)
    two, computed = shape_of_type(found)
    if one and two and one != two:
        return True
    return shapes and shapes_contradict(shape, computed)


def forget_declared(graph: GraphProto) -> None:
    """Drop what a graph and its subgraphs declare of all but their inputs."""
    del graph.value_info[:]
    for info in graph.output:
        info.ClearField("type")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                forget_declared(attribute.g)


def repeated_declarations(graph: Graph) -> dict[str, ValueInfoProto | None]:
    """Return what is to stand for the value_info entries of names that are declared otherwise too.

    Of several entries the last one counts, as in onnxruntime. None where a tensor is declared as
    input, output or initializer, with another type than an entry gives it.
    """
    infos = graph.proto.value_info if graph.proto is not None else ()
    if not infos:
        return {}
    count = Counter(info.name for info in infos)
    known = {tensor.name: _declared(tensor) for tensor in _declared_elsewhere(graph)}
    found: dict[str, ValueInfoProto | None] = {}
    for info in infos:
        if info.name in graph.redeclared:
            continue  # a pass settled it
        declared = known.get(info.name)
        if info.name in known:
            if declared is not None and contradicts(info.type, declared):
                found[info.name] = None
        elif count[info.name] > 1:
            found[info.name] = info
    return found


def declaration_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each tensor that a scope declares twice."""
    for graph in model.graph.walk():
        for name, kept in repeated_declarations(graph).items():
            message = f"value_info of {graph.scope} declares {name} more than once"
            if kept is None:
                message = f"value_info of {graph.scope} declares {name} with another type"
                owner = next(t for t in _declared_elsewhere(graph) if t.name == name)
                message += f" than its own, {type_text(_declared(owner))}"
            yield Complaint("repeated-declaration", message)


def stored_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each initializer that is listed as an input of another type, as the file has them."""
    listed = {info.name: info.type.tensor_type.elem_type for info in model.proto.graph.input}
    for tensor in model.proto.graph.initializer if listed else ():
        declared = listed.get(tensor.name)
        if declared and declared != tensor.data_type:
            kinds = type_name(tensor.data_type), type_name(declared)
            said = f"initializer {tensor.name} is {kinds[0]} and listed as an input of {kinds[1]}"
            yield Complaint("stored-type", said)


def _declared_elsewhere(graph: Graph) -> tuple[Tensor, ...]:
    return (*graph.inputs, *graph.initializers, *graph.outputs)


def _declared(tensor: Tensor) -> TypeProto | None:
    if isinstance(tensor, Variable) and tensor.info is not None:
        return tensor.info.type
    return type_of(tensor)


Holder = Constant | Node


def holders(graph: Graph) -> Iterator[tuple[str, Holder]]:
    """Walk the constants of one scope with their names; of those of one name, the last counts."""
    for constant in graph.initializers:
        yield constant.name, constant
    for node in graph.nodes:
        if node.op == "Constant" and not normal_domain(node.domain):
            yield node.outputs[0].name, node


def name_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each name that two constants of one scope bear."""
    for graph in model.graphs():
        seen: dict[str, Holder] = {}
        for name, holder in holders(graph):
            other = seen.get(name)
            seen[name] = holder
            if other is None or not name:
                continue
            same = _same(other, holder, graph.root.base_dir)
            value = "the same value" if same else "other values: the last one counts"
            message = f"two constants of {graph.scope} are called {name}, with {value}"
            view = NodeView(holder) if isinstance(holder, Node) else None
            yield Complaint("repeated-constant", message, view)


def node_name_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each node that bears the name of one before it in the same graph or body."""
    for graph in model.graphs():
        seen: dict[str, Node] = {}
        for node in graph.nodes:
            other = seen.setdefault(node.name, node)
            if other is node or not node.name or _given(other) == _given(node):
                continue  # what is a node again is to go
            message = (
                f"two nodes of {graph.scope} are called {node.name}: {_giving(other)}, and "
                f"{_giving(node)}"
            )
            yield Complaint("repeated-node-name", message, NodeView(node))


def repeated_nodes(graph: Graph) -> Iterator[tuple[Node, Node]]:
    """Yield each node that writes what one before it writes, and that one: they are the same."""
    seen: dict[str, Node] = {}
    for node in graph.nodes:
        names = _given(node)
        first = seen.get(names[0]) if names else None
        if first is not None and first.op != "Constant":
            yield node, first
        else:
            seen.update((name, node) for name in names)


def repeated_node_complaints(model: Model) -> Iterator[Complaint]:
    """Yield each node that is one of its graph again."""
    for graph in model.graphs():
        for node, _ in repeated_nodes(graph):
            message = f"two nodes of {graph.scope} write {_given(node)[0]}, and are the same"
            yield Complaint("repeated-node", message, NodeView(node))


def _given(node: Node) -> list[str]:
    return [tensor.name for tensor in node.outputs if tensor.name]


def _giving(node: Node) -> str:
    given = _given(node)
    return f"{node.op}, which gives {given[0]}" if given else node.op


def _same(one: Holder, two: Holder, base_dir: str) -> bool:
    """Say whether two constants are known to be bit for bit the same."""
    first, second = _held(one), _held(two)
    if not isinstance(first, TensorProto) or not isinstance(second, TensorProto):
        return False
    if first.data_type != second.data_type or list(first.dims) != list(second.dims):
        return False
    if first.data_type == TensorProto.STRING:
        return list(first.string_data) == list(second.string_data)
    try:
        return load_array(first, base_dir).tobytes() == load_array(second, base_dir).tobytes()
    except (ValueError, TypeError, OverflowError, InvalidModel):
        return False  # what the data lacks is reported elsewhere


def _held(holder: Holder) -> object:
    return holder.weights.proto if isinstance(holder, Constant) else holder.attrs.get("value")


_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
_FIELD_OF: dict[int, str] = {
    TensorProto.FLOAT: "float_data",
    TensorProto.COMPLEX64: "float_data",
    TensorProto.INT64: "int64_data",
    TensorProto.STRING: "string_data",
    TensorProto.DOUBLE: "double_data",
    TensorProto.COMPLEX128: "double_data",
    TensorProto.UINT64: "uint64_data",
    TensorProto.UINT32: "uint64_data",
}


def data_complaints(model: Model) -> Iterator[Complaint]:
    """Yield every stored tensor whose data does not fit its type and sizes."""
    for graph in model.graphs():
        for constant in graph.initializers:
            proto = constant.weights.proto
            if isinstance(proto, SparseTensorProto):
                continue  # its values and indices say themselves how long they are
            found = data_complaint(proto, f"initializer {constant.name}")
            if found is not None:
                kind, message = found
                users = [node for node in constant.outputs if node.graph is graph]
                yield Complaint(kind, message, NodeView(users[0]) if users else None)
        for node in graph.nodes:
            for name in node.attrs if node.proto is not None and node.proto.attribute else ():
                held = node.attrs.proto(name)
                if held is None or held.type != AttributeProto.TENSOR:
                    continue
                view = NodeView(node)
                found = data_complaint(held.t, f"{name} of {called(view)}")
                if found is not None:
                    yield Complaint(*found, view)


def data_complaint(proto: TensorProto, what: str) -> tuple[str, str] | None:
    """Return what is wrong with the data of one tensor, as (kind, sentence).

    Args:
        proto: The tensor; what lies outside the file is looked at when that is read.
        what: The tensor in the words of the sentence.
    """
    sizes = list(proto.dims)
    shown = f"{type_name(proto.data_type)}[{', '.join(map(str, sizes))}]"
    if any(size < 0 for size in sizes):
        return "negative-size", f"{what} is {shown}: a stored tensor cannot have a negative size"
    if is_external(proto) or not _is_known(proto.data_type):
        return None
    count = prod(sizes)
    typed = {field: len(getattr(proto, field)) for field in _FIELDS}
    if proto.HasField("raw_data"):
        length, wanted = len(proto.raw_data), stored_bytes(proto)
        if length == wanted and not any(typed.values()):
            return None
        if length == wanted:
            return "data-twice", f"{what} is stored twice: as raw data and as numbers"
        if length or not any(typed.values()):
            return "stored-data", f"{what} is {shown}, {wanted} bytes, and has {length} bytes"
    field = _FIELD_OF.get(proto.data_type, "int32_data")
    wanted = _entries(proto.data_type, count)
    if typed[field] == wanted and sum(map(bool, typed.values())) == bool(wanted):
        return None
    if typed[field] == wanted:
        return "data-twice", f"{what} is stored twice, as numbers of two kinds"
    return "stored-data", f"{what} is {shown}, {wanted} entries, and has {typed[field]} of {field}"


@cache
def _is_known(elem_type: int) -> bool:
    return elem_type == TensorProto.STRING or dtype_of(elem_type) is not None


def _entries(elem_type: int, count: int) -> int:
    """Return how many numbers the field for an element type has, packed types as they are."""
    if elem_type in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return 2 * count
    name = type_name(elem_type)
    if name in ("int4", "uint4", "float4e2m1"):
        return (count + 1) // 2
    if name in ("int2", "uint2"):
        return (count + 3) // 4
    return count
