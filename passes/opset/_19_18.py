"""Between opset 19 and 18.

References: Resize-19 and -18 in onnx/defs/tensor.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView
from graphfix.opset.adapting import KEEP, Adapted, adapter


def _resize(node: NodeView, build: Builder) -> Adapted:
    """Keep the node, but for align_corners with scales that give a fraction of a pixel.

    There the newer form divides by the size that the scale asks for before it is rounded. Sizes
    leave no room for two readings.
    """
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    if mode == "half_pixel_symmetric":
        raise Refuse("opset 18 has no half_pixel_symmetric")
    scales = node.input(2)
    if mode != "align_corners" or scales is None:
        return KEEP
    factors = build.need_const(scales, "scales")
    if factors.size == 0:
        return KEEP
    axes = node.attr("axes", list(range(factors.size)))
    for axis, factor in zip(axes, factors.reshape(-1), strict=True):
        size = node.need(0).dim(axis)
        wanted = float(factor) * size if size is not None else float(factor)
        if wanted != np.floor(wanted):
            raise Refuse("with align_corners, the scales give a fraction of a pixel")
    return KEEP


resize_down = adapter("Resize", 19, 18)(_resize)
resize_up = adapter("Resize", 18, 19)(_resize)
