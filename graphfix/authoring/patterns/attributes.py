"""Attributes of a node in whichever form its opset has them: attribute, input, or left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

import numpy as np

from graphfix.analysis.inference import form_at
from graphfix.ir.graph import Node, is_empty
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import AttributeRef, Form, default_of
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.operators.table import AXES

MISSING = object()  # an attribute that is not written, and that ONNX fills nothing in for


def written_attribute(node: Node, name: str) -> tuple[Any, int | None]:
    """Return an attribute, and the place of the input that has it instead.

    Returns:
        The value, as a list where the input has a dimension, or MISSING; and the place of the
        input, None where it is an attribute.

    Raises:
        Refuse: It is computed at run time, or of a type that the operator does not take.
    """
    form = form_at(node)
    if name in node.attrs:
        return _listed(NodeView(node).attr(name)), None
    if form is None:
        return MISSING, None
    if name in form.attributes:
        return _default(form, name), None
    if name not in form.inputs:
        return MISSING, None
    place = form.inputs.index(name)
    if place >= len(node.inputs) or is_empty(node.inputs[place]):
        return MISSING, None
    array = Value(node.inputs[place]).array()
    if array is None:
        return MISSING, place
    return array.tolist(), place


def other_attribute(node: Node, named: Collection[str]) -> str:
    """Return an attribute that is not `named` and not as ONNX fills it in; empty for none."""
    form = form_at(node)
    for name in node.attrs:
        if name in named:
            continue
        value = node.attrs[name]
        if form is None or name not in form.attributes or isinstance(value, AttributeRef):
            return name
        try:
            written = _listed(NodeView(node).attr(name))
        except Refuse:
            return name
        if written is MISSING or written != _default(form, name):
            return name
    return ""


def unknown_attribute(node: Node, named: Collection[str]) -> str:
    """Return an attribute that is not `named` and that ONNX does not know; empty for none.

    ONNX knows none of an operator of another domain.
    """
    form = form_at(node)
    known = () if form is None or normal_domain(node.domain) else form.attributes
    return next((name for name in node.attrs if name not in named and name not in known), "")


def is_attribute(name: str, wanted: object, found: object, node: Node) -> bool:
    """Say whether an attribute is the one that is wanted; axes may be counted from either end."""
    if name in ("axes", "axis"):
        return bool(axes_from_front(wanted, node) == axes_from_front(found, node))
    return _rounded(wanted) == _rounded(None if found is MISSING else found)


def axes_from_front(axes: Any, node: Node) -> Any:
    """Return axes from the front, sorted where their order says nothing; others as they are."""
    given = NodeView(node).output(0) if node.op == "Unsqueeze" else NodeView(node).input(0)
    rank = None if given is None else given.rank
    if isinstance(axes, int):
        return axes + rank if axes < 0 and rank is not None else axes
    if not isinstance(axes, list | tuple) or rank is None:
        return cast("object", axes)
    counted = [a + rank if a < 0 else a for a in cast("Sequence[int]", axes)]
    return sorted(counted) if node.op in AXES else counted


def _rounded(value: object) -> object:
    """Return numbers as a file holds them: floats of attributes are float32."""
    if isinstance(value, float):
        return float(np.float32(value))
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in cast("list[object]", value)]
    return value


def _default(form: Form, name: str) -> Any:
    value = default_of(form, name)
    return MISSING if value is None else _listed(value)


def _listed(value: Any) -> Any:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
