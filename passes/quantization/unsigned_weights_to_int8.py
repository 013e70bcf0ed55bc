"""Store weights of uint8 as int8 with a zero point.

What it does: Takes 128 from constant weights of DequantizeLinear or QLinearConv, and from their
    zero points: what they stand for, the difference of both, stays the same.
Why engines need it: OpenVINO has no kernel for a convolution of bytes with a zero point and weights
    of uint8 without one. Weights of int8 stay bytes, as floats would not.
Before: y = DequantizeLinear (w, scale)                # w: uint8
After: y = DequantizeLinear (w - 128, scale, -128)     # int8
When it refuses: The weights or zero points are computed, are not uint8, or are given by blocks.
Accuracy: Exact: every uint8 less 128 is an int8.
References: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html, onnx__QLinearConv.html;
    OpenVINO 2026.4.1, measured
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, respell, rewrite

from ._reading import refuse_blocks

_HALF = 128
# Where the weights and their zero points are, and what these are called.
_PLACES = {
    "DequantizeLinear": ((0, "x"), (2, "x_zero_point")),
    "QLinearConv": ((3, "w"), (5, "w_zero_point")),
}


@rewrite(
    tuple(_PLACES),
    removes=tuple(f"form:{op}.unsigned-weights" for op in _PLACES),
    emits=tuple(_PLACES),
    since=10,
)
def unsigned_weights_to_int8(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Shift both by 128, see the module."""
    refuse_blocks(node)
    (at, name), (zero_at, zero_name) = _PLACES[node.op]
    weights, zero = build.need_const(node.need(at), "the stored tensor"), node.input(zero_at)
    if weights.dtype != np.uint8:
        raise Refuse(f"the stored tensor must be uint8; it is {node.need(at).type_name}")
    if zero is None:  # there is one for each scale, and it is 0
        none = np.zeros(build.need_const(node.need(1), "the scale").shape, np.uint8)
    else:
        none = build.need_const(zero, "the zero point")
    changes: dict[str, Any] = {
        name: build.constant(_shifted(weights)),
        zero_name: build.constant(_shifted(none)),
    }
    return respell(node, build, **changes)


def _shifted(array: Array) -> Array:
    return (array.astype(np.int16) - _HALF).astype(np.int8)
