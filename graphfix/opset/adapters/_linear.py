"""Linear quantization in arithmetic, for types and blocks that an older form lacks.

References: the formulas of https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html and
https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    dtype_of,
    need_elem_type,
    need_rank,
    type_name,
)
from graphfix.opset.adapters._run_time import size_along

_FLOAT: int = TensorProto.FLOAT
_INT32: int = TensorProto.INT32
_INTEGERS = (
    TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16,
)  # fmt: skip


def quantize(node: NodeView, to: int, build: Builder) -> Value:
    """Divide, round half to even, add the zero point and saturate.

    Raises:
        Refuse: `to` is no integer of 8 or 16 bits, or a type or rank is unknown.
    """
    if to not in _INTEGERS:
        raise Refuse(f"opset 20 does not quantize to {type_name(to)}")
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    if node.attr("precision", 0) not in (0, need_elem_type(scale)):
        raise Refuse("the precision must be that of the scale; it differs")
    number = x if need_elem_type(x) == scale.elem_type else build.Cast(x, to=scale.elem_type)
    ratio = build.Div(number, _spread(node, scale, build))
    rounded = build.Round(_float(ratio, build))
    if zero is not None:
        rounded = build.Add(rounded, _float(_spread(node, zero, build), build))
    limits = np.iinfo(dtype_of(to))
    low, high = (np.array(bound, dtype=np.float32) for bound in (limits.min, limits.max))
    return build.Cast(build.Clip(rounded, low, high), to=to)


def dequantize(node: NodeView, build: Builder) -> Value:
    """Subtract the zero point and multiply, in float32 where the scale is no wider.

    Raises:
        Refuse: x is no integer, or a type or rank is unknown.
    """
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    if need_elem_type(x) not in (*_INTEGERS, _INT32):
        raise Refuse(f"opset 20 dequantizes no {x.type_name}")
    number = x if x.elem_type == _INT32 else build.Cast(x, to=_INT32)
    if zero is not None:
        number = build.Sub(number, build.Cast(_spread(node, zero, build), to=_INT32))
    factor = _spread(node, scale, build)
    need_elem_type(scale)
    product = build.Mul(build.Cast(number, to=_FLOAT), _float(factor, build))
    return product if scale.elem_type == _FLOAT else build.Cast(product, to=scale.elem_type)


def _float(value: Value, build: Builder) -> Value:
    return value if value.elem_type == _FLOAT else build.Cast(value, to=_FLOAT)


def _spread(node: NodeView, given: Value, build: Builder) -> Value:
    """Bring a scale or zero point to the shape of x: one, one for each slice, or for each block."""
    size = int(node.attr("block_size", 0))
    rank = need_rank(node.need(0))
    axis = int(node.attr("axis", 1))
    own = need_rank(given)
    if size:
        axis %= rank
        zero, one = (build.constant(np.array(n, dtype=np.int64)) for n in (0, 1))
        scalar = np.zeros(0, dtype=np.int64)
        length = build.Reshape(size_along(node.need(0), axis, build), scalar)
        block = build.Div(build.Range(zero, length, one), size)
        return build.Gather(given, block, axis=axis)
    if own == 0 or given.static_shape == (1,):
        return given if own == 0 else build.Reshape(given, np.zeros(0, dtype=np.int64))
    if own != 1:
        raise Refuse(f"a scale without blocks must be of rank 1; it is of rank {own}")
    return build.Reshape(given, [-1] + [1] * (rank - axis % rank - 1))
