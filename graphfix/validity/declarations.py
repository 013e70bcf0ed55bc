"""Whether what a file declares and names inside it can be true, and is said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onnx import TensorProto, TypeProto, ValueInfoProto

from graphfix.analysis.inference import shapes_contradict, type_of, type_text
from graphfix.errors import InvalidModel
from graphfix.ir.graph import Constant, Graph, Node, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.weights import load_array, type_name
from graphfix.ir.views import NodeView
from graphfix.validity.complaint import Complaint


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
            if other is node or not node.name:
                continue
            message = (
                f"two nodes of {graph.scope} are called {node.name}: {_giving(other)}, and "
                f"{_giving(node)}"
            )
            yield Complaint("repeated-node-name", message, NodeView(node))


def _giving(node: Node) -> str:
    given = [tensor.name for tensor in node.outputs if tensor.name]
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
