"""Between opset 21 and 20.

References: QuantizeLinear-21 and -19 in onnx/defs/quantization.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView
from graphfix.opset.adapting import KEEP, Adapted, adapter, need_elem_type, respell
from graphfix.storage.weights import dtype_of, type_name

_TAKEN = ("int8", "uint8", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")


@adapter("QuantizeLinear", 21, 20)
def quantize_down(node: NodeView, build: Builder) -> Adapted:
    """Blocks are new; output_dtype without a zero point becomes a zero point of 0."""
    if node.attr("block_size", 0):
        raise Refuse("opset 20 has no blocked quantization")
    x, scale, zero = node.need(0), node.need(1), node.input(2)
    if need_elem_type(x) != need_elem_type(scale) and x.type_name != "int32":
        raise Refuse("x and the scale have different dtypes")
    wanted = node.attr("output_dtype", 0)
    if zero is not None:
        need_elem_type(zero)
        result = zero.type_name
    else:
        result = type_name(wanted) if wanted else "uint8"
    if result not in _TAKEN:
        raise Refuse(f"opset 20 does not quantize to {result}")
    if zero is None and wanted:
        shape = scale.static_shape
        if shape is None:
            raise Refuse("the shape of the scale is unknown")
        zeros = build.constant(np.zeros(shape, dtype=dtype_of(wanted)))
        return respell(node, build, drop=("output_dtype", "block_size"), y_zero_point=zeros)
    return respell(node, build, drop=("output_dtype", "block_size"))


@adapter("QuantizeLinear", 20, 21)
def quantize_up(node: NodeView, build: Builder) -> Adapted:
    """Without blocks and output_dtype, the newer form does what the older one does."""
    return KEEP
