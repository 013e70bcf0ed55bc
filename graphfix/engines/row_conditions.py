"""The conditions that rows of rules are made of, and what each looks for, as its text says."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import cast

import numpy as np
import onnx
from msgspec import Struct

from graphfix.authoring.declaring import Unknown
from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.profile import Target
from graphfix.ir.schemas import form_of, newest_opset
from graphfix.ir.views import Array, NodeView, Value

_NUMBER = r"-?\d+(?:\.\d+)?"
_SPAN = re.compile(rf"(?P<low>{_NUMBER})?\.\.(?P<high>{_NUMBER})?")
_BELOW = re.compile(rf"<(?P<end>{_NUMBER})")


class Sought(Struct, frozen=True):
    """Names and spans of numbers, one of which is looked for.

    Attributes:
        negated: Whether it is any other value that is looked for.
        names: The names.
        spans: Both ends of each span of numbers; they belong to it.
        below: What is greater than the numbers looked for.
    """

    negated: bool
    names: frozenset[str]
    spans: tuple[tuple[float, float], ...]
    below: tuple[float, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is one name alone that is looked for."""
        return len(self.names) == 1 and not self.spans and not self.below

    def takes(self, value: object) -> bool:
        """Say whether a value is what is looked for."""
        if isinstance(value, str):
            return (value in self.names) is not self.negated
        if not isinstance(value, int | float):
            return False
        held = any(low <= value <= high for low, high in self.spans)
        return (held or any(value < end for end in self.below)) is not self.negated

    def takes_some(self, array: Array) -> bool:
        """Say whether an element of an array of numbers is what is looked for."""
        held = np.zeros(array.shape, bool)
        for low, high in self.spans:
            held |= (array >= low) & (array <= high)
        for end in self.below:
            held |= array < end
        return bool((~held if self.negated else held).any())


@cache
def sought(text: str) -> Sought | None:
    """Read ``cubic, bicubic``, ``5``, ``2..4``, ``..4``, ``<0`` or ``not 1``; None for nothing."""
    names, spans, below = set[str](), list[tuple[float, float]](), list[float]()
    plain = text.removeprefix("not ")
    for each in plain.split(","):
        part = each.strip()
        span, end = _SPAN.fullmatch(part), _BELOW.fullmatch(part)
        if span is not None and (span["low"] or span["high"]):
            spans.append((float(span["low"] or "-inf"), float(span["high"] or "inf")))
        elif end is not None:
            below.append(float(end["end"]))
        elif re.fullmatch(_NUMBER, part):
            spans.append((float(part), float(part)))
        elif re.fullmatch(r"\w+", part):
            names.add(part)
        else:
            return None
    return Sought(plain != text, frozenset(names), tuple(spans), tuple(below))


Held = bool | Unknown
Found = dict[str, str]  # what the answer may name
Wanted = tuple[str, bool | Sought]  # a word, and what is looked for

OF_VALUES = ("type", "rank", "sizes", "values")
YES_OR_NO = ("given", "constant", "read")
_ABSENT = "absent"


def takes_opset(wanted: Sought, node: NodeView, target: Target, found: Found) -> Held:
    """Say whether the opset is one that is looked for."""
    return wanted.takes(engine_of(target.family).opset_of(node))


def takes_attribute(
    name: str, wanted: Sought, node: NodeView, target: Target, found: Found
) -> Held:
    """Say whether an attribute has a value, or an element, that is looked for.

    Raises:
        Refuse: As `NodeView.attr` does.
    """
    if _ABSENT in wanted.names and (wanted.is_plain or not node.has(name)):
        return node.has(name) is wanted.negated
    value = node.attr(name)
    if value is None:
        value = _default(node.op, node.opset or newest_opset(), node.domain, name)
        if value is None:
            return False
    found[name] = str(value)
    if isinstance(value, list | tuple):
        return any(wanted.takes(each) for each in cast("list[object]", value))
    return wanted.takes(value)


@cache
def _default(op: str, opset: int, domain: str, name: str) -> object:
    """Return ONNX's default of an attribute; None where it has none."""
    form = form_of(op, opset, domain)
    declared = None if form is None else form.schema.attributes.get(name)
    if declared is None or not declared.default_value.type:
        return None
    value = onnx.helper.get_attribute_value(declared.default_value)
    return value.decode() if isinstance(value, bytes) else value


def is_left_out(
    is_input: bool, places: range, node: NodeView, target: Target, found: Found
) -> Held:
    """Say whether one of some inputs or outputs is not there."""
    of = node.input if is_input else node.output
    return any(of(place) is None for place in places)


def takes_operand(
    is_input: bool,
    places: range | None,
    wanted: tuple[Wanted, ...],
    node: NodeView,
    target: Target,
    found: Found,
) -> Held:
    """Say whether one of some operands is as all words want it."""
    engine = engine_of(target.family)
    open_one: Held = False
    of = node.input if is_input else node.output
    count = len(node.node.inputs if is_input else node.node.outputs)
    for place in range(count) if places is None else places:
        value = of(place)
        if value is None:
            continue
        held = _all_hold(wanted, value, engine, target)
        if held is True:
            _take_down(value, place, node, engine, target, found)
            return True
        if held is not False:
            open_one = held
    return open_one


def _all_hold(wanted: tuple[Wanted, ...], value: Value, engine: Engine, target: Target) -> Held:
    open_one: Held = True
    for word, asked in wanted:
        if word == "constant":
            held: Held = engine.is_constant(value) is asked
        elif word == "read":
            held = value.is_used is asked
        else:
            held = _ASKED[word](cast("Sought", asked), value, engine, target)
        if held is False:
            return False
        if held is not True and open_one is True:
            open_one = held
    return open_one


def _type(wanted: Sought, value: Value, engine: Engine, target: Target) -> Held:
    name = engine.element_type(value, target)
    return wanted.takes(name) if name else Unknown(f"dtype of {value.name}")


def _rank(wanted: Sought, value: Value, engine: Engine, target: Target) -> Held:
    rank = value.rank
    return Unknown(f"rank of {value.name}") if rank is None else wanted.takes(rank)


def _sizes(wanted: Sought, value: Value, engine: Engine, target: Target) -> Held:
    shape = value.shape
    if shape is None:
        return Unknown(f"rank of {value.name}")
    sizes = ["open" if not isinstance(size, int) else size for size in shape]
    if any(wanted.takes(size) for size in sizes if size != "open" or "open" in wanted.names):
        return True
    left = "open" in sizes and "open" not in wanted.names
    return Unknown(f"sizes of {value.name}") if left else False


def _values(wanted: Sought, value: Value, engine: Engine, target: Target) -> Held:
    array = value.array()
    return array is not None and array.dtype.kind in "biuf" and wanted.takes_some(array)


_ASKED: dict[str, Callable[[Sought, Value, Engine, Target], Held]] = {
    "type": _type,
    "rank": _rank,
    "sizes": _sizes,
    "values": _values,
}


def _take_down(
    value: Value, place: int, node: NodeView, engine: Engine, target: Target, found: Found
) -> None:
    """Keep what the answer may name: the first operand that was found."""
    form = form_of(node.op, newest_opset(), node.domain)
    names = () if form is None else form.inputs
    found.setdefault("input", names[place] if place < len(names) else str(place))
    found.setdefault("rank", str(value.rank))
    found.setdefault("type", value.type_name)
    found.setdefault("engine's type", engine.type_text(engine.element_type(value, target)))
