"""What is known of the `scales` and `sizes` that a model computes from shapes.

Exporters write them as Shape, Slice, Gather, Cast, Mul, Floor, Div, Concat. An element of such a
vector is a number, a multiple of a dimension that is known only at run time, or unknown.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import Struct

from graphfix.authoring import NodeView, Value

MAX_DEPTH = 40
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Multiple(Struct, frozen=True):
    """A positive factor times a dimension of a tensor.

    Attributes:
        factor: The factor.
        source: The tensor and the axis, or the symbol of the dimension.
    """

    factor: Fraction
    source: tuple[object, ...]


Element = Fraction | Multiple | None
Vector = list[Element]


def dim_element(value: Value, axis: int) -> Element:
    """Return one dimension of a value: its size, its symbol, or the tensor and the axis."""
    shape = value.shape
    size = None if shape is None else shape[axis]
    if isinstance(size, int):
        return Fraction(size)
    # What a graph outputs bears a symbol that the exporter's user chose; it may be wrong.
    trusted = isinstance(size, str) and not size.startswith("unk__") and not value.is_graph_output
    if size and trusted:
        return Multiple(Fraction(1), ("symbol", size))
    return Multiple(Fraction(1), ("tensor", value, axis))


def known_vector(value: Value | None) -> Vector | None:
    """Return the elements of a scalar or 1-D value of numbers; None where nothing is known."""
    return None if value is None else _known(value, 0)


def _known(value: Value, depth: int) -> Vector | None:
    if depth > MAX_DEPTH or (value.rank or 0) > 1:
        return None
    if value.is_constant:
        return _constant(value)
    node = value.producer
    if node is None or node.domain != "":
        return None
    if node.op == "Shape":
        return _shape(node)
    first = node.input(0)
    if first is None:
        return None
    if node.op in ("Identity", "Squeeze", "Unsqueeze", "Reshape"):
        return _known(first, depth + 1)
    if node.op == "Concat":
        parts = [None if v is None else _known(v, depth + 1) for v in node.inputs]
        return [e for part in parts for e in part or ()] if all(parts) else None
    if node.op == "Cast":
        return _cast(value, first, depth)
    if node.op in ("Floor", "Ceil"):
        return _each(_known(first, depth + 1), math.floor if node.op == "Floor" else math.ceil)
    if node.op in ("Gather", "Slice"):
        return _picked(node, first, depth)
    if node.op in ("Mul", "Div", "Add", "Sub"):
        return _arithmetic(node, depth)
    return None


def _constant(value: Value) -> Vector | None:
    if value.static_shape is None or math.prod(value.static_shape) > 64:
        return None
    array = value.array()
    if array is None or array.ndim > 1 or array.dtype.kind not in "fiu":
        return None
    if not np.all(np.isfinite(array)):
        return None
    return [Fraction(item) for item in array.reshape(-1).tolist()]


def _shape(node: NodeView) -> Vector | None:
    source = node.input(0)
    if source is None or source.rank is None:
        return None
    elements = [dim_element(source, axis) for axis in range(source.rank)]
    return elements[slice(node.attr("start"), node.attr("end"))]


# Bytes of the types of integers that hold every size of an image.
_WIDE = 4


def _cast(value: Value, first: Value, depth: int) -> Vector | None:
    vector = _known(first, depth + 1)
    dtype = value.dtype
    if vector is None or dtype is None or (dtype not in FLOATS and dtype.kind not in "iu"):
        return None
    if dtype.kind in "iu":
        vector = _each(vector, math.trunc)
        return None if vector is None else [_held(element, dtype) for element in vector]
    return [_rounded(e, dtype) if isinstance(e, Fraction) else e for e in vector]


def _held(element: Element, dtype: np.dtype[Any]) -> Element:
    """Return an integer or a multiple of a size where a type of integers holds it."""
    limits = np.iinfo(dtype)
    if isinstance(element, Fraction):
        return element if limits.min <= element <= limits.max else None
    return element if dtype.itemsize >= _WIDE else None


def _rounded(number: Fraction, dtype: np.dtype[np.generic]) -> Fraction:
    return Fraction(float(np.asarray(float(number)).astype(dtype)))


def _each(vector: Vector | None, function: Callable[[Fraction], int]) -> Vector | None:
    if vector is None:
        return None
    result: Vector = []
    for element in vector:
        if isinstance(element, Fraction):
            result.append(Fraction(function(element)))
        else:
            # A whole multiple of a dimension is whole already.
            whole = element is not None and element.factor.denominator == 1
            result.append(element if whole else None)
    return result


def _picked(node: NodeView, first: Value, depth: int) -> Vector | None:
    vector = _known(first, depth + 1)
    if vector is None:
        return None
    if node.op == "Gather":
        indices = node.need(1).array()
        if indices is None or indices.ndim > 1:
            return None
        places = [int(i) for i in indices.reshape(-1)]
        inside = all(-len(vector) <= i < len(vector) for i in places)
        return [vector[i] for i in places] if inside else None
    bounds = [_bound(node, name, index) for index, name in ((1, "starts"), (2, "ends"))]
    step = node.input(4)
    stride = 1 if step is None else _single(step.array())
    if None in bounds or stride is None or stride < 1:
        return None
    return vector[slice(bounds[0], bounds[1], stride)]


def _bound(node: NodeView, name: str, index: int) -> int | None:
    if node.has(name):
        values = node.attr(name)
        return int(values[0]) if len(values) == 1 else None
    value = node.input(index)
    return None if value is None else _single(value.array())


def _single(array: object) -> int | None:
    return int(array.reshape(-1)[0]) if isinstance(array, np.ndarray) and array.size == 1 else None


def _arithmetic(node: NodeView, depth: int) -> Vector | None:
    left, right = _known(node.need(0), depth + 1), _known(node.need(1), depth + 1)
    dtype = node.need(0).dtype or node.need(1).dtype
    if not left or not right or dtype is None:
        return None
    if dtype not in FLOATS and dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        return None
    if len(left) != len(right) and 1 not in (len(left), len(right)):
        return None
    count = max(len(left), len(right))
    pairs = zip(_spread(left, count), _spread(right, count), strict=True)
    return [_combined(node.op, a, b, dtype) for a, b in pairs]


def _spread(vector: Sequence[Element], count: int) -> Sequence[Element]:
    return list(vector) * count if len(vector) == 1 else vector


def _combined(op: str, a: Element, b: Element, dtype: np.dtype[np.generic]) -> Element:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return _number(op, a, b, dtype)
    if op == "Mul":
        if isinstance(a, Multiple) and isinstance(b, Fraction):
            return _scaled(a, b)
        if isinstance(b, Multiple) and isinstance(a, Fraction):
            return _scaled(b, a)
    if op == "Div" and isinstance(a, Multiple) and isinstance(b, Multiple) and a.source == b.source:
        ratio = a.factor / b.factor
        # The quotient of two exact numbers is rounded once; a ratio of few bits stays itself.
        return ratio if _rounded(ratio, dtype) == ratio and _whole(ratio, dtype) else None
    return None


def _whole(ratio: Fraction, dtype: np.dtype[np.generic]) -> bool:
    return dtype in FLOATS or ratio.denominator == 1


def _scaled(multiple: Multiple, factor: Fraction) -> Element:
    # Only whole factors keep float arithmetic on dimensions free of rounding.
    whole = factor > 0 and factor.denominator == 1
    return Multiple(multiple.factor * factor, multiple.source) if whole else None


def _number(op: str, a: Fraction, b: Fraction, dtype: np.dtype[np.generic]) -> Element:
    if op == "Div":
        if b == 0:
            return None
        quotient = a / b
        return _rounded(quotient, dtype) if dtype in FLOATS else Fraction(math.trunc(quotient))
    result = {"Mul": a * b, "Add": a + b, "Sub": a - b}[op]
    return _rounded(result, dtype) if dtype in FLOATS else result
