"""Settle optionals that are known to be there, or not to be.

What it does:
    OptionalHasElement of a tensor, of a sequence or of what Optional makes of a value is true, and
    of nothing false. OptionalGetElement of a tensor or sequence, or of what Optional makes of a
    value, is that value.

Why engines need it:
    Engines of tensors have no optionals; onnxruntime has, from 1.10 on.

Before:
    o = Optional (x)
    y = OptionalGetElement (o)

After:
    y = Identity (x)

When it refuses:
    The optional comes from outside, or from a body: whether it holds something is not known.

Accuracy:
    Exact.

References:
    https://onnx.ai/onnx/operators/onnx__OptionalHasElement.html
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, is_optional, rewrite

_UNKNOWN = "whether the optional holds something must be known; it is given at run time"


def _held(value: Value) -> Value | None:
    """Return what an optional holds; None where it is made empty.

    Raises:
        Refuse: It is not known.
    """
    if not is_optional(value):
        return value
    producer = value.producer
    if producer is None or producer.op != "Optional" or producer.domain:
        raise Refuse(_UNKNOWN)
    return producer.input(0)


@rewrite("OptionalHasElement", removes="op:OptionalHasElement", emits="")
def optional_has_element_to_constant(node: NodeView, build: Builder) -> Value:
    """Replace OptionalHasElement by whether there is something."""
    value = node.input(0)
    return build.constant(np.array(value is not None and _held(value) is not None))


@rewrite("OptionalGetElement", removes="op:OptionalGetElement", emits="")
def optional_get_element_to_value(node: NodeView, build: Builder) -> Value:
    """Replace OptionalGetElement by what is there."""
    held = _held(node.need(0))
    if held is None:
        raise Refuse("the optional must hold something; it is made empty")
    return held
