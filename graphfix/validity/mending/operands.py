"""How the operands of one node are read whose types its operator does not take together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import NodeProto, TypeProto

from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import form_of, newest_opset
from graphfix.ir.storage.weights import dtype_of, type_name
from graphfix.validity.mending.kinds import Kind, first, of_rules
from graphfix.validity.mending.promotion import EXACT, is_float, is_integer, joined, next_type

Array = np.ndarray[Any, Any]
_SEQUENCES_SINCE = 11
_NAMES = {"float": "float32", "double": "float64"}
# The least and the largest positive number of each float type.
_RANGE = {
    "float16": (2.0**-24, 65504.0),
    "bfloat16": (2.0**-133, 3.3895e38),
    "float32": (2.0**-149, 3.4028235e38),
    "float64": (0.0, float("inf")),
}


class Formal(Struct, frozen=True):
    """One operand as its operator declares it.

    Attributes:
        name: In the schema.
        parameter: The type parameter that it is of.
        allowed: The element types that it may have; empty where it is no tensor.
        together: Whether all of that parameter have one type.
    """

    name: str
    parameter: str
    allowed: frozenset[str]
    together: bool


class Operand(Struct, frozen=True):
    """One operand of a node.

    Attributes:
        place: Where it is among the inputs.
        name: Of the tensor.
        formal: As it is declared.
        type: The element type.
        constant: The values, where they are stored and few.
    """

    place: int
    name: str
    formal: Formal
    type: str
    constant: Callable[[], Array | None]


class Reading(Struct, frozen=True):
    """An operand that is taken in another type."""

    operand: Operand
    type: str
    kind: Kind


class Unclear(Exception):  # noqa: N818 - an answer, not an error
    """A node can be read in more ways than one; the text names two of them."""


@cache
def formals(op: str, opset: int, domain: str) -> tuple[Formal, ...]:
    """Return the operands that an operator declares; nothing where it is not known."""
    form = form_of(op, opset, domain)
    if form is None:
        return ()
    parameters = {each.type_param_str for each in form.schema.type_constraints}
    return tuple(
        Formal(
            each.name,
            each.type_str,
            frozenset(filter(None, map(plain, each.types))),
            each.type_str in parameters and each.is_homogeneous,
        )
        for each in form.schema.inputs
    )


def plain(text: str) -> str:
    """Return ``tensor(float)`` as ``float32``; empty for what is no tensor."""
    if not text.startswith("tensor("):
        return ""
    name = text.removeprefix("tensor(").removesuffix(")")
    return _NAMES.get(name, name)


def formal_at(known: Sequence[Formal], place: int) -> Formal:
    """Return how an operand is declared; the last one may repeat."""
    return known[min(place, len(known) - 1)]


def readings(node: NodeProto, opset: int, operands: Sequence[Operand]) -> list[Reading]:
    """Return what is to be read in another type for the operator to take it.

    Args:
        node: The node.
        opset: Of its domain.
        operands: Its tensors whose types are known.

    Raises:
        Unclear: More than one reading is as good as the other.
    """
    if first(("leave",), node.op_type, "", ()) is not None:
        return []
    groups: dict[str, list[Operand]] = {}
    for operand in operands:
        formal = operand.formal
        key = formal.parameter if formal.together else f"{formal.parameter} {operand.place}"
        groups.setdefault(key, []).append(operand)
    found: list[Reading] = []
    for group in groups.values():
        types = {operand.type for operand in group}
        allowed = group[0].formal.allowed
        if not allowed or (len(types) == 1 and types <= allowed):
            continue
        if _newer(node, opset, group):
            return []
        found += _alone(node, group) if len(types) == 1 else _together(node, group)
    return found


def inserted(node: NodeProto, sequence: TypeProto | None, tensor: str) -> list[Reading]:
    """Return how a tensor is read that goes into a sequence of another type.

    Args:
        node: A SequenceInsert.
        sequence: The type of the sequence; None while unknown.
        tensor: The element type of the tensor; empty while unknown.

    Raises:
        Unclear: The sequence does not hold what the tensor holds.
    """
    held = elem_name(sequence.sequence_type.elem_type.tensor_type.elem_type) if sequence else ""
    if not held or not tensor or held == tensor:
        return []
    name = node.input[1]
    (kind,) = of_rules("insert")
    if joined((held, tensor)) != held:
        raise Unclear(
            f"there are two readings of {node.op_type}: {name} ({tensor}) taken as {held}, or "
            f"{node.input[0]} as a sequence of {tensor}; the file does not say which"
        )
    formal = formal_at(formals(node.op_type, _SEQUENCES_SINCE, ""), 1)
    return [Reading(Operand(1, name, formal, tensor, lambda: None), held, kind)]


def _newer(node: NodeProto, opset: int, group: Sequence[Operand]) -> bool:
    """Say whether a newer form takes what this one does not, which is no matter of reading."""
    domain = normal_domain(node.domain)
    odd = {operand.type for operand in group} - group[0].formal.allowed
    if not odd or domain:
        return False
    for newer in range(opset + 1, newest_opset() + 1):
        known = formals(node.op_type, newer, domain)
        same = next((f for f in known if f.name == group[0].formal.name), None)
        if same is not None and odd <= same.allowed:
            return True
    return False


def _alone(node: NodeProto, group: Sequence[Operand]) -> list[Reading]:
    """Read operands of one type that the operator does not take."""
    return [_fitted(node, operand, operand.formal.allowed) for operand in group]


def _fitted(node: NodeProto, operand: Operand, allowed: frozenset[str]) -> Reading:
    rules = ("fit", "truth", "whole")
    kind = first(rules, node.op_type, operand.formal.name, (operand.type,))
    wanted = ""
    if kind is not None and kind.rule == "truth":
        wanted = "bool"
    elif kind is not None and kind.rule == "whole":
        wanted = _whole(operand, allowed)
    elif kind is not None:
        wanted = kind.to if kind.to in allowed else next_type(operand.type, allowed)
    if kind is None or wanted not in allowed:
        raise Unclear(_neither(node, operand, allowed))
    return Reading(operand, wanted, kind)


def _whole(operand: Operand, allowed: frozenset[str]) -> str:
    values = operand.constant()
    wanted = next((t for t in ("int64", "int32") if t in allowed), "")
    if values is None or not wanted or not np.isfinite(values.astype(np.float64)).all():
        return ""
    return wanted if _same_numbers(values, wanted) else ""


def _together(node: NodeProto, group: Sequence[Operand]) -> list[Reading]:
    """Read operands of several types that must be of one."""
    allowed = group[0].formal.allowed
    settled: dict[int, Reading] = {}
    for operand in group:
        kind = first(("like",), node.op_type, operand.formal.name, (operand.type,))
        model = next((o for o in group if kind is not None and o.formal.name == kind.to), None)
        if (
            kind is None
            or model is None
            or not kind.is_about(node.op_type, operand.formal.name, (model.type,))
        ):
            continue
        if model.type not in allowed or model.type == operand.type:
            continue
        if not _keeps(operand, model.type):
            raise Unclear(_two(node, operand, model))
        settled[operand.place] = Reading(operand, model.type, kind)
    rest = [operand for operand in group if operand.place not in settled]
    types = {operand.type for operand in rest}
    if len(types) > 1:
        for operand in _lone(rest):
            others = {o.type for o in rest if o is not operand and o not in _lone(rest)}
            _take_constant(node, operand, others, settled)
        for operand in rest:
            others = {o.type for o in rest if o is not operand and o.place not in settled}
            if operand.place not in settled:
                _take_number(node, operand, others, settled)
    rest = [operand for operand in group if operand.place not in settled]
    types = {operand.type for operand in rest} | {each.type for each in settled.values()}
    if len(types) == 1 and types <= allowed:
        return list(settled.values())
    kind = first(("widen",), node.op_type, group[0].formal.name, types)
    wanted = joined(types)
    if kind is None or not wanted:
        one, other = _apart(group)
        raise Unclear(_two(node, one, other))
    if wanted not in allowed:
        wanted = next_type(wanted, allowed)
    if not wanted:
        raise Unclear(_neither(node, rest[0], allowed))
    return [
        Reading(operand, wanted, settled[operand.place].kind if operand.place in settled else kind)
        for operand in group
        if operand.type != wanted
    ]


def _lone(group: Sequence[Operand]) -> list[Operand]:
    """Return the constants of one element without axes, or with one; none where all are such."""
    stored = [(o, values) for o in group if (values := o.constant()) is not None]
    found = [o for o, values in stored if values.size == 1 and values.ndim <= 1]
    return found if len(found) < len(group) else []


def _take_constant(
    node: NodeProto, operand: Operand, others: set[str], settled: dict[int, Reading]
) -> None:
    if len(others) != 1 or operand.type in others:
        return
    (wanted,) = others
    kind = first(("scalar",), node.op_type, operand.formal.name, (operand.type, wanted))
    alike = is_float(operand.type) == is_float(wanted)
    if kind is not None and alike and wanted in operand.formal.allowed and _keeps(operand, wanted):
        settled[operand.place] = Reading(operand, wanted, kind)


def _take_number(
    node: NodeProto, operand: Operand, others: set[str], settled: dict[int, Reading]
) -> None:
    floats = {name for name in others if is_float(name)}
    values = operand.constant()
    if not is_integer(operand.type) or values is None or len(floats) != 1:
        return
    (wanted,) = floats
    kind = first(("number",), node.op_type, operand.formal.name, (operand.type, wanted))
    largest = int(np.abs(values.astype(np.float64)).max()) if values.size else 0
    if kind is not None and largest <= EXACT[wanted]:
        settled[operand.place] = Reading(operand, wanted, kind)


def _keeps(operand: Operand, wanted: str) -> bool:
    """Say whether an operand stays what it is in another type, apart from rounding of floats.

    What is computed at run time is taken to.
    """
    values = operand.constant()
    if values is None:
        return is_float(operand.type) or joined((operand.type, wanted)) == wanted
    if is_float(wanted) and is_float(operand.type):
        return _within(values.astype(np.float64), wanted)
    return _same_numbers(values, wanted)


def _within(values: Array, wanted: str) -> bool:
    """Say whether no finite value becomes infinite in a float type, and none vanishes."""
    least, most = _RANGE[wanted]
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return bool(((sizes >= least) & (sizes <= most)).all())


def _same_numbers(values: Array, wanted: str) -> bool:
    with np.errstate(all="ignore"):
        moved = values.astype(np.dtype(wanted))
        return bool((moved.astype(values.dtype) == values).all())


def _apart(group: Sequence[Operand]) -> tuple[Operand, Operand]:
    one = group[0]
    return one, next(operand for operand in group if operand.type != one.type)


def _two(node: NodeProto, one: Operand, other: Operand) -> str:
    return (
        f"there are two readings of {node.op_type}: {one.name} ({one.type}) taken as {other.type}, "
        f"or {other.name} ({other.type}) taken as {one.type}; the file does not say which"
    )


def _neither(node: NodeProto, operand: Operand, allowed: frozenset[str]) -> str:
    names = sorted(allowed)
    shown = " or as ".join((names[0], names[-1])) if len(names) > 1 else names[0]
    ways = "the readings are" if len(names) > 1 else "either it is converted or it is a mistake:"
    return (
        f"{node.op_type} gets {operand.name} ({operand.type}) as {operand.formal.name}; {ways} "
        f"to take it as {shown}, and the file does not say which"
    )


def elem_name(elem_type: int) -> str:
    """Return an element type as the rules name it; empty for none."""
    return type_name(elem_type) if elem_type and dtype_of(elem_type) is not None else ""
