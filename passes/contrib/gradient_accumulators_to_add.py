"""Give the sums that onnxruntime's accumulators write into their buffers.

What it does: Adds what is new to what was accumulated, or takes what is new alone where it is to
    overwrite that, and gives the sum. Of InPlaceAccumulatorV2 the flag that it was done is True.
    ZeroGradient gives zeros.
Why engines need it: onnxruntime's training writes these operators into the models that it makes;
    they write into their inputs, which no engine for inference does.
Before: flag, sum = com.microsoft.InPlaceAccumulatorV2 (buffer, gradient, overwrite)
After:
    sum = Where (overwrite, gradient, Add (buffer, gradient))
    flag = True
When it refuses: Nothing outputs what is written: gradient-accumulators-to-outputs does, by
    consent. Buffer and gradient are not known to be of one rank and of floats, or their sizes
    differ. The shape of what is set to zero is unknown.
Accuracy: Exact: the same sum of two numbers.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/optimizer/gradient_control.cc
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._accumulating import FIRST, SECOND, SUM, accumulated
from ._typing import need_float

_ZERO = "ZeroGradient"
_NAMES = tuple(f"com.microsoft::{name}" for name in (FIRST, SECOND, _ZERO))


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The sum is like the buffer; the flag is a truth value.

    Where it cannot be written, what comes after it is judged all the same.
    """
    buffer = node.input(0)
    known = None
    if buffer is not None and buffer.elem_type:
        known = InferredType(buffer.elem_type, buffer.shape)
    return (InferredType(TensorProto.BOOL, (1,)), known) if node.op == SECOND else (known,)


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute what is written, with numpy; `attributes` has the operator."""
    buffer, new = inputs[0], inputs[1]
    assert buffer is not None, "its page wants it"
    assert new is not None, "its page wants it"
    flag = inputs[2] if len(inputs) > 2 else None
    op = attributes["operator"]
    if op == _ZERO:  # what it waits for, `new`, says nothing of it
        return (np.zeros_like(buffer),)
    if op == FIRST:
        kept = flag is not None and not flag.reshape(-1)[0]
        return (buffer if kept else buffer + new,)
    alone = flag is not None and bool(flag.reshape(-1)[0])
    return np.array([True]), new if alone else buffer + new


@rewrite(_NAMES, emits="Add Identity Mul Where", infer=infer, evaluate=numbers)
def gradient_accumulators_to_add(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Add, see the module."""
    if node.op == _ZERO:
        node.waive(inputs=(1,))  # what it waits for
        return (_zeros(node, build),)
    if node.op == FIRST:
        return (accumulated(node, build),)
    if node.output(SUM) is None:
        raise Refuse(
            f"something must output what is written into {node.need(0).name}; nothing does "
            "(--allow-io-change lets the output that says it was done hold it)"
        )
    flag = build.constant(np.array([True])) if node.output(0) is not None else None
    return (None if flag is None else build.Identity(flag), accumulated(node, build))


def _zeros(node: NodeView, build: Builder) -> Value:
    old = node.need(0)
    need_float(old)
    if old.static_shape is None:
        raise Refuse(f"the shape of {old.name} must be known; it is {old.shape}")
    return build.Identity(build.constant(np.zeros(old.static_shape, old.dtype)))
