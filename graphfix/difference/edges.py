"""What differs between two matched nodes: attributes, inputs, outputs, texts."""

from __future__ import annotations

from typing import Protocol

from onnx import AttributeProto, TensorProto

from graphfix.difference.attributes import attribute_key, attribute_text, attributes_of
from graphfix.difference.contents import Contents, described
from graphfix.difference.difference import FieldChange, Presence, WeightChange
from graphfix.difference.metadata import changes, node_facts
from graphfix.difference.scopes import Scope, Stored
from graphfix.difference.statistics import statistics_of


class Tensors(Protocol):
    """Two scopes and which tensor of one is which of the other."""

    before: Scope
    after: Scope

    def same(self, one: str, two: str) -> bool:
        """Say whether two names mean the same tensor."""
        ...


def node_changes(
    pair: Tensors, old: int, new: int, contents: Contents
) -> tuple[list[FieldChange], list[WeightChange]]:
    """Return what differs between a node and its counterpart; subgraphs are compared elsewhere."""
    one, two = pair.before.nodes[old], pair.after.nodes[new]
    fields = _edges("input", list(one.input), list(two.input), pair)
    fields += _outputs(list(one.output), list(two.output))
    fields += changes("node", node_facts(one), node_facts(two))
    weights: list[WeightChange] = []
    befores, afters = attributes_of(one), attributes_of(two)
    for name in dict.fromkeys([*befores, *afters]):
        left, right = befores.get(name), afters.get(name)
        if left is None or right is None:
            texts = (_text(left), _text(right))
            fields.append(FieldChange("node", f"attribute {name}", *texts))
        elif _same_attribute(left, right, contents):
            continue
        elif one.op_type == "Constant" and _is_dense_pair(left, right):
            ref = pair.before.ref(old)
            weights.append(
                WeightChange(
                    Presence.CHANGED,
                    one.output[0],
                    two.output[0],
                    pair.before.name,
                    (ref,),
                    described(left.t),
                    described(right.t),
                    statistics_of(contents, left.t, right.t),
                )
            )
        else:
            fields.append(FieldChange("node", f"attribute {name}", _text(left), _text(right)))
    return fields, weights


def _text(attribute: AttributeProto | None) -> str | None:
    return None if attribute is None else attribute_text(attribute)


def _same_attribute(one: AttributeProto, two: AttributeProto, contents: Contents) -> bool:
    def key(number: int) -> bytes:
        def value_of(stored: Stored) -> bytes:
            return contents.hash(stored, number)

        return attribute_key((one, two)[number], value_of)

    return key(0) == key(1)


def _is_dense_pair(one: AttributeProto, two: AttributeProto) -> bool:
    if one.type != AttributeProto.TENSOR or two.type != AttributeProto.TENSOR:
        return False
    undefined = TensorProto.UNDEFINED
    return described(one.t) == described(two.t) and one.t.data_type != undefined


def _edges(kind: str, olds: list[str], news: list[str], pair: Tensors) -> list[FieldChange]:
    found: list[FieldChange] = []
    # Absent inputs at the end are the same as none.
    count = max(len(_trimmed(olds)), len(_trimmed(news)))
    for place in range(count):
        one = olds[place] if place < len(olds) else ""
        two = news[place] if place < len(news) else ""
        if not pair.same(one, two):
            found.append(FieldChange("node", f"{kind} {place}", *origins(pair, one, two)))
    return found


def origins(pair: Tensors, one: str, two: str) -> tuple[str | None, str | None]:
    """Return the names of two tensors that differ, None for none.

    Where the names are the same, what each tensor comes from is what differs, and follows it.
    """
    if one != two:
        return one or None, two or None
    old, new = pair.before.origin(one), pair.after.origin(two)
    return f"{one} (from {old})", f"{two} (from {'another ' if old == new else ''}{new})"


def _outputs(olds: list[str], news: list[str]) -> list[FieldChange]:
    found: list[FieldChange] = []
    for place in range(max(len(olds), len(news))):
        one = olds[place] if place < len(olds) else ""
        two = news[place] if place < len(news) else ""
        if bool(one) != bool(two):
            found.append(FieldChange("node", f"output {place}", one or None, two or None))
    return found


def _trimmed(names: list[str]) -> list[str]:
    kept = list(names)
    while kept and not kept[-1]:
        kept.pop()
    return kept
