"""Types of fused operators, which have no schema in ONNX."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import TensorProto

from graphfix.authoring import InferredType, NodeView, Value, need_type

LOW_PRECISION = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, *LOW_PRECISION)


def like_first(node: NodeView) -> Sequence[InferredType | None]:
    """Return the type of the first input: what elementwise operators give."""
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    return (InferredType(x.elem_type, x.shape),)


def need_float(x: Value) -> None:
    """Look at the type of an operand.

    Raises:
        Refuse: It is unknown or not floating point.
    """
    need_type(x, FLOATS)
