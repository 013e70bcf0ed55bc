"""Rules from the ``limits`` of a profile, for engines of every family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from graphfix.authoring.declaring import Unknown
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Limit, Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.schemas import Form, default_of, form_of
from graphfix.ir.views import NodeView, Value

_SOURCE = "the profile of the target: limits of the operator"


def _limits(node: NodeView, target: Target, kind: str) -> Iterator[tuple[Form, Limit]]:
    """Walk the limits of one kind that a profile states of the operator of a node."""
    known = None if node.domain else target.ops.get(node.op)
    if known is None or not known.limits:
        return
    form = form_of(node.op, node.opset)
    if form is not None:
        yield from ((form, limit) for limit in known.limits if limit.kind == kind)


def _given(node: NodeView, form: Form, name: str) -> Value | None:
    """Return an input by its name in ONNX; None where it is not given, or the form has none."""
    return node.input(form.inputs.index(name)) if name in form.inputs else None


@rule(feature="const:{op}", severity=REJECT, source=_SOURCE, needs="limits")
def stated_constant(node: NodeView, target: Target) -> Answer:
    """The engine requires an input of {op} to be constant."""
    engine = engine_of(target.family)
    for form, limit in _limits(node, target, "constant"):
        value = _given(node, form, limit.name)
        if value is not None and not engine.is_constant(value):
            return Yes(
                feature=f"const:{node.op}.{limit.name}",
                message=f"{target.title} requires a constant {limit.name} of {node.op}",
            )
    return None


@rule(feature="rank:{op}", severity=REJECT, source=_SOURCE, needs="limits")
def stated_rank(node: NodeView, target: Target) -> Answer:
    """The engine does not support the rank of an input of {op}."""
    unknown: Unknown | None = None
    for form, limit in _limits(node, target, "rank"):
        value = _given(node, form, limit.name)
        if value is None:
            continue
        if value.rank is None:
            unknown = Unknown(f"rank of {value.name}")
        elif str(value.rank) not in limit.values:
            return Yes(
                feature=f"rank:{node.op}.{value.rank}",
                message=f"{target.title} supports {limit.name} of {node.op} of rank "
                f"{' or '.join(limit.values)}; the rank is {value.rank}",
            )
    return unknown


@rule(feature="attr:{op}", severity=REJECT, source=_SOURCE, needs="limits")
def stated_attribute(node: NodeView, target: Target) -> Answer:
    """The engine does not support the value of an attribute of {op}."""
    for form, limit in _limits(node, target, "attribute"):
        found = _text(node.attr(limit.name, default_of(form, limit.name)))
        if found and found not in limit.values:
            return Yes(
                feature=f"attr:{node.op}.{limit.name}={found}",
                message=f"{target.title} supports {limit.name} of {node.op} "
                f"{' or '.join(limit.values)}; it is {found}",
            )
    return None


@rule(feature="form:{op}", severity=REJECT, source=_SOURCE, needs="limits")
def stated_absence(node: NodeView, target: Target) -> Answer:
    """The engine does not support an optional input, output or attribute of {op}."""
    for form, limit in _limits(node, target, "without"):
        outputs = dict(zip(form.outputs, node.outputs, strict=False))
        output = outputs.get(limit.name)
        used = output is not None and (output.is_used or output.is_graph_output)
        if used or node.has(limit.name) or _given(node, form, limit.name) is not None:
            return Yes(
                feature=f"form:{node.op}.{limit.name.lower()}",
                message=f"{target.title} does not support {limit.name} of {node.op}",
            )
    return None


def _text(value: object) -> str:
    """Return a value as profiles spell it: ``linear``, ``0``, ``1.0``, ``1 1``; empty for none."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return " ".join(_text(each) for each in cast("Sequence[object]", value))
    return str(value)
