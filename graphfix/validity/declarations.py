"""Whether what a file declares of tensors inside it can be true, and is said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onnx import TypeProto, ValueInfoProto

from graphfix.analysis.inference import shapes_contradict, type_of, type_text
from graphfix.ir.graph import Graph, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
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


def _declared_elsewhere(graph: Graph) -> tuple[Tensor, ...]:
    return (*graph.inputs, *graph.initializers, *graph.outputs)


def _declared(tensor: Tensor) -> TypeProto | None:
    if isinstance(tensor, Variable) and tensor.info is not None:
        return tensor.info.type
    return type_of(tensor)
