"""Rules from measurements of engines: opsets, types, ranks, attributes and inputs of an operator.

`graphfix.engines.common_rules` has the opsets and types that are not supported; here are ranks,
values of attributes, inputs that may be left out, two of these together, and operators that an
engine accepts and computes wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import is_function, typed_values
from graphfix.engines.measured_traits import JOINED, RANK, attribute_word, input_words
from graphfix.engines.profile import Lacks, Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.schemas import Form, default_of, form_of
from graphfix.ir.views import NodeView

_Kinds = Mapping[str, frozenset[str]]
_SOURCE = "the profile of the target: models of one operator, run in the engine"


@rule(feature="rank:{op}", severity=REJECT, source=_SOURCE, needs="lacks")
def measured_rank(node: NodeView, target: Target) -> Answer:
    """The engine does not support the rank of the first input of {op}."""
    _, kinds = _lacking(node, target)
    return _ranked(node, kinds, f"{target.title} does not support {node.op}")


@rule(feature="attr:{op}", severity=REJECT, source=_SOURCE, needs="lacks")
def measured_attribute(node: NodeView, target: Target) -> Answer:
    """The engine does not support the value of an attribute of {op}."""
    form, kinds = _lacking(node, target)
    return _valued(node, form, kinds, f"{target.title} does not support {node.op}")


@rule(feature="form:{op}", severity=REJECT, source=_SOURCE, needs="lacks")
def measured_input(node: NodeView, target: Target) -> Answer:
    """The engine does not support {op} with an input that may be left out, or without it."""
    form, kinds = _lacking(node, target)
    return _given(node, form, kinds, f"{target.title} does not support {node.op}")


@rule(feature="op:{op}", severity=REJECT, source=_SOURCE, needs="lacks")
def measured_pair(node: NodeView, target: Target) -> Answer:
    """The engine supports neither of two traits of {op} together with the other."""
    form, kinds = _lacking(node, target)
    return _joined(node, form, kinds, f"{target.title} does not support {node.op}")


@rule(feature="op:{op}", severity=WRONG, source=_SOURCE, needs="wrong")
def measured_wrong(node: NodeView, target: Target) -> Answer:
    """The engine accepts {op} and computes it differently from ONNX."""
    known = None if node.domain else target.ops.get(node.op)
    if known is None or not known.wrong or is_function(node):
        return None
    form, kinds = _of_form(node, known.wrong)
    if form is None or kinds is None:
        return None
    start = f"{target.title} computes wrong values for {node.op}"
    if not kinds:
        return Yes(message=start)
    unknown: Unknown | None = None
    for parameter, value in typed_values(node, form):
        if parameter not in kinds or value.tensor.opaque is not None:
            continue
        if not value.elem_type:
            unknown = Unknown(f"dtype of {value.name}")
        elif value.type_name in kinds[parameter]:
            name = value.type_name
            return Yes(feature=f"dtype:{node.op}.{name}", message=f"{start} of {name}")
    return (
        unknown
        or _valued(node, form, kinds, start)
        or _ranked(node, kinds, start)
        or _given(node, form, kinds, start)
        or _joined(node, form, kinds, start)
    )


def _lacking(node: NodeView, target: Target) -> tuple[Form | None, _Kinds | None]:
    """Return the form of a node and what the engine lacks of it; None where no one says."""
    known = None if node.domain else target.ops.get(node.op)
    if known is None or not known.lacks or is_function(node):
        return None, None
    return _of_form(node, known.lacks)


def _of_form(node: NodeView, table: Lacks) -> tuple[Form | None, _Kinds | None]:
    form = form_of(node.op, node.opset)
    return form, None if form is None else table.get(form.since)


def _valued(node: NodeView, form: Form | None, kinds: _Kinds | None, start: str) -> Answer:
    for name, values in (kinds or {}).items():
        if form is None or name not in form.attributes:
            continue
        word = _word(node, form, name)
        if word in values:
            return Yes(feature=_feature(node, name, word), message=f"{start} with {name}={word}")
    return None


def _feature(node: NodeView, name: str, word: str) -> str:
    """Return the feature of an attribute; passes that remove a list or a float name no value."""
    given = node.attr(name)
    named = given is not None and not isinstance(given, int | str)
    return f"attr:{node.op}.{name}" if named else f"attr:{node.op}.{name}={word}"


def _word(node: NodeView, form: Form, name: str) -> str:
    default = default_of(form, name)
    return attribute_word(name, node.attr(name, default), default)


def _ranked(node: NodeView, kinds: _Kinds | None, start: str) -> Answer:
    ranks = (kinds or {}).get(RANK)
    value = node.input(0)
    if not ranks or value is None:
        return None
    if value.rank is None:
        return Unknown(f"rank of {value.name}")
    if str(value.rank) not in ranks:
        return None
    return Yes(feature=f"rank:{node.op}.{value.rank}", message=f"{start} of rank {value.rank}")


def _given(node: NodeView, form: Form | None, kinds: _Kinds | None, start: str) -> Answer:
    if form is None or not kinds:
        return None
    for name, word in input_words(form, [value is not None for value in node.inputs]).items():
        if word in kinds.get(name, ()):
            how = "with" if word == "given" else "without"
            return Yes(feature=f"form:{node.op}.{name.lower()}", message=f"{start} {how} {name}")
    return None


def _joined(node: NodeView, form: Form | None, kinds: _Kinds | None, start: str) -> Answer:
    several = [name for name in kinds or () if JOINED in name]
    if form is None or not kinds or not several:
        return None
    words = dict(input_words(form, [value is not None for value in node.inputs]))
    for parameter, value in typed_values(node, form):
        if value.elem_type:
            words.setdefault(parameter, value.type_name)
    first = node.input(0)
    if first is not None and first.rank is not None:
        words[RANK] = str(first.rank)
    for joined in several:
        names = joined.split(JOINED)
        words |= {name: _word(node, form, name) for name in names if name in form.attributes}
        word = JOINED.join(words.get(name, "") for name in names)
        if word in kinds[joined]:
            said = " and ".join(f"{name}={words[name]}" for name in names)
            of_attribute = next((name for name in names if name in form.attributes), None)
            message = f"{start} with {said}"
            if of_attribute is None:
                return Yes(message=message)
            return Yes(feature=_feature(node, of_attribute, words[of_attribute]), message=message)
    return None
