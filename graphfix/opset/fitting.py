"""Whether a node that is in one form of its operator fits another form as it is."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto, TypeProto
from onnx.defs import OpSchema

from graphfix.analysis.inference import type_of
from graphfix.ir.graph import Graph, Node, Tensor, is_empty
from graphfix.ir.schemas import AttributeRef, Form, default_of
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.opset.verdicts import Verdict

REMOVED = object()

Edits = dict[str, Any]

_OPTIONAL = OpSchema.FormalParameterOption.Optional


class Narrow(Refuse):
    """The node does not fit because the other form takes fewer element types."""


def edits_to_fit(node: NodeView, source: Form, target: Form, verdict: Verdict) -> Edits:
    """Return the attributes to write or to remove (`REMOVED`) so that the node fits.

    Args:
        node: The node, in the form `source`.
        source: The form it is in.
        target: The form it is to have.
        verdict: In which bounds both mean the same.

    Raises:
        Narrow: An element type is unknown, or the target form does not take it.
        Refuse: The target form lacks something else that the node uses.
    """
    edits = _attributes(node, source, target, verdict)
    _slots(node.node, source, target, outputs=False)
    _slots(node.node, source, target, outputs=True)
    return edits


def _type_reported(node: Node, source: Form, variable: str) -> TypeProto | None:
    """Return the type that any operand tells of a type variable of the schema (``T``).

    Inference gives the outputs of a chain no type after a node that it cannot infer; that Mod
    gives what it takes is in its schema.
    """
    schema = source.schema
    for tensors, formal in ((node.inputs, schema.inputs), (node.outputs, schema.outputs)):
        for position, tensor in enumerate(tensors if formal else ()):
            slot = formal[min(position, len(formal) - 1)]
            if slot.is_homogeneous and slot.type_str == variable and not is_empty(tensor):
                known = type_of(tensor)
                if known is not None:
                    return known
    return None


def _attributes(node: NodeView, source: Form, target: Form, verdict: Verdict) -> Edits:
    edits: Edits = {}
    attrs = node.node.attrs
    for name in attrs:
        if name not in source.attributes:
            raise Refuse(f"attribute {name!r} is unknown at opset {source.since}")
    for name in sorted(source.attributes - target.attributes):
        written = name in attrs
        value = attrs[name] if written else default_of(source, name)
        if written or value is not None:
            _need_neutral(name, value, default_of(source, name), verdict, target)
        if written:
            edits[name] = REMOVED
    for name in sorted(target.attributes - source.attributes):
        if target.schema.attributes[name].required:
            raise Refuse(f"opset {target.since} needs attribute {name!r}")
        default = default_of(target, name)
        neutral = verdict.neutral.get(name, default)
        # A neutral list says what each entry may be; how many there are is the node's affair, and
        # an attribute without default (dilations) means as much when it is left out.
        per_entry = isinstance(neutral, list) and default is None
        if neutral not in ("*", default) and not per_entry:
            edits[name] = neutral
    for name in sorted(target.attributes & source.attributes):
        before, after = default_of(source, name), default_of(target, name)
        if name not in attrs and before != after:
            if before is None:
                raise Refuse(
                    f"attribute {name!r} is omitted, and opset {target.since} has a default"
                )
            edits[name] = before
        elif name not in attrs and target.schema.attributes[name].required:
            raise Refuse(f"opset {target.since} needs attribute {name!r}")
    for name, allowed in verdict.allow.items():
        value = attrs[name] if name in attrs else default_of(source, name)
        if isinstance(value, AttributeRef):
            raise Refuse(f"attribute {name!r} is given by the caller of the function")
        if value not in allowed:
            said = "a graph" if isinstance(value, Graph) else repr(value)
            raise Refuse(f"{name} = {said} has no counterpart at opset {target.since}")
    return edits


def _need_neutral(name: str, value: Any, default: Any, verdict: Verdict, target: Form) -> None:
    neutral = verdict.neutral.get(name, default)
    if neutral == "*":
        return
    if isinstance(value, AttributeRef):
        raise Refuse(f"attribute {name!r} is given by the caller of the function")
    if isinstance(neutral, list) and not [entry for entry in value if entry not in neutral]:
        return
    if value != neutral:
        raise Refuse(f"opset {target.since} has no attribute {name!r}, which is {value!r} here")


def _slots(node: Node, source: Form, target: Form, *, outputs: bool) -> None:
    tensors = node.outputs if outputs else node.inputs
    kind = "outputs" if outputs else "inputs"
    schema = target.schema
    formal = schema.outputs if outputs else schema.inputs
    least = schema.min_output if outputs else schema.min_input
    most = schema.max_output if outputs else schema.max_input
    if len(tensors) > most:
        raise Refuse(f"opset {target.since} takes {most} {kind}, not {len(tensors)}")
    for position in range(least):
        missing = position >= len(tensors) or (not outputs and is_empty(tensors[position]))
        if missing and (position >= len(formal) or formal[position].option != _OPTIONAL):
            raise Refuse(f"opset {target.since} needs at least {least} {kind}")
    before = source.schema.outputs if outputs else source.schema.inputs
    for position, tensor in enumerate(tensors):
        if is_empty(tensor):
            continue
        slot = before[min(position, len(before) - 1)]
        narrow = formal[min(position, len(formal) - 1)].types
        if slot.types <= narrow:
            continue
        known = type_of(tensor)
        if known is None and slot.is_homogeneous:
            known = _type_reported(node, source, slot.type_str)
        if known is None:
            raise Narrow(f"dtype of {tensor.name} is unknown")
        if type_text(known) not in narrow:
            raise Narrow(f"opset {target.since} takes no {_plain(tensor, known)} there")


def _plain(tensor: Tensor, known: TypeProto) -> str:
    return Value(tensor).type_name if tensor.elem_type else type_text(known)


def type_text(proto: TypeProto) -> str:
    """Return a type as schemas write it: ``tensor(float)``, ``seq(tensor(int64))``."""
    match proto.WhichOneof("value"):
        case "tensor_type":
            return f"tensor({_element(proto.tensor_type.elem_type)})"
        case "sparse_tensor_type":
            return f"sparse_tensor({_element(proto.sparse_tensor_type.elem_type)})"
        case "sequence_type":
            return f"seq({type_text(proto.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({type_text(proto.optional_type.elem_type)})"
        case "map_type":
            key = _element(proto.map_type.key_type)
            return f"map({key},{type_text(proto.map_type.value_type)})"
        case _:
            return "unknown"


def _element(elem_type: int) -> str:
    return str(TensorProto.DataType.Name(elem_type)).lower()
