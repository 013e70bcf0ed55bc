"""Between opset 14 and 13.

References: Trilu-14 and Reshape-14 in onnx/defs/tensor, Relu-14 in onnx/defs/math, LSTM-14, GRU-14
and RNN-14 (layout) in onnx/defs/rnn, BatchNormalization-14 in onnx/defs/nn.
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
    reshaped,
    respell,
    type_of,
)
from graphfix.opset.adapting import KEEP, Adapted, adapter

_FLOATS = ("float16", "float32", "float64", "bfloat16")
_LONGEST = 2**60  # no axis has as many entries


@adapter("Trilu", 14, 13)
def trilu_down(node: NodeView, build: Builder) -> Adapted:
    """Choose between the input and 0 by comparing column and row numbers."""
    x, given = node.need(0), node.input(1)
    need_rank(x)
    dtype = x.dtype
    if dtype is None:
        raise Refuse(f"the dtype of {x.name} must be known")
    upper = bool(node.attr("upper", 1))
    rows, columns = x.dim(-2), x.dim(-1)
    diagonal = build.const(given) if given is not None else np.array(0)
    zero = build.constant(np.zeros((), dtype=dtype))
    limit = int(diagonal.reshape(())) if diagonal is not None else 0
    if abs(limit) >= _LONGEST:  # all is kept, or nothing
        return build.Where(build.constant(np.array((limit < 0) == upper)), x, zero)
    if rows is not None and columns is not None and diagonal is not None:
        away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
        return build.Where(build.constant(away >= limit if upper else away <= limit), x, zero)
    shape = build.Shape(x)
    row = build.Unsqueeze(_numbers(shape, -2, build), axes=[1])
    column = build.Unsqueeze(_numbers(shape, -1, build), axes=[0])
    # The distance from the diagonal is as small as the sizes; the row and k may add up to too much.
    distance = build.Sub(column, row)
    if given is None:
        offset = build.constant(np.array(0, dtype=np.int64))
    elif diagonal is not None:
        offset = build.constant(diagonal.reshape(()).astype(np.int64))
    else:
        offset = build.Cast(given, to=TensorProto.INT64)
    if upper:
        return build.Where(build.Less(distance, offset), zero, x)
    return build.Where(build.Greater(distance, offset), zero, x)


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


@adapter("Reshape", 14, 13)
def reshape_down(node: NodeView, build: Builder) -> Adapted:
    """A 0 in the shape copied a dimension; with allowzero it is 0, which empty inputs alone allow.

    Where a 0 cannot be excluded by the types, the input is first given a 0 at each place where
    the shape has one; an input that is not empty passes unchanged.
    """
    if not node.attr("allowzero", 0):
        return respell(node, build, drop=("allowzero",))
    x, wanted = node.need(0), node.need(1)
    if _zeros_agree(node, build):
        return respell(node, build, drop=("allowzero",))
    return reshaped(x, wanted, build)


def _zeros_agree(node: NodeView, build: Builder) -> bool:
    """Say whether each 0 in the shape, if there is one, is where the input has a 0 too."""
    x, wanted = node.need(0), node.need(1)
    values = build.const(wanted)
    if values is not None and not (values == 0).any():
        return True
    before = x.shape or ()
    if x.shape is not None and all(isinstance(size, int) and size > 0 for size in before):
        return True  # an input that is not empty leaves no room for a 0
    output = node.output(0)
    after = output.shape if output is not None else None
    if after is None:
        return False
    for axis, size in enumerate(after):
        if isinstance(size, int) and size > 0:
            continue
        if size is None or axis >= len(before) or before[axis] != size:
            return False
    return True


_RECURRENT = ("LSTM", "GRU", "RNN")


@adapter(_RECURRENT, 14, 13)
def recurrent_down(node: NodeView, build: Builder) -> Adapted:
    """Layout 1, batch first, is transposed to the layout that was the only one."""
    if not node.attr("layout", 0):
        return respell(node, build, drop=("layout",))
    changes: dict[str, Value] = {"X": build.Transpose(node.need(0), perm=[1, 0, 2])}
    for position, name in ((5, "initial_h"), (6, "initial_c")):
        state = node.input(position)
        if state is not None:
            changes[name] = build.Transpose(state, perm=[1, 0, 2])
    made = respell(node, build, drop=("layout",), **changes)
    outputs: list[Value | None] = []
    for order, value in zip(([2, 0, 1, 3], [1, 0, 2], [1, 0, 2]), made, strict=False):
        outputs.append(None if value is None else build.Transpose(value, perm=order))
    return tuple(outputs)


@adapter("BatchNormalization", 14, 13)
def batch_normalization_down(node: NodeView, build: Builder) -> Adapted:
    """Training normalises by the batch itself, and keeps running averages of what it was."""
    if not node.attr("training_mode", 0):
        if not node.has("training_mode"):
            return KEEP
        # The statistics have other names there, and the same places.
        given = {name: node.attr(name) for name in ("epsilon", "momentum") if node.has(name)}
        return build.BatchNormalization(*node.inputs, **given)
    x, scale, bias, old_mean, old_var = (node.need(at) for at in range(5))
    kind, rank = need_elem_type(x), need_rank(x)
    stash = kind if kind == TensorProto.DOUBLE else TensorProto.FLOAT
    axes = [axis for axis in range(rank) if axis != 1]
    each = [-1] + [1] * (rank - 2)
    wide = x if kind == stash else build.Cast(x, to=stash)
    mean = _mean(wide, axes, build)
    centred = build.Sub(wide, mean)
    variance = _mean(build.Mul(centred, centred), axes, build)
    deviation = build.Sqrt(build.Add(variance, float(node.attr("epsilon", 1e-5))))
    normal = build.Div(centred, deviation)
    if kind != stash:
        normal = build.Cast(normal, to=kind)
    scaled = build.Mul(normal, build.Cast(build.Reshape(scale, each), to=kind))
    results: list[Value | None] = [
        build.Add(scaled, build.Cast(build.Reshape(bias, each), to=kind))
    ]
    keep = float(node.attr("momentum", 0.9))
    for position, (old, now) in enumerate(((old_mean, mean), (old_var, variance)), start=1):
        if node.output(position) is None:
            continue
        fresh = build.Cast(build.Reshape(now, [-1]), to=need_elem_type(old))
        results.append(build.Add(build.Mul(old, keep), build.Mul(fresh, 1 - keep)))
    return tuple(results)


def _mean(x: Value, axes: list[int], build: Builder) -> Value:
    """Return the mean over some axes; NaN of nothing, for which onnxruntime's ReduceMean has 0."""
    if all(x.dim(axis) for axis in axes):
        return build.ReduceMean(x, axes=axes, keepdims=1)
    sizes = build.Gather(build.Shape(x), np.array(axes, dtype=np.int64), axis=0)
    count = build.Cast(build.ReduceProd(sizes, axes=[0], keepdims=0), to=need_elem_type(x))
    return build.Div(build.ReduceSum(x, axes=axes, keepdims=1), count)


@adapter("Identity", 14, 13)
def identity_down(node: NodeView, build: Builder) -> Adapted:
    """A sequence is passed on by putting something into it and taking it out again."""
    value = node.need(0)
    known = type_of(value.tensor)
    if known is None or not known.HasField("sequence_type"):
        if known is None:
            raise Refuse(f"the type of {value.name} must be known")
        return KEEP
    kind = known.sequence_type.elem_type.tensor_type.elem_type
    extra = build.constant(np.zeros((), dtype=dtype_of(kind)))
    longer = build.SequenceInsert(value, extra)
    return build.SequenceErase(longer, build.constant(np.array(-1, dtype=np.int64)))
