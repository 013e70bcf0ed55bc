"""Shape vectors known in part: integers, symbols of dimensions, and holes.

A partial value is an object array of Python ints (0 and 1 for booleans), strings (two equal
strings are equal sizes at run time) and None. Sizes are never negative, which comparisons rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphfix.analysis.folding.numbers import axes_of, fits, reshaped, slices_of
from graphfix.ir.views import NodeView

Partial = np.ndarray[Any, Any]
Operands = Sequence["Partial | None"]
ITEM = 64  # bytes of a boxed number, roughly
_LARGEST_SIZE = np.iinfo(np.int64).max
Function = Callable[[NodeView, Operands], "tuple[Partial, ...] | None"]


def as_partial(values: Sequence[int | str | None]) -> Partial:
    """Return a vector of dimensions as a partial value."""
    array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return array


def is_complete(value: Partial) -> bool:
    """Say whether every element is a number."""
    return all(isinstance(item, int) for item in value.reshape(-1).tolist())


def integers(value: Partial) -> np.ndarray[Any, Any]:
    """Return a complete value as int64."""
    return np.array(value.tolist(), dtype=np.int64).reshape(value.shape)


def _exact(array: Partial | None) -> np.ndarray[Any, Any] | None:
    return integers(array) if array is not None and is_complete(array) else None


def _plain(operands: Operands) -> list[np.ndarray[Any, Any] | None]:
    return [None, *(_exact(o) for o in operands[1:])]


def _concat(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    parts = [o for o in operands if o is not None]
    if len(parts) != len(operands) or not fits((sum(part.size for part in parts),), ITEM):
        return None
    return (np.concatenate(parts, axis=int(node.attr("axis", 1))),)


def _gather(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    data, indices = operands[0], _exact(operands[1])
    axis = int(node.attr("axis", 0))
    if data is None or indices is None or not -data.ndim <= axis < data.ndim:
        return None
    size = data.shape[axis]
    if np.any(indices < -size) or np.any(indices >= size):
        return None
    if size and not fits((indices.size, data.size // size), ITEM):
        return None
    taken = np.take(data, np.where(indices < 0, indices + size, indices), axis=axis)
    return (_boxed(taken),)


def _boxed(value: Any) -> Partial:
    if np.ndim(value):
        return np.asarray(value, dtype=object)
    array = np.empty((), dtype=object)
    array[()] = value
    return array


def _unsqueeze(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    axes = axes_of(node, _plain(operands))
    if operands[0] is None or axes is None:
        return None
    return (np.expand_dims(operands[0], tuple(axes)),)


def _squeeze(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    axes = axes_of(node, _plain(operands))
    if operands[0] is None:
        return None
    return (np.squeeze(operands[0], None if axes is None else tuple(axes)),)


def _reshape(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    shape = _exact(operands[1])
    if operands[0] is None or shape is None:
        return None
    result = reshaped(operands[0], shape.tolist(), allowzero=bool(node.attr("allowzero", 0)))
    return None if result is None else (result,)


def _slice(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    if operands[0] is None:
        return None
    cut = slices_of(node, _plain(operands), operands[0].shape)
    return None if cut is None else (operands[0][cut],)


def _transpose(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    return None if operands[0] is None else (np.transpose(operands[0], node.attr("perm")),)


def _same(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    return None if operands[0] is None else (operands[0],)


def _cast(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    output = node.output(0)
    if operands[0] is None or output is None or output.dtype is None:
        return None
    kind = output.dtype
    return (_mapped(operands[0], lambda item: _as(item, kind)),)


def _as(item: Any, dtype: np.dtype[Any]) -> Any:
    """Convert one element; None where that could wrap round or is not known.

    A size that is not known may be any up to the largest int64: only types that hold all of these
    keep it.
    """
    if dtype.kind == "b":
        return int(bool(item)) if isinstance(item, int) else None
    if isinstance(item, str) and np.iinfo(dtype).max < _LARGEST_SIZE:
        return None
    return _within(item, dtype)


def _within(item: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(item, int) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return item if limits.min <= item <= limits.max else None
    return item


def _mapped(value: Partial, function: Callable[[Any], Any]) -> Partial:
    result = np.empty(value.shape, dtype=object)
    for index in np.ndindex(value.shape):
        result[index] = function(value[index])
    return result


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0:
        return b
    return a if b == 0 else None


def _subtract(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if b == 0:
        return a
    return 0 if a is not None and a == b else None


def _multiply(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1:
        return b
    if b == 1:
        return a
    return 0 if (a == 0 and b is not None) or (b == 0 and a is not None) else None


def _divide(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and b != 0:
        return -(-a // b) if (a < 0) != (b < 0) else a // b
    return a if b == 1 else None


def _equal(a: Any, b: Any) -> Any:
    """Compare; 1, 0 or None for unknown: two different symbols may be the same size."""
    if isinstance(a, int) and isinstance(b, int):
        return int(a == b)
    if a is None or b is None:
        return None
    if isinstance(a, str) and isinstance(b, str):
        return 1 if a == b else None
    number = a if isinstance(a, int) else b
    return 0 if number < 0 else None


def _where(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
    condition, a, b = operands
    if condition is None or a is None or b is None:
        return None
    condition, a, b = np.broadcast_arrays(condition, a, b)
    if not fits(condition.shape, ITEM):
        return None
    result = np.empty(condition.shape, dtype=object)
    for index in np.ndindex(condition.shape):
        chosen: Any = condition[index]
        if chosen is None:
            result[index] = a[index] if a[index] == b[index] else None
        else:
            result[index] = a[index] if chosen else b[index]
    return (result,)


def _elementwise(function: Callable[[Any, Any], Any]) -> Function:
    def apply(node: NodeView, operands: Operands) -> tuple[Partial, ...] | None:
        a, b = operands[0], operands[1]
        output = node.output(0)
        if a is None or b is None or output is None or output.dtype is None or node.opset < 7:
            return None
        left, right = np.broadcast_arrays(a, b)
        if not fits(left.shape, ITEM):
            return None
        result = np.empty(left.shape, dtype=object)
        for index in np.ndindex(left.shape):
            result[index] = _within(function(left[index], right[index]), output.dtype)
        return (result,)

    return apply


FUNCTIONS: dict[str, Function] = {
    "Concat": _concat,
    "Gather": _gather,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Slice": _slice,
    "Transpose": _transpose,
    "Identity": _same,
    "Cast": _cast,
    "Add": _elementwise(_add),
    "Sub": _elementwise(_subtract),
    "Mul": _elementwise(_multiply),
    "Div": _elementwise(_divide),
    "Equal": _elementwise(_equal),
    "Where": _where,
}
