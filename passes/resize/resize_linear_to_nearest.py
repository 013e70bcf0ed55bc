"""Replace linear Resize and Upsample by nearest, for engines that have nothing else.

What it does:
The mode becomes nearest, with asymmetric coordinates rounded down: the one form that every engine
takes, in which PyTorch exports nearest too. Scales, sizes and axes stay as they are.
Why engines need it:
TensorRT 5.1 has nearest only; 6 and 7.0 take no linear Resize but the asymmetric one. Where sizes
are known, resize-linear-to-matmul does the same without loss and is preferred.
Before: y = Resize <mode = "linear", coordinate_transformation_mode = "half_pixel"> (x, , scales)
After:
    y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",
                nearest_mode = "floor"> (x, , scales)
When it refuses: Modes other than linear; tf_crop_and_resize, whose region asymmetric coordinates
    would ignore.
Accuracy:
lossy: each output is the input pixel above and to the left of where linear interpolation samples,
off by up to the difference of neighbouring pixels (of the pixels under the kernel with antialias).
Constant regions stay as they are.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html; onnx-tensorrt builtin_op_importers.cpp,
release 7.0 (Resize: "This version of TensorRT only supports asymmetric resize!").
"""

from graphfix.authoring import LOSSY, Builder, NodeView, Refuse, Value, rewrite

from ._reading import CROP, form_of


@rewrite(
    ["Resize", "Upsample"],
    removes=(
        "attr:Resize.mode=linear attr:Upsample.mode=* attr:Resize.coordinate_transformation_mode=* "
        "attr:Resize.antialias=* form:Resize.antialias rank:Resize.* rank:Upsample.*"
    ),
    emits="Resize Upsample",
    accuracy=LOSSY,
)
def resize_linear_to_nearest(node: NodeView, build: Builder) -> Value:
    """Let a linear Resize or Upsample take the nearest pixel."""
    form = form_of(node)
    if form.mode != "linear":
        raise Refuse(f"the mode must be linear; it is {form.mode}")
    if form.coordinates == CROP:
        raise Refuse(
            "it must be no crop; asymmetric coordinates would ignore the region of interest"
        )
    build.declare(LOSSY, "linear interpolation becomes the pixel above and to the left")
    kept = {
        name: node.attr(name)
        for name in ("scales", "axes", "keep_aspect_ratio_policy")
        if node.has(name)
    }
    if not form.implied:
        kept["coordinate_transformation_mode"] = "asymmetric"
        kept["nearest_mode"] = "floor"
    return build.multi(node.op, *node.inputs, mode="nearest", **kept)[0]
