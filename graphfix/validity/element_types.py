"""Whether the element types that a node reads are those that its operator takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from onnx import TensorProto, TypeProto

from graphfix.ir.graph import Node, Tensor
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import Form, form_of, newest_opset
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView
from graphfix.validity.complaint import Complaint, called, named

Types = Callable[[Tensor], TypeProto | None]


def element_type_complaints(node: Node, form: Form, types: Types) -> list[Complaint]:
    """Return the inputs of a node whose type its operator does not take, or not together.

    Args:
        node: The node; its number of inputs fits.
        form: The form of its operator.
        types: Gives the type of a tensor; None while unknown.
    """
    view = NodeView(node)
    opset = node.graph.opsets.get(normal_domain(node.domain), 1)
    found: list[Complaint] = []
    bound: dict[str, Tensor] = {}
    for tensor, type_string, allowed, joined in _typed(node, form):
        known = types(tensor)
        name = _schema_text(known)
        if not name:
            continue
        if name not in allowed:
            since = _since(node, form, type_string, name)
            if since:
                kind, why = "type-of-newer-opset", f"takes that since opset {since}"
            else:
                kind, why = "element-type", f"takes {_spoken(allowed)} there"
            said = f"{called(view)} gets {named(tensor, known)} at opset {opset}, and {why}"
            found.append(Complaint(kind, said, view))
            continue
        other = bound.setdefault(type_string, tensor) if joined else tensor
        if other is not tensor and _schema_text(types(other)) != name:
            said = (
                f"{called(view)} gets {named(other, types(other))} and {named(tensor, known)}, "
                "which must be of one type"
            )
            found.append(Complaint("types-differ", said, view))
    return found


def _typed(node: Node, form: Form) -> Iterator[tuple[Tensor, str, frozenset[str], bool]]:
    formal = _formal_inputs(node.op, form.since, normal_domain(node.domain))
    for position, tensor in enumerate(node.inputs):
        if tensor.name and formal:
            yield tensor, *formal[min(position, len(formal) - 1)]


@cache
def _formal_inputs(
    op: str, since: int, domain: str
) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """Return (type parameter, types it may be, whether all of that parameter are one type)."""
    form = form_of(op, since, domain)
    assert form is not None
    parameters = {constraint.type_param_str for constraint in form.schema.type_constraints}
    return tuple(
        (
            formal.type_str,
            frozenset(formal.types),
            formal.type_str in parameters and formal.is_homogeneous,
        )
        for formal in form.schema.inputs
    )


def _since(node: Node, form: Form, type_string: str, name: str) -> int:
    """Return the opset from which on an operator takes a type; 0 where it never does."""
    if normal_domain(node.domain):
        return 0
    for opset in range(form.since + 1, newest_opset() + 1):
        newer = form_of(node.op, opset)
        if newer is None or newer.since != opset or newer.schema.deprecated:
            continue
        formal = _formal_inputs(node.op, opset, "")
        if any(text == type_string and name in allowed for text, allowed, _ in formal):
            return opset
    return 0


@cache
def _tensor_text(elem_type: int) -> str:
    names: dict[int, str] = {TensorProto.FLOAT: "float", TensorProto.DOUBLE: "double"}
    return f"tensor({names.get(elem_type) or type_name(elem_type)})"


def _schema_text(known: TypeProto | None) -> str:
    """Return a type as schemas write it; empty while unknown, or for what is rarely written."""
    kind = known.WhichOneof("value") if known is not None else None
    if known is None or kind is None:
        return ""
    if kind == "tensor_type":
        elem_type = known.tensor_type.elem_type
        return _tensor_text(elem_type) if elem_type else ""
    for field, word in (("sequence_type", "seq"), ("optional_type", "optional")):
        if kind == field:
            inner = _schema_text(getattr(known, field).elem_type)
            return f"{word}({inner})" if inner else ""
    return ""


def _spoken(allowed: frozenset[str]) -> str:
    """Return the types that an operator takes, in the words of reports."""
    words = {"float": "float32", "double": "float64"}
    plain = [text.removeprefix("tensor(").removesuffix(")") for text in allowed]
    return ", ".join(sorted(words.get(text, text) for text in plain))
