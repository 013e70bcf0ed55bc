"""What the passes of torch.special's functions of one operand share."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, Refuse, Value

from ._arguments import ArrayCall, Call
from ._axes import widened
from ._family import Function
from ._promoting import result_type

SCHEMA = ("self",)


def like_self(call: Call) -> Sequence[InferredType | None]:
    """The result is like the argument ``self``, and float32 for integers."""
    x = call.need("self")
    return (InferredType(result_type(x), x.shape) if x.elem_type else None,)


def in_floats(x: Array) -> Array:
    """Return what numpy computes on: integers as float32, as PyTorch has them."""
    return x if x.dtype.kind in "fV" else x.astype(np.float32)


def special(
    write: Callable[[Builder, Value], Value], model: Callable[[Array], Array], note: str, means: str
) -> Function:
    """Return the entry of a function of one operand.

    Args:
        write: Builds it of float32, in which float16 is computed too.
        model: The same of float64.
        note: How large the error is.
        means: What has no more digits than float32, such as "series".
    """

    def modelled(call: ArrayCall) -> Any:
        x = in_floats(call.need("self"))
        return model(x.astype(np.float64)).astype(x.dtype)

    return Function(SCHEMA, written(write, means), modelled, note, infer=like_self)


def written(
    write: Callable[[Builder, Value], Value], means: str
) -> Callable[[Builder, Call], Value]:
    """Return what writes a function of one operand; see `special`."""

    def written(build: Builder, call: Call) -> Value:
        x = floats_of(build, call.need("self"), means)
        return widened(build, x, lambda wide: write(build, wide))

    return written


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
    build.need_opset(9, ", which has Where")
    return x
