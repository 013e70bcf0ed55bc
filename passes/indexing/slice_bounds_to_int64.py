"""Compute the bounds of a Slice in int64.

What it does: Converts starts, ends, axes and steps that are of int32: constants are written again,
    and a Cast is put after what is computed.
Why engines need it: onnx2tf puts computed bounds into a tensor of int64, which takes no int32:
    "Input 'updates' of 'TensorScatterUpdate' Op has type int32 that does not match type int64".
Before: y = Slice (x, starts, ends, axes)        starts: int32[1]
After: y = Slice (x, Cast (starts), Cast (ends), axes)
When it refuses: No input next to the data is of int32.
Accuracy: Exact: each number of int32 is one of int64.
References: https://onnx.ai/onnx/operators/onnx__Slice.html
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_PLACES = {"starts": 1, "ends": 2, "axes": 3, "steps": 4}


@rewrite("Slice", removes="dtype:Slice.bounds", emits="Cast Slice", since=10, claims="nan inf")
def slice_bounds_to_int64(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Convert the bounds, see the module."""
    changed: dict[str, Any] = {}
    for name, place in _PLACES.items():
        value = node.input(place)
        if value is None or value.dtype != np.int32:
            continue
        known = build.const(value)
        changed[name] = (
            build.Cast(value, to=TensorProto.INT64) if known is None else known.astype(np.int64)
        )
    if not changed:
        raise Refuse("a bound must be of int32; none is")
    return respell(node, build, **changed)
