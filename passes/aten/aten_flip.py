"""Replace flip by Gather with constant indices.

What it does: Reverses each flipped axis of known size with one Gather whose indices count down, and
    an axis of unknown size with a Slice of step -1 (opset 10).
Why engines need it: PyTorch writes flip as an ATen node below opset 10, whose Slice has no steps.
Before: y = org.pytorch.aten.ATen <operator = "flip"> (x, [-2])        # x: float[2, 3, 3]
After: y = Gather <axis = 1> (x, [2, 1, 0])
When it refuses: The axes are computed at run time, the rank is unknown, or the size of a flipped
    axis is unknown below opset 10.
Accuracy: Exact, bit by bit: elements only change their places.
References: pytorch/pytorch aten/src/ATen/native/TensorTransformations.cpp (flip);
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

from typing import Any

import numpy as np

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    like_first,
    need_rank,
    needed,
)

from ._arguments import ArrayCall, call_of, replacing

NAMES = ("flip",)
SCHEMA = ("self", "dims")
LARGEST = 1 << 20


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    axes = tuple(int(axis) for axis in call.entries("dims") or ())
    return (np.flip(call.need("self"), axes),)


@replacing(NAMES, emits="Gather Slice", infer=like_first, evaluate=evaluate)
def aten_flip(node: NodeView, build: Builder) -> Value:
    """Reverse axes, see the module."""
    call = call_of(node, {"flip": SCHEMA})
    x = call.need("self")
    axes = needed(call.integers("dims"), "the axes must be given")
    rank = need_rank(x)
    if any(not -rank <= axis < rank for axis in axes):
        raise Refuse(f"the axes must lie in rank {rank}; they are {list(axes)}")
    for axis in sorted({axis % rank for axis in axes}):
        size = x.dim(axis)
        if size is not None and size <= LARGEST:
            x = build.Gather(x, np.arange(size - 1, -1, -1, dtype=np.int64), axis=axis)
        elif build.opset >= 10:
            last = int(np.iinfo(np.int32).min)
            x = build.Slice(x, starts=[-1], ends=[last], axes=[axis], steps=[-1])
        else:
            raise Refuse(
                "the size of a flipped axis must be known, or the opset at least 10; it is "
                f"{build.opset}"
            )
    return x
