"""Replace linear and cubic sampling by one product with a constant matrix per axis.

What it does:
Interpolation along an axis of known size is a matrix with two weights per row where it is linear,
four where it is cubic, and more with antialias. The matrices are computed in float64 from the
coordinate mode (half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric,
tf_crop_and_resize with a constant region), from cubic_coeff_a, from scales or sizes, with axes,
keep_aspect_ratio_policy, exclude_outside and antialias, and each resized axis becomes one MatMul:
from the right for the last axis, from the left for the one before, between two Transposes for
others. A node that resizes nothing goes. Axes that are not resized may be of any size.
Why engines need it:
TensorRT 5.1 has no Resize and 6 to 7.0 none but the asymmetric one, 7.1 and 7.2 take some
coordinate modes only with scales and some only with sizes, and later versions know neither
tf_crop_and_resize nor half_pixel_symmetric nor antialias. Cubic is refused before 8.5 ("This
version of TensorRT does not support cubic interpolation!"), and later taken on the last two axes
only, without exclude_outside; vision transformers interpolate their position embeddings so. A
MatMul is taken by all.
Before: y = Resize <mode = "linear"> (x, , , sizes)     with x [n, 3, 8, 8], sizes = [n, 3, 16, 16]
After:
    t = MatMul (rows, x)          with rows [16, 8]
    y = MatMul (t, columns)       with columns [8, 16]
When it refuses:
Integer data (its rounding is no product), an unknown size, scale or region of a resized axis, a
matrix of more than `max_elements` elements, and nodes that engines read differently: a scale
other than 1 that changes no size, a crop by scales whose size depends on the region, points that
lie outside or inside the region depending on rounding.
Accuracy:
exact: the same weighted sums; weights are rounded once to the type of the data and sums are taken
in another order. For float16 and bfloat16 sites whose weights are not representable are
approximate, and say by how much. A NaN or an infinity spreads along its whole row and column, as
zero times infinity is NaN, where Resize keeps it among the neighbours.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html; onnx/reference/ops/op_resize.py;
onnxruntime/core/providers/cpu/tensor/upsample.cc; onnx-tensorrt builtin_op_importers.cpp
(release 7.0 and 7.1, Resize and Upsample); R. Keys, Cubic convolution interpolation for digital
image processing (1981), equation 4.
"""

from typing import Any

import numpy as np

from graphfix.authoring import APPROXIMATE, Builder, NodeView, Option, Refuse, Value, rewrite

from ._reading import CROP, Form, form_of, resized_axes
from ._sampling import Axis, Sampler, sampler

_OPTIONS = {"max_elements": Option(int, 1 << 22, "Largest matrix that is written, in elements.")}
Array = np.ndarray[Any, Any]
_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _interpolate(
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
        raise Refuse("a crop must have antialias 0, as ONNX does not define its kernel; it has 1")
    axes = resized_axes(node, form)
    if not axes:
        return x
    if any(axis.size < 1 or axis.length < 1 for axis in axes) or 0 in (x.shape or ()):
        raise Refuse("the input and the output must not be empty; one is")
    if x.type_name not in _FLOATS or x.dtype is None:
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
        if axis.size * axis.length > limit:
            raise Refuse(
                f"the matrix of axis {axis.index} must have at most {limit} elements; it would "
                f"have {axis.size * axis.length}"
            )
        sampling = sampler(
            axis, form.coordinates, cubic=cubic, antialias=form.antialias, exclude_outside=exclude
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


@rewrite(
    ["Resize", "Upsample"],
    removes=(
        "form:empty-constant op:Resize op:Upsample attr:Resize.mode=linear attr:Upsample.mode=* "
        "attr:Resize.coordinate_transformation_mode=* attr:Resize.antialias=* const:Resize.* "
        "const:Upsample.* form:Resize.* form:Upsample.* rank:Resize.* rank:Upsample.*"
    ),
    emits="MatMul Transpose Add",
    options=_OPTIONS,
)
def resize_linear_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace linear Resize and Upsample by one product with a constant matrix per axis."""
    form = form_of(node)
    if form.mode != "linear":
        raise Refuse(f"the mode must be linear; it is {form.mode}")
    limit = int(build.option("max_elements"))
    return _interpolate(node, build, form, cubic=None, limit=limit)


@rewrite(
    "Resize",
    removes=(
        "form:empty-constant op:Resize attr:Resize.mode=cubic "
        "attr:Resize.coordinate_transformation_mode=* attr:Resize.antialias=* "
        "attr:Resize.exclude_outside=* const:Resize.* form:Resize.* rank:Resize.*"
    ),
    emits="MatMul Transpose Add",
    since=11,
    options=_OPTIONS,
)
def resize_cubic_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace cubic Resize by one product with a constant matrix per axis."""
    form = form_of(node)
    if form.mode != "cubic":
        raise Refuse(f"the mode must be cubic; it is {form.mode}")
    a = float(node.attr("cubic_coeff_a", -0.75))
    limit = int(build.option("max_elements"))
    return _interpolate(node, build, form, cubic=a, limit=limit)
