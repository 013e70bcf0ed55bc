"""What the passes of torch.special's functions of one operand share."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value

from ._arguments import Call, call_of
from ._promoting import result_type

SCHEMA = ("self",)


def like_operand(node: NodeView) -> Sequence[InferredType | None]:
    """The result is like the input, and float32 for integers."""
    x = node.input(0)
    return (InferredType(result_type(x), x.shape) if x is not None and x.elem_type else None,)


def like_self(call: Call) -> Sequence[InferredType | None]:
    """The result is like the argument ``self``, and float32 for integers."""
    x = call.need("self")
    return (InferredType(result_type(x), x.shape) if x.elem_type else None,)


def in_floats(x: Array) -> Array:
    """Return what numpy computes on: integers as float32, as PyTorch has them."""
    return x if x.dtype.kind in "fV" else x.astype(np.float32)


def operand(node: NodeView, build: Builder, names: Sequence[str], means: str) -> Value:
    """Return the operand of any shape, integers as float32, for what is written with Where.

    Args:
        node: The call.
        build: Builds its replacement.
        names: The operators of the pass.
        means: What has no more digits than float32, such as "series".

    Raises:
        Refuse: The dtype is another or unknown, or the opset has no Where for numbers.
    """
    return floats_of(build, call_of(node, dict.fromkeys(names, SCHEMA)).need("self"), means)


def floats_of(build: Builder, x: Value, means: str) -> Value:
    """Return a tensor of float32 or float16, integers as float32, for what Where is written with.

    Args:
        build: Builds the replacement.
        x: The tensor.
        means: What has no more digits than float32, such as "series".

    Raises:
        Refuse: The dtype is another or unknown, or the opset has no Where for numbers.
    """
    if x.dtype is not None and x.dtype.kind in "iub":
        x = build.Cast(x, to=TensorProto.FLOAT)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
        raise Refuse(
            f"{x.name} must be float32 or float16, which have no more digits than the {means}; "
            f"it is {x.type_name}"
        )
    if build.opset < 9:
        raise Refuse(f"the opset must be at least 9, which has Where; it is {build.opset}")
    return x
