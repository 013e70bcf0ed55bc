"""Operators that the user says are others: ``--op-alias my.ops::Inverse=aten::linalg_inv``.

The nodes are renamed in the file as it is read, so that all that follows, the comparison of numbers
as well, takes them for what the user says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import AttributeProto, ModelProto, NodeProto

from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, nodes_of_model, normal_domain
from graphfix.ir.schemas import form_of, newest_opset

OPTION = "--op-alias"
_ATEN = "aten"
_ATEN_DOMAIN = "org.pytorch.aten"
Name = tuple[str, str]


def treated(model: Model, aliases: Sequence[str]) -> tuple[Model, tuple[str, ...]]:
    """Rename the nodes that the user says are of other operators.

    Args:
        model: The model; it is not changed.
        aliases: ``[DOMAIN::]OP=[DOMAIN::]OP``; the domain ``aten`` stands for a call of ATen.

    Returns:
        The model, and a sentence for each alias.

    Raises:
        UsageError: An alias is of another form, names an operator that the model does not have or
            that ONNX does not have, or nodes have attributes, which a call of ATen takes as inputs.
    """
    if not aliases:
        return model, ()
    wanted = parsed(aliases)
    proto = copied(model.to_proto())
    counts = dict.fromkeys(wanted, 0)
    for node in nodes_of_model(proto):
        name = (normal_domain(node.domain), node.op_type)
        if name in wanted:
            _rename(node, wanted[name])
            counts[name] += 1
    for name, count in counts.items():
        if not count:
            there = sorted(
                {shown((normal_domain(n.domain), n.op_type)) for n in nodes_of_model(proto)}
            )
            raise UsageError(
                f"the model has no {shown(name)}; it has {', '.join(there)}", where=OPTION
            )
    _import(proto, wanted)
    said = tuple(
        f"{counts[name]} x {shown(name)} is treated as {shown(other)}, as {OPTION} says"
        for name, other in wanted.items()
    )
    return Model(proto, base_dir=model.base_dir), said


def parsed(aliases: Sequence[str]) -> Mapping[Name, Name]:
    """Return which operator is treated as which.

    Raises:
        UsageError: One is not of the form, or ONNX has no such operator.
    """
    found: dict[Name, Name] = {}
    for alias in aliases:
        left, equals, right = alias.partition("=")
        if not equals or not left or not right:
            form = "[DOMAIN::]OP=[DOMAIN::]OP"
            raise UsageError(f"{alias!r} is not of the form {form}", where=OPTION)
        name, other = _name(left), _name(right)
        if not other[0] and form_of(other[1], newest_opset()) is None:
            raise UsageError(f"ONNX has no operator {other[1]}", where=OPTION)
        if found.setdefault(name, other) != other:
            raise UsageError(f"{left} is treated as two operators", where=OPTION)
    return found


def _name(text: str) -> Name:
    domain, _, op = text.rpartition("::")
    return normal_domain(domain), op


def shown(name: Name) -> str:
    """Return an operator as it is written."""
    return f"{name[0]}::{name[1]}" if name[0] else name[1]


def _rename(node: NodeProto, other: Name) -> None:
    if other[0] != _ATEN:
        node.domain, node.op_type = other
        return
    if node.attribute:
        names = ", ".join(attribute.name for attribute in node.attribute)
        raise UsageError(
            f"{node.op_type} {node.name!r} has the attributes {names}; a call of ATen takes all "
            "arguments as inputs",
            where=OPTION,
        )
    node.domain, node.op_type = _ATEN_DOMAIN, "ATen"
    for key, value in (("operator", other[1]), ("overload_name", "")):
        node.attribute.add(name=key, type=AttributeProto.STRING, s=value.encode())


def _import(proto: ModelProto, wanted: Mapping[Name, Name]) -> None:
    """Import the domains that are new to the file, and drop none."""
    for entries in (proto.opset_import, *(function.opset_import for function in proto.functions)):
        there = {normal_domain(entry.domain) for entry in entries}
        for domain, _ in wanted.values():
            domain = _ATEN_DOMAIN if domain == _ATEN else domain
            if domain and domain not in there:
                there.add(domain)
                entries.add(domain=domain, version=1)
