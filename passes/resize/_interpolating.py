"""Emitting linear and cubic sampling as products with constant matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Refuse, Value
from graphfix.passes.resize._reading import CROP, Form, resized_axes
from graphfix.passes.resize._sampling import Axis, Sampler, sampler

Array = np.ndarray[Any, Any]
PRICE_OF_A_ROW = 64  # in elements
FLOATS = ("float32", "float64", "float16", "bfloat16")


def interpolate(
    node: NodeView, build: Builder, form: Form, *, cubic: float | None, limit: int
) -> Value:
    """Emit linear or cubic sampling as one product with a constant matrix per axis.

    Returns:
        The result; the input itself where the node resizes nothing.

    Raises:
        Refuse: The data is not floating point, a size is unknown, a matrix would have more than
            `limit` elements, or engines do not agree on what the node means.
    """
    x = form.x
    if form.antialias and form.coordinates == CROP:
        raise Refuse(
            "a crop must be without antialias: ONNX does not say how it stretches the kernel"
        )
    axes = resized_axes(node, form)
    if not axes:
        return x
    if any(axis.size < 1 or axis.length < 1 for axis in axes) or 0 in (x.shape or ()):
        raise Refuse("the input and the output must not be empty; one is")
    if x.type_name not in FLOATS or x.dtype is None:
        raise Refuse(
            f"the data must be floating point; it is {x.type_name}, and sampling that rounds, "
            "which a product does not"
        )
    exclude = bool(node.attr("exclude_outside", 0))
    extrapolation = float(node.attr("extrapolation_value", 0.0))
    error = 0.0
    value = x
    # Axes that shrink come first, so that the products after them are smaller.
    for axis in sorted(axes, key=lambda a: (a.size / a.length, -a.index)):
        if axis.size * max(axis.length, PRICE_OF_A_ROW) > limit:
            raise Refuse(
                f"the matrix of axis {axis.index} must have at most {limit} elements; it would "
                f"have {axis.size * axis.length}"
            )
        sampling = sampler(
            axis,
            form.coordinates,
            cubic=cubic,
            antialias=form.antialias,
            exclude_outside=exclude,
        )
        if sampling is None:
            raise Refuse("no rounding must decide whether a point lies outside the input; it does")
        rounded = sampling.matrix.astype(x.dtype)
        away = np.abs(rounded.astype(np.float64) - sampling.matrix).sum(axis=1)
        error += float(away.max())
        value = _product(build, value, axis, rounded, sampling, extrapolation, form.rank)
    if x.type_name in ("float16", "bfloat16") and error > 0.0:
        build.declare(
            APPROXIMATE,
            f"weights rounded to {x.type_name}: off by at most {error:.1e} of the largest input",
        )
    return value


def _product(
    build: Builder,
    value: Value,
    axis: Axis,
    matrix: Array,
    sampling: Sampler,
    extrapolation: float,
    rank: int,
) -> Value:
    perm = list(range(rank))
    perm[axis.index], perm[-1] = perm[-1], perm[axis.index]
    turned = axis.index < rank - 2
    if turned:
        value = build.Transpose(value, perm=perm)
    left = axis.index == rank - 2
    if left:
        value = build.MatMul(matrix, value)
    else:
        value = build.MatMul(value, np.ascontiguousarray(matrix.T))
    if sampling.outside.any() and extrapolation != 0.0:
        if not np.isfinite(extrapolation):
            raise Refuse("the extrapolation value must be finite; it is not")
        filled = np.where(sampling.outside, extrapolation, 0.0).astype(matrix.dtype)
        value = build.Add(value, filled[:, None] if left else filled)
    return build.Transpose(value, perm=perm) if turned else value
