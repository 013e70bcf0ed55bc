"""Take away the inputs of a Resize that nothing reads: roi outside crops, empty scales and sizes.

What it does:
The region of interest matters to tf_crop_and_resize alone. From opset 13 on it is left out, and so
is an empty `scales` next to `sizes`, or an empty `sizes` next to `scales`. Opsets 11 and 12 demand
a `roi`: there a computed or empty one becomes the constant that covers the whole input.
Why engines need it:
TensorRT 7.0 does not know an empty Constant or initializer, and what it feeds fails ("Assertion
failed: ctx->tensors().count(inputName)"); a roi computed at run time drags nodes along for
nothing.
Before: y = Resize <mode = "nearest"> (x, empty, scales)
After:
    y = Resize <mode = "nearest"> (x, , scales)                            (opset 13)
    y = Resize <mode = "nearest"> (x, constant [0, 0, 1, 1], scales)       (opsets 11 and 12)
When it refuses:
tf_crop_and_resize; nothing to take away; an empty `scales` next to `sizes` in opsets 11 and 12,
where the schema demands it (resize-sizes-to-scales helps there).
Accuracy: exact: nothing reads what is taken away.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html (roi: "It only takes effect when
coordinate_transformation_mode is tf_crop_and_resize"); NVIDIA/TensorRT issue 284.
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._emitting import whole_region
from ._reading import CROP, form_of


@rewrite(
    "Resize",
    removes=(
        "form:empty-constant form:Resize.roi form:Resize.empty-input const:Resize.roi "
        "const:Resize.empty-input"
    ),
    emits="Resize",
    since=11,
)
def resize_clear_roi(node: NodeView, build: Builder) -> Value:
    """Take away inputs that nothing reads."""
    form = form_of(node)
    if form.coordinates == CROP:
        raise Refuse("the region of interest must not be read; a crop reads it")
    x, roi, scales, sizes = (node.input(place) for place in range(4))
    if build.opset >= 13:
        fresh_roi = None
        fresh_scales = None if _is_empty(scales) and sizes is not None else scales
    else:
        fresh_roi = roi
        if roi is None or not roi.is_constant or _is_empty(roi):
            fresh_roi = build.constant(whole_region(len(form.axes)))
        fresh_scales = scales
    fresh_sizes = None if _is_empty(sizes) and not _is_empty(scales) else sizes
    if (fresh_roi, fresh_scales, fresh_sizes) == (roi, scales, sizes):
        raise Refuse("there must be something to take away; there is nothing")
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.Resize(x, fresh_roi, fresh_scales, fresh_sizes, **attributes)


def _is_empty(value: Value | None) -> bool:
    if value is None or value.static_shape is None:
        return False
    return int(np.prod(value.static_shape)) == 0
