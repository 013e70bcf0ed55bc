"""QuantizeLinear by arithmetic."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_type
from graphfix.passes.quantization._parameters import (
    BYTES,
    along,
    requantized,
    scale_at,
    zero_at,
)
from graphfix.passes.quantization._reading import quantized_type, refuse_blocks

# onnxruntime divides by the scale in float32 whatever the types are (measured on 1.32.0).
_READ = (TensorProto.FLOAT, TensorProto.FLOAT16)


def quantized(node: NodeView, build: Builder) -> Value:
    """Return what QuantizeLinear gives, computed in float32 and cast at the end.

    Raises:
        Refuse: It goes together with a DequantizeLinear, or something is not known.
    """
    result = node.output(0)
    readers = () if result is None or result.is_graph_output else result.consumers
    if readers and all(reader.op == "DequantizeLinear" for reader in readers):
        raise Refuse("it must not go together with a DequantizeLinear; it does")
    refuse_blocks(node)
    x, kind = node.need(0), quantized_type(node)
    if kind not in BYTES:
        raise Refuse("the result must be of 8 bits; it is not")
    need_type(x, _READ)
    x = x if x.elem_type == TensorProto.FLOAT else build.Cast(x, to=TensorProto.FLOAT)
    scale, zero = scale_at(node, build, 1, _READ), zero_at(node, build, 2)
    axis = int(node.attr("axis", 1))
    for number in (scale, zero):
        if isinstance(number, np.ndarray) and number.ndim:
            if x.rank is None or not -x.rank <= axis < x.rank:
                raise Refuse(
                    f"the rank of what is quantized must be known and have the axis {axis}"
                )
            axis %= x.rank
    rank = x.rank or 0
    scale, zero = along(scale, rank, axis), along(zero, rank, axis)
    return build.Cast(requantized(build, x, cast("Any", scale), zero, kind), to=kind)
