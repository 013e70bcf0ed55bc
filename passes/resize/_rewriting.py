"""Emitting along one axis, and emitting Resize in the form of the opset at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.passes.resize._reading import CROP, Form, resized_axes
from graphfix.passes.resize._sampling import Axis, Sampler, sampler
from graphfix.report import APPROXIMATE

Array = np.ndarray[Any, Any]
FLOATS = ("float32", "float64", "float16", "bfloat16")
ONNX_MODES = ("coordinate_transformation_mode", "nearest_mode", "mode", "cubic_coeff_a",
              "exclude_outside", "extrapolation_value", "antialias")


def interpolate(
    node: NodeView, build: Builder, form: Form, *, cubic: float | None, limit: int
) -> Value:
    """Emit linear or cubic sampling as one product with a constant matrix per axis.

    Raises:
        Refuse: The data is not floating point, a size is unknown, a matrix would have more than
            `limit` elements, or engines do not agree on what the node means.
    """
    x = form.x
    if x.type_name not in FLOATS or x.dtype is None:
        raise Refuse(f"sampling {x.type_name} data rounds, which a product does not")
    if form.antialias and form.coordinates == CROP:
        raise Refuse("ONNX does not say how antialias stretches the kernel of a crop")
    axes = resized_axes(node, form)
    if not axes:
        raise Refuse("the node resizes nothing")
    exclude = bool(node.attr("exclude_outside", 0))
    extrapolation = float(node.attr("extrapolation_value", 0.0))
    error = 0.0
    value = x
    # Axes that shrink come first, so that the products after them are smaller.
    for axis in sorted(axes, key=lambda a: (a.size / a.length, -a.index)):
        if axis.size * axis.length > limit:
            raise Refuse(
                f"the matrix of axis {axis.index} would have {axis.size * axis.length} elements"
            )
        sampling = sampler(
            axis,
            form.coordinates,
            cubic=cubic,
            antialias=form.antialias,
            exclude_outside=exclude,
        )
        if sampling is None:
            raise Refuse("rounding decides whether a point lies outside the input")
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
        filled = np.where(sampling.outside, extrapolation, 0.0).astype(matrix.dtype)
        value = build.Add(value, filled[:, None] if left else filled)
    return build.Transpose(value, perm=perm) if turned else value


def attributes_of(node: NodeView) -> dict[str, Any]:
    """Return the attributes of a Resize that say how it samples, as they are written."""
    return {name: node.attr(name) for name in ONNX_MODES if node.has(name)}


def resize(
    build: Builder,
    x: Value,
    *,
    attributes: Mapping[str, Any],
    scales: Value | Sequence[float] | Array | None = None,
    sizes: Value | Sequence[int] | None = None,
    roi: Value | None = None,
) -> Value:
    """Emit a Resize with scales or with sizes, in the form of the opset.

    Where the schema demands a roi (opsets 11 and 12) that nothing reads, the whole input is
    given: some engines cannot take an empty tensor.

    Raises:
        Refuse: The opset has no such form.
    """
    rank = x.rank
    if rank is None:
        raise Refuse("the rank of the input is unknown")
    factors = scales
    if scales is not None and not isinstance(scales, Value):
        factors = build.constant(np.asarray(scales, dtype=np.float32))
    if build.opset < 11:
        if factors is None:
            raise Refuse("Resize has no sizes before opset 11")
        return build.Resize(x, factors, **attributes)
    if build.opset < 13:
        if roi is None:
            roi = build.constant(np.array([0.0] * rank + [1.0] * rank, dtype=np.float32))
        if factors is None:
            factors = build.constant(np.zeros(0, dtype=np.float32))
    return build.Resize(x, roi, factors, sizes, **attributes)
