"""Between opset 14 and 13.

References: Trilu-14 in onnx/defs/tensor, Relu-14 in onnx/defs/math, HardSwish-14 in onnx/defs/nn.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.opset.adapting import KEEP, Adapted, adapter, need_elem_type, need_rank

_FLOATS = ("float16", "float32", "float64", "bfloat16")


@adapter("Trilu", 14, 13)
def trilu_down(node: NodeView, build: Builder) -> Adapted:
    """Choose between the input and 0 by comparing column and row numbers."""
    x, given = node.need(0), node.input(1)
    need_rank(x)
    dtype = x.dtype
    if dtype is None:
        raise Refuse(f"dtype of {x.name} is unknown")
    upper = bool(node.attr("upper", 1))
    rows, columns = x.dim(-2), x.dim(-1)
    diagonal = build.const(given) if given is not None else np.array(0)
    zero = build.constant(np.zeros((), dtype=dtype))
    if rows is not None and columns is not None and diagonal is not None:
        mask = np.tri(rows, columns, int(diagonal.reshape(())) - upper, dtype=np.bool_)
        keep: Value = build.constant(~mask if upper else mask)
        return build.Where(keep, x, zero)
    shape = build.Shape(x)
    row = build.Unsqueeze(_numbers(shape, -2, build), axes=[1])
    column = build.Unsqueeze(_numbers(shape, -1, build), axes=[0])
    if given is None:
        edge = row
    else:
        offset = build.constant(diagonal) if diagonal is not None else given
        edge = build.Add(row, build.Cast(offset, to=TensorProto.INT64))
    if upper:
        return build.Where(build.Less(column, edge), zero, x)
    return build.Where(build.Greater(column, edge), zero, x)


def _numbers(shape: Value, axis: int, build: Builder) -> Value:
    """Return 0, 1, ... up to the size of an axis."""
    size = build.Gather(shape, np.array(axis, dtype=np.int64), axis=0)
    zero, one = np.array(0, dtype=np.int64), np.array(1, dtype=np.int64)
    return build.Range(build.constant(zero), size, build.constant(one))


@adapter("Relu", 14, 13)
def relu_down(node: NodeView, build: Builder) -> Adapted:
    """Integers go through Max."""
    x = node.need(0)
    need_elem_type(x)
    if x.type_name in _FLOATS:
        return KEEP
    if x.type_name in ("int32", "int64"):
        return build.Max(x, 0)
    return build.Cast(build.Max(build.Cast(x, to=TensorProto.INT32), 0), to=x.elem_type)
