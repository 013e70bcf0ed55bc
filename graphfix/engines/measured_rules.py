"""Rules from measurements of engines: opsets, types, ranks and attributes of an operator.

`graphfix.engines.common_rules` has the opsets and types that are not supported; here are ranks,
values of attributes, and operators that an engine accepts and computes wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import is_function, typed_values
from graphfix.engines.profile import Lacks, Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.schemas import Form, default_of, form_of
from graphfix.ir.views import NodeView

RANK = "rank"
_SOURCE = "the profile of the target: models of one operator, run in the engine"


@rule(feature="rank:{op}", severity=REJECT, source=_SOURCE, needs="lacks")
def measured_rank(node: NodeView, target: Target) -> Answer:
    """The engine does not support the rank of the first input of {op}."""
    known = None if node.domain else target.ops.get(node.op)
    if known is None or not known.lacks or is_function(node):
        return None
    _, kinds = _of_form(node, known.lacks)
    return _ranked(node, kinds, f"{target.title} does not support {node.op}")


@rule(feature="attr:{op}", severity=REJECT, source=_SOURCE, needs="lacks")
def measured_attribute(node: NodeView, target: Target) -> Answer:
    """The engine does not support the value of an attribute of {op}."""
    known = None if node.domain else target.ops.get(node.op)
    if known is None or not known.lacks or is_function(node):
        return None
    form, kinds = _of_form(node, known.lacks)
    return _valued(node, form, kinds, f"{target.title} does not support {node.op}")


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
    return unknown or _valued(node, form, kinds, start) or _ranked(node, kinds, start)


def _of_form(
    node: NodeView, table: Lacks
) -> tuple[Form | None, Mapping[str, frozenset[str]] | None]:
    form = form_of(node.op, node.opset)
    return form, None if form is None else table.get(form.since)


def _valued(
    node: NodeView, form: Form | None, kinds: Mapping[str, frozenset[str]] | None, start: str
) -> Answer:
    for name, values in (kinds or {}).items():
        if form is None or name not in form.attributes:
            continue
        value = node.attr(name, default_of(form, name))
        if value is not None and str(value) in values:
            feature = f"attr:{node.op}.{name}={value}"
            return Yes(feature=feature, message=f"{start} with {name}={value}")
    return None


def _ranked(node: NodeView, kinds: Mapping[str, frozenset[str]] | None, start: str) -> Answer:
    ranks = (kinds or {}).get(RANK)
    value = node.input(0)
    if not ranks or value is None:
        return None
    if value.rank is None:
        return Unknown(f"rank of {value.name}")
    if str(value.rank) not in ranks:
        return None
    return Yes(feature=f"rank:{node.op}.{value.rank}", message=f"{start} of rank {value.rank}")
