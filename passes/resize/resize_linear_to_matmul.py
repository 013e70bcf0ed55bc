"""Replace linear Resize and Upsample by one product with a constant matrix per axis.

What it does:
Linear interpolation along an axis of known size is a matrix with two weights per row. The matrices
are computed in float64 from the coordinate mode (half_pixel, half_pixel_symmetric,
pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize with a constant region), from
scales or sizes, with axes, keep_aspect_ratio_policy, exclude_outside and antialias, and each
resized axis becomes one MatMul: from the right for the last axis, from the left for the one
before, between two Transposes for others. A node that resizes nothing goes. Axes that are not
resized may be of any size.

Why engines need it:
TensorRT 5.1 has no Resize and 6 to 7.0 none but the asymmetric one, 7.1 and 7.2 take some
coordinate modes only with scales and some only with sizes, and later versions know neither
tf_crop_and_resize nor half_pixel_symmetric nor antialias. A MatMul is taken by all.

Before:
    y = Resize <mode = "linear"> (x, , , sizes)     with x [n, 3, 8, 8], sizes = [n, 3, 16, 16]

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
(release 7.0 and 7.1, Resize and Upsample).
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite
from graphfix.passes.resize._interpolating import interpolate
from graphfix.passes.resize._reading import form_of


@rewrite(
    ["Resize", "Upsample"],
    removes=(
        "form:empty-constant op:Resize op:Upsample attr:Resize.mode=linear attr:Upsample.mode=* "
        "attr:Resize.coordinate_transformation_mode=* attr:Resize.antialias=* const:Resize.* "
        "const:Upsample.* form:Resize.* form:Upsample.* rank:Resize.* rank:Upsample.*"
    ),
    emits="MatMul Transpose Add",
    options={"max_elements": Option(int, 1 << 22, "Largest matrix that is written, in elements.")},
)
def resize_linear_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace linear sampling by products with constant matrices."""
    form = form_of(node)
    if form.mode != "linear":
        raise Refuse(f"the mode must be linear; it is {form.mode}")
    limit = int(build.option("max_elements"))
    return interpolate(node, build, form, cubic=None, limit=limit)
