"""Numpy models of the operators that shape arithmetic is made of, for values known in full.

Only operators whose result numpy gives bit for bit are here; each function returns None where it
cannot vouch for the result (division by zero, a float outside the range of an integer), where the
opset gives the operator another form (the broadcasting of opset 6 and older), and where the result
would be big. Sources: the operator pages of https://onnx.ai/onnx/operators/.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphfix.ir.storage.weights import dtype_of
from graphfix.ir.views import NodeView

Array = np.ndarray[Any, Any]
Operands = Sequence["Array | None"]
Function = Callable[[NodeView, Operands], "tuple[Array, ...] | None"]
MAX_BYTES = 1 << 20


def is_plain(dtype: np.dtype[Any], kinds: str = "biuf") -> bool:
    """Say whether a dtype is one of numpy's own; bfloat16 and float8 bring rules of their own."""
    return dtype.isbuiltin == 1 and dtype.kind in kinds


def fits(shape: Sequence[int], itemsize: int) -> bool:
    """Say whether a result is small enough to be made at all."""
    size = itemsize
    for dim in shape:
        size *= int(dim)
    return size <= MAX_BYTES


def _one(array: Any, like: Array | None = None) -> tuple[Array, ...]:
    result = np.asarray(array)
    if like is not None and result.dtype != like.dtype:
        result = result.astype(like.dtype)
    return (result,)


def _need(operands: Operands, index: int) -> Array | None:
    return operands[index] if index < len(operands) else None


def _binary(function: Callable[[Array, Array], Any], *, compares: bool = False) -> Function:
    def apply(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
        a, b = _need(operands, 0), _need(operands, 1)
        if a is None or b is None or a.dtype != b.dtype or not is_plain(a.dtype):
            return None
        if a.shape != b.shape:
            old = node.opset < 7  # `broadcast` and `axis` ruled what fits then
            if old or not fits(np.broadcast_shapes(a.shape, b.shape), a.itemsize):
                return None
        with np.errstate(all="ignore"):
            result = function(a, b)
        return None if result is None else _one(result, None if compares else a)

    return apply


def _unary(function: Callable[[Array], Any], *, ints_only: bool = False) -> Function:
    def apply(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
        a = _need(operands, 0)
        if a is None or not is_plain(a.dtype, "iu" if ints_only else "biuf"):
            return None
        return _one(function(a), a)

    return apply


def _identity(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data = _need(operands, 0)
    return None if data is None else (data,)


def divide(a: Array, b: Array) -> Array | None:
    """Divide as ONNX does: integers truncate towards zero; None for a zero divisor."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    if not np.all(b):
        return None
    if a.dtype.kind == "i" and np.any((b == -1) & (a == np.iinfo(a.dtype).min)):
        return None
    quotient = a // b
    return np.asarray(quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype))


def _modulo(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    a, b = _need(operands, 0), _need(operands, 1)
    if a is None or b is None or a.dtype != b.dtype or not is_plain(a.dtype, "iu") or not np.all(b):
        return None
    if not fits(np.broadcast_shapes(a.shape, b.shape), a.itemsize):
        return None
    return _one(np.fmod(a, b) if node.attr("fmod", 0) else np.mod(a, b), a)


def _cast(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    a = _need(operands, 0)
    dtype = dtype_of(int(node.attr("to", 0)))
    if a is None or dtype is None or not (is_plain(dtype) and is_plain(a.dtype)):
        return None
    if dtype.kind in "iu" and a.dtype.kind == "f":
        limits = np.iinfo(dtype)
        wide = a.astype(np.float64)
        low, high = limits.min - 1.0, float(limits.max)
        if not np.all(np.isfinite(wide)) or np.any(wide <= low) or np.any(wide >= high):
            return None
    if dtype == np.float16 and a.dtype not in (np.float16, np.float32, np.bool_):
        return None  # engines go through float32 and round twice
    with np.errstate(over="ignore", under="ignore"):
        return (a.astype(dtype),)


def _concat(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    parts = [o for o in operands if o is not None]
    if len(parts) != len(operands) or any(p.dtype != parts[0].dtype for p in parts):
        return None
    if not fits((sum(part.size for part in parts),), parts[0].itemsize):
        return None
    return _one(np.concatenate(parts, axis=int(node.attr("axis", 1))))


def _gather(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data, indices = _need(operands, 0), _need(operands, 1)
    axis = int(node.attr("axis", 0))
    if data is None or indices is None or not -data.ndim <= axis < data.ndim:
        return None
    size = data.shape[axis]
    if np.any(indices < -size) or np.any(indices >= size):
        return None
    if size and not fits((indices.size, data.size // size), data.itemsize):
        return None
    return _one(np.take(data, np.where(indices < 0, indices + size, indices), axis=axis))


def axes_of(node: NodeView, operands: Operands) -> list[int] | None:
    """Return the axes of a node, from its attribute or its second input; None when neither."""
    if node.has("axes"):
        return [int(a) for a in node.attr("axes")]
    given = _need(operands, 1)
    return None if given is None else [int(a) for a in given.reshape(-1)]


def _unsqueeze(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data, axes = _need(operands, 0), axes_of(node, operands)
    if data is None or axes is None:
        return None
    return _one(np.expand_dims(data, tuple(axes)))


def _squeeze(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data, axes = _need(operands, 0), axes_of(node, operands)
    if data is None:
        return None
    return _one(np.squeeze(data, None if axes is None else tuple(axes)))


def reshaped(data: Array, wanted: Sequence[int], *, allowzero: bool) -> Array | None:
    """Reshape with ONNX's 0 and -1; None where the sizes do not fit."""
    sizes = [
        data.shape[i] if size == 0 and not allowzero and i < data.ndim else int(size)
        for i, size in enumerate(wanted)
    ]
    known = int(np.prod([s for s in sizes if s != -1], dtype=np.int64))
    if -1 in sizes:
        if known == 0 or data.size % known:
            return None
        sizes[sizes.index(-1)] = data.size // known
    return data.reshape(sizes) if int(np.prod(sizes, dtype=np.int64)) == data.size else None


def _reshape(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data, shape = _need(operands, 0), _need(operands, 1)
    if data is None or shape is None:
        return None
    result = reshaped(data, shape.tolist(), allowzero=bool(node.attr("allowzero", 0)))
    return None if result is None else (result,)


def slices_of(node: NodeView, operands: Operands, sizes: Sequence[int]) -> tuple[slice, ...] | None:
    """Return the Python slices of a Slice node of any opset; None where they are not known.

    Args:
        node: The node.
        operands: What is known of its inputs.
        sizes: The shape of the data.
    """
    rank = len(sizes)
    if node.has("starts"):
        starts, ends = list(node.attr("starts")), list(node.attr("ends"))
        axes = list(node.attr("axes", range(len(starts))))
        steps = [1] * len(starts)
    else:
        given = [_need(operands, i) for i in range(1, 5)]
        if given[0] is None or given[1] is None:
            return None
        for index in (3, 4):
            if node.input(index) is not None and given[index - 1] is None:
                return None
        starts, ends = given[0].tolist(), given[1].tolist()
        axes = given[2].tolist() if given[2] is not None else list(range(len(starts)))
        steps = given[3].tolist() if given[3] is not None else [1] * len(starts)
    cut = [slice(None)] * rank
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0 or not -rank <= axis < rank:
            return None
        if step < 0 and start < 0:
            # Python takes nothing where such a start lies before the first element; ONNX clamps
            # it to the first element.
            start = max(start, -sizes[axis])
        cut[axis] = slice(start, end, step)
    return tuple(cut)


def _slice(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data = _need(operands, 0)
    if data is None:
        return None
    cut = slices_of(node, operands, data.shape)
    return None if cut is None else _one(data[cut])


def _transpose(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data = _need(operands, 0)
    if data is None:
        return None
    perm = node.attr("perm")
    return _one(np.transpose(data, perm))


def _expand(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data, shape = _need(operands, 0), _need(operands, 1)
    if data is None or shape is None:
        return None
    full = np.broadcast_shapes(data.shape, tuple(shape.tolist()))
    return _one(np.broadcast_to(data, full)) if fits(full, data.itemsize) else None


def _tile(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data, repeats = _need(operands, 0), _need(operands, 1)
    if data is None or repeats is None or repeats.shape != (data.ndim,) or node.opset < 6:
        return None
    if np.any(repeats < 0) or not fits((*data.shape, *repeats.tolist()), data.itemsize):
        return None
    return _one(np.tile(data, repeats.tolist()))


def _constant_of_shape(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    shape = _need(operands, 0)
    value = node.attr("value", np.zeros(1, dtype=np.float32))
    if shape is None or np.any(shape < 0) or not fits(shape.tolist(), value.itemsize):
        return None
    return _one(np.full(tuple(shape.tolist()), value.reshape(-1)[0], dtype=value.dtype))


def _range(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    start, limit, delta = (_need(operands, i) for i in range(3))
    if start is None or limit is None or delta is None or not is_plain(start.dtype, "iu"):
        return None
    if delta.size != 1 or int(delta.reshape(())) == 0:
        return None
    steps = range(*(int(operand.reshape(())) for operand in (start, limit, delta)))
    return (
        _one(np.arange(steps.start, steps.stop, steps.step), start)
        if fits((len(steps),), start.itemsize)
        else None
    )


def _where(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    condition, a, b = (_need(operands, i) for i in range(3))
    if condition is None or a is None or b is None or a.dtype != b.dtype:
        return None
    if not fits(np.broadcast_shapes(condition.shape, a.shape, b.shape), a.itemsize):
        return None
    return _one(np.where(condition, a, b), a)


def _variadic(function: Callable[[Array, Array], Array]) -> Function:
    def apply(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
        result: Array | None = None
        for operand in operands:
            if operand is None or not is_plain(operand.dtype, "iu"):
                return None  # which of 0.0 and -0.0 is the smaller one is nowhere said
            if (
                result is not None
                and result.shape != operand.shape
                and not fits(np.broadcast_shapes(result.shape, operand.shape), operand.itemsize)
            ):
                return None
            result = operand if result is None else np.asarray(function(result, operand))
        return None if result is None else (result,)

    return apply


def _reduce(function: Callable[..., Any]) -> Function:
    def apply(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
        data = _need(operands, 0)
        if data is None or not is_plain(data.dtype, "iu"):
            return None
        axes = axes_of(node, operands)
        if axes is None and node.input(1) is not None:
            return None
        if not axes:
            if node.attr("noop_with_empty_axes", 0):
                return (data,)
            axes = list(range(data.ndim))
        keep = bool(node.attr("keepdims", 1))
        rough = function(np.abs(data.astype(np.float64)), axis=tuple(axes), keepdims=keep)
        if not np.all(rough < min(np.iinfo(data.dtype).max, 1 << 53)):
            return None  # onnxruntime adds up in double: what it does not hold is off or clamped
        return _one(function(data, axis=tuple(axes), keepdims=keep), data)

    return apply


def equal_parts(size: int, count: int, *, uneven: bool) -> list[int] | None:
    """Return the sizes of `count` equal parts; with `uneven` the last one may be smaller.

    None where the parts do not come out: engines differ on what is left of a dimension that
    gives fewer than `count` parts.
    """
    part = -(-size // count)
    last = size - part * (count - 1)
    if last < 0 or (last != part and not uneven):
        return None
    return [part] * (count - 1) + [last]


def _split(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data = _need(operands, 0)
    if data is None:
        return None
    axis = int(node.attr("axis", 0))
    sizes = node.attr("split")
    given = _need(operands, 1)
    if sizes is None and given is not None:
        sizes = given.tolist()
    count = len(node.outputs)
    if sizes is None:
        if node.input(1) is not None:
            return None
        sizes = equal_parts(data.shape[axis], count, uneven=node.opset >= 18)
    if sizes is None or min(sizes) < 0 or sum(sizes) != data.shape[axis] or len(sizes) != count:
        return None
    return tuple(np.split(data, np.cumsum(sizes)[:-1], axis=axis))


def _nonzero(node: NodeView, operands: Operands) -> tuple[Array, ...] | None:
    data = _need(operands, 0)
    if data is None or not is_plain(data.dtype) or not fits(data.shape, 8):
        return None  # of a scalar ONNX leaves open what they are, and onnxruntime gives an axis
    return _one(np.stack(np.nonzero(data)).astype(np.int64)) if data.ndim else None


FUNCTIONS: dict[str, Function] = {
    "Add": _binary(np.add),
    "Sub": _binary(np.subtract),
    "Mul": _binary(np.multiply),
    "Div": _binary(divide),
    "Equal": _binary(np.equal, compares=True),
    "Less": _binary(np.less, compares=True),
    "LessOrEqual": _binary(np.less_equal, compares=True),
    "Greater": _binary(np.greater, compares=True),
    "GreaterOrEqual": _binary(np.greater_equal, compares=True),
    "And": _binary(np.logical_and),
    "Or": _binary(np.logical_or),
    "Xor": _binary(np.logical_xor),
    "Not": _unary(np.logical_not),
    "Neg": _unary(np.negative),
    "Abs": _unary(np.abs, ints_only=True),
    "Floor": _unary(np.floor),
    "Ceil": _unary(np.ceil),
    "Identity": _identity,
    "Mod": _modulo,
    "Cast": _cast,
    "Concat": _concat,
    "Gather": _gather,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Slice": _slice,
    "Transpose": _transpose,
    "Expand": _expand,
    "Tile": _tile,
    "ConstantOfShape": _constant_of_shape,
    "Range": _range,
    "Where": _where,
    "NonZero": _nonzero,
    "Min": _variadic(np.minimum),
    "Max": _variadic(np.maximum),
    "ReduceProd": _reduce(np.prod),
    "ReduceSum": _reduce(np.sum),
    "ReduceMax": _reduce(np.max),
    "ReduceMin": _reduce(np.min),
    "Split": _split,
}
