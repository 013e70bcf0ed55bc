"""Give a Resize no region of interest where it crops nothing.

What it does: The region matters to tf_crop_and_resize alone. It is left out from opset 13 on;
    opsets 11 and 12 demand one, and there it becomes a constant of no numbers.
Why engines need it: pnnx knows no Resize with a region that has numbers, also where nothing reads
    them: "layer Resize not exists or registered".
Before: y = Resize <mode = "linear"> (x, [0, 0, 0, 1, 1, 1], scales)           (opset 11)
After: y = Resize <mode = "linear"> (x, [], scales)
When it refuses: The mode is tf_crop_and_resize, or there is no region or an empty one.
Accuracy: Exact: nothing reads the region.
References: https://onnx.ai/onnx/operators/onnx__Resize.html (roi: "It only takes effect when
    coordinate_transformation_mode is tf_crop_and_resize")
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._reading import CROP

_OPTIONAL = 13  # the opset from which on the region may be left out


@rewrite("Resize", removes="form:Resize.region", emits="Resize", since=11, claims="nan inf")
def resize_region_empty(node: NodeView, build: Builder) -> Value:
    """Leave the region out, or empty, see the module."""
    if node.attr("coordinate_transformation_mode", "half_pixel") == CROP:
        raise Refuse("the region must not be read; a crop reads it")
    roi = node.input(1)
    if roi is None or roi.static_shape == (0,):
        raise Refuse("there must be a region; there is none")
    given = None
    if build.opset < _OPTIONAL:
        given = build.constant(np.zeros(0, np.float32))
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.Resize(node.need(0), given, node.input(2), node.input(3), **attributes)
