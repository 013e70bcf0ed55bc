"""The error counts that LAPACK gives next to a factorisation: which step failed first."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Value, need_rank

EMITS = "ArgMax Cast Concat Equal Greater Not Pad ReduceSum"
DECIDED = (
    "rounding decides whether the pivot of a matrix that is nearly singular is 0, and so the "
    "error counts"
)


def first_that_fails(build: Builder, flags: Value) -> Value:
    """Return the number of the first step whose flag is set, counted from 1; 0 where none is.

    Args:
        build: The builder.
        flags: For each matrix one bool a step, [..., N].

    Returns:
        [...] in int32.
    """
    rank = need_rank(flags)
    numbers = build.Cast(flags, to=TensorProto.FLOAT)
    # What is before the first step is ahead of all that did not fail.
    pads = [0] * (2 * rank)
    pads[rank - 1] = 1
    half = {"constant_value": np.array(0.5, np.float32)} if build.opset >= 11 else {"value": 0.5}
    steps = build.Pad(numbers, pads=pads, mode="constant", **half)
    return build.Cast(build.ArgMax(steps, axis=rank - 1, keepdims=0), to=TensorProto.INT32)


def zero_pivots(build: Builder, pivots: Value) -> Value:
    """Return the error counts of an elimination: its first pivot that is 0."""
    zero = build.constant(np.zeros((), pivots.dtype))
    return first_that_fails(build, build.Equal(pivots, zero))
