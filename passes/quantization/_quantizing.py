"""QuantizeLinear by arithmetic."""

from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    least_for_nan,
    listed,
    may_be_nan,
    need_type,
)

from ._late_scales import broadcast_late
from ._parameters import BYTES, Number, along, rounded, saturated, scale_at, zero_at
from ._reading import RANGES, quantized_type

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
    x, kind = node.need(0), quantized_type(node)
    if kind not in BYTES:
        raise Refuse("the result must be of 8 bits; it is not")
    need_type(x, _READ)
    x = x if x.elem_type == TensorProto.FLOAT else build.Cast(x, to=TensorProto.FLOAT)
    scale, zero = _parameters(node, build)
    steps = rounded(build, build.Div(x, cast("Any", scale)))
    if isinstance(zero, np.ndarray) and (_is_infinite(scale) or may_be_nan(node.need(0))):
        steps = least_for_nan(build, steps, np.float32(RANGES[kind][0]) - zero)
    return build.Cast(saturated(build, steps, zero, kind), to=kind)


def _is_infinite(scale: Number) -> bool:
    return isinstance(scale, np.ndarray) and bool(np.isinf(scale).any())


def _parameters(node: NodeView, build: Builder) -> tuple[Number, Number]:
    """Return scale and zero point as float32, as they broadcast."""
    x, zero = node.need(0), node.input(2)
    if node.attr("block_size", 0) or _comes_late(node, build):
        scale = node.need(1)
        if scale.elem_type not in _READ:
            raise Refuse(f"the scale must be {listed(_READ)}; it is {scale.type_name}")
        late = broadcast_late(node, build, scale, _floats(scale, build))
        if zero is None:
            return late, np.zeros((), np.float32)
        return late, broadcast_late(node, build, zero, _floats(zero, build))
    numbers = scale_at(node, build, 1, _READ, infinite=True), zero_at(node, build, 2)
    axis = int(node.attr("axis", 1))
    for number in numbers:
        if isinstance(number, np.ndarray) and number.ndim:
            if x.rank is None or not -x.rank <= axis < x.rank:
                raise Refuse(
                    f"the rank of what is quantized must be known and have the axis {axis}"
                )
            axis %= x.rank
    rank = x.rank or 0
    return along(numbers[0], rank, axis), along(numbers[1], rank, axis)


def _comes_late(node: NodeView, build: Builder) -> bool:
    """Say whether a scale or zero point is computed at run time and differs along an axis."""
    given = [value for value in (node.need(1), node.input(2)) if value is not None]
    return any(build.const(v) is None and v.rank == 1 and v.dim(0) != 1 for v in given)


def _floats(value: Value, build: Builder) -> Value:
    return (
        value if value.elem_type == TensorProto.FLOAT else build.Cast(value, to=TensorProto.FLOAT)
    )
