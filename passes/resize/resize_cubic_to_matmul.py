"""Replace cubic Resize by one product with a constant matrix per axis.

What it does:
Cubic convolution along an axis of known size is a matrix with four weights per row (more with
antialias). The matrices are computed in float64 from cubic_coeff_a, the coordinate mode and
exclude_outside, from scales or sizes, and each resized axis becomes one MatMul: from the right for
the last axis, from the left for the one before, between two Transposes for others. A node that
resizes nothing goes.

Why engines need it:
TensorRT refuses cubic before 8.5 ("This version of TensorRT does not support cubic
interpolation!"), and later takes it on the last two axes only, without exclude_outside, without
antialias. Vision transformers interpolate their position embeddings so.

Before:
    y = Resize <mode = "cubic"> (x, , , sizes)      with x [1, 64, 7, 7], sizes = [1, 64, 14, 14]

After:
    t = MatMul (rows, x)          with rows [14, 7]
    y = MatMul (t, columns)       with columns [7, 14]

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
onnxruntime/core/providers/cpu/tensor/upsample.cc; R. Keys, Cubic convolution interpolation for
digital image processing (1981), equation 4.
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, rewrite
from graphfix.passes.resize._interpolating import interpolate
from graphfix.passes.resize._reading import form_of


@rewrite(
    "Resize",
    removes=(
        "form:empty-constant op:Resize attr:Resize.mode=cubic "
        "attr:Resize.coordinate_transformation_mode=* attr:Resize.antialias=* "
        "attr:Resize.exclude_outside=* const:Resize.* form:Resize.* rank:Resize.*"
    ),
    emits="MatMul Transpose Add",
    since=11,
    options={"max_elements": Option(int, 1 << 22, "Largest matrix that is written, in elements.")},
)
def resize_cubic_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace cubic sampling by products with constant matrices."""
    form = form_of(node)
    if form.mode != "cubic":
        raise Refuse(f"the mode must be cubic; it is {form.mode}")
    a = float(node.attr("cubic_coeff_a", -0.75))
    limit = int(build.option("max_elements"))
    return interpolate(node, build, form, cubic=a, limit=limit)
