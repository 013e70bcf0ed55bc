"""The form of a node, of which an engine says yes or no, and which answers are of a node.

A form is a line that people read and that two nodes share which an engine takes alike: the
operator with the opset it came with, its attributes, and of each input the element type, the rank,
whether it is constant, and the numbers of a small constant. Sizes are a line of their own, because
most answers do not depend on them.
"""

from __future__ import annotations

from collections.abc import Container
from hashlib import sha256
from math import prod
from typing import Any, TypeGuard

import numpy as np
from onnx import SparseTensorProto, TensorProto

from graphfix.engines.answers import EngineAnswer
from graphfix.ir.graph import Graph
from graphfix.ir.schemas import AttributeRef, Form, default_of, form_of
from graphfix.ir.storage.weights import load_array
from graphfix.ir.views import Array, NodeView, Value
from graphfix.opset.verdicts import verdict_of

# How many numbers of a constant belong to the form; more are weights, as all matrices of floats.
_FEW = 16
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


def is_of(answer: EngineAnswer, node: NodeView) -> bool:
    """Say whether an answer was given of a node like this one."""
    if (answer.op, answer.domain) != (node.op, node.domain):
        return False
    if answer.form != form_text(node) and (answer.meaning or None) != meaning_text(node):
        return False
    if answer.place:
        return answer.place == node.ref().outputs
    return not answer.sizes or answer.sizes == sizes_text(node)


def form_text(node: NodeView) -> str:
    """Return the form of a node in a line, ``Resize-19(mode=linear) float32 rank 4, ...``."""
    return _text(node, form_of(node.op, node.opset, node.domain))


def meaning_text(node: NodeView) -> str:
    """Return the form that a node has in the oldest opset in which the same node means the same.

    An engine that computes it differently does so whichever of these opsets a file is of; what it
    does not take may be new to it.
    """
    form = form_of(node.op, node.opset, node.domain)
    neutral: set[str] = set()
    while form is not None and not node.domain and form.since > 1:
        older = form_of(node.op, form.since - 1)
        if older is None or not _means_the_same(node, form, older):
            break
        neutral |= form.attributes - older.attributes
        form = older
    return _text(node, form, neutral)


def _means_the_same(node: NodeView, newer: Form, older: Form) -> bool:
    verdict = verdict_of(node.op, older.since, newer.since)
    if verdict is None or older.attributes - newer.attributes:
        return False
    if len(node.inputs) > len(older.inputs) and not older.variadic_input:
        return False
    if any(node.attr(name) not in allowed for name, allowed in verdict.allow.items()):
        return False
    for name in newer.attributes - older.attributes:
        default = default_of(newer, name)
        if verdict.neutral.get(name, default) not in ("*", node.attr(name, default)):
            return False
    return True


def _text(node: NodeView, form: Form | None, without: Container[str] = ()) -> str:
    names = set(node.attributes)
    if form is not None:
        names |= {name for name in form.attributes if default_of(form, name) is not None}
    raw = node.node.attrs
    written = [
        f"{name}={_said(raw[name] if name in raw else default_of(form, name), node)}"  # type: ignore[arg-type]
        for name in sorted(names)
        if name not in without
    ]
    operator = f"{node.domain}::{node.op}" if node.domain else node.op
    since = form.since if form is not None else node.opset
    inputs = ", ".join(_input(value) for value in node.inputs)
    outputs = ", ".join("none" if o is None else o.type_name for o in node.outputs)
    return f"{operator}-{since}({', '.join(written)}) of {inputs or 'nothing'} to {outputs}"


def sizes_text(node: NodeView) -> str:
    """Return the sizes of the inputs of a node, ``1x3x?x?, 2``."""
    return ", ".join(_sizes(value) for value in node.inputs)


def _input(value: Value | None) -> str:
    if value is None:
        return "none"
    if not value.is_tensor:
        return "no tensor"
    rank = "unknown" if value.rank is None else value.rank
    text = f"{value.type_name} rank {rank}"
    if not value.is_constant:
        return text if value.static_shape is not None else f"{text} open"
    numbers = few_numbers(value)
    return f"{text} constant" if numbers is None else f"{text} = {numbers.tolist()}"


def few_numbers(value: Value) -> Array | None:
    """Return the numbers of a constant that belong to the form; None where they are weights."""
    sizes = value.static_shape
    if sizes is None or prod(sizes) > _FEW:
        return None
    if len(sizes) > 1 and value.type_name in _FLOATS:
        return None
    array = value.array()
    return None if array is None or array.size > _FEW else array


def _sizes(value: Value | None) -> str:
    shape = None if value is None else value.shape
    if shape is None:
        return "-"
    return "x".join(str(dim) if isinstance(dim, int) else "?" for dim in shape) or "scalar"


def _said(value: Any, node: NodeView) -> str:
    if isinstance(value, AttributeRef):
        return "of the caller"
    if isinstance(value, Graph):
        return "graph of " + "+".join(sorted(each.op for each in value.nodes))
    if isinstance(value, TensorProto | SparseTensorProto):
        value = load_array(value, node.graph.root.base_dir)
    return _array_text(value) if _is_array(value) else str(value)


def _is_array(value: object) -> TypeGuard[Array]:
    return isinstance(value, np.ndarray)


def _array_text(array: Array) -> str:
    if array.size <= _FEW:
        return f"{array.dtype}{array.tolist()}"
    return f"{array.dtype}{list(array.shape)} {sha256(array.tobytes()).hexdigest()[:12]}"
