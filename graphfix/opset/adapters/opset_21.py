"""Between opset 21 and 20.

References: QuantizeLinear-21 and -19, DequantizeLinear-21 and -19 in onnx/defs/quantization,
QLinearMatMul-21 and -10 in onnx/defs/math.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    dtype_of,
    need_elem_type,
    respell,
    type_name,
)
from graphfix.opset.adapters._linear import dequantize, quantize
from graphfix.opset.adapting import KEEP, Adapted, adapter

_SCALES = {"a_scale": 1, "b_scale": 4, "y_scale": 6}
_TAKEN = ("int8", "uint8", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")


@adapter("QuantizeLinear", 21, 20)
def quantize_down(node: NodeView, build: Builder) -> Adapted:
    """Blocks and 16 bits are new; output_dtype without a zero point becomes a zero point of 0."""
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    wanted = int(node.attr("output_dtype", 0))
    to = need_elem_type(zero) if zero is not None else wanted or TensorProto.UINT8
    mixed = need_elem_type(x) != need_elem_type(scale) and x.type_name != "int32"
    if mixed or node.attr("block_size", 0) or type_name(to) not in _TAKEN:
        return quantize(node, to, build)
    if zero is None and wanted:
        shape = scale.static_shape
        if shape is None:
            raise Refuse("the shape of the scale must be known")
        zeros = build.constant(np.zeros(shape, dtype=dtype_of(wanted)))
        return respell(node, build, drop=("output_dtype", "block_size"), y_zero_point=zeros)
    return respell(node, build, drop=("output_dtype", "block_size"))


@adapter("DequantizeLinear", 21, 20)
def dequantize_down(node: NodeView, build: Builder) -> Adapted:
    """Blocks and 16 bits are new."""
    need_elem_type(node.need(0))
    if node.attr("block_size", 0) or node.need(0).type_name not in (*_TAKEN, "int32"):
        return dequantize(node, build)
    return respell(node, build, drop=("block_size",))


@adapter("QLinearMatMul", 21, 20)
def q_linear_mat_mul_down(node: NodeView, build: Builder) -> Adapted:
    """The scales were float32, which holds those of float16 and bfloat16."""
    scales = {name: node.need(at) for name, at in _SCALES.items()}
    if all(need_elem_type(scale) == TensorProto.FLOAT for scale in scales.values()):
        return KEEP
    wide: dict[str, Any] = {
        name: build.Cast(scale, to=TensorProto.FLOAT) for name, scale in scales.items()
    }
    return respell(node, build, **wide)
