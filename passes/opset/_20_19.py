"""Between opset 20 and 19.

References: GridSample-20 and -16 in onnx/defs/tensor, DFT-20 and -17 in onnx/defs/math.
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView
from graphfix.opset.adapting import Adapted, adapter, need_rank, respell

_OLDER = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
_NEWER = {older: newer for newer, older in _OLDER.items()}


@adapter("GridSample", 20, 19)
def grid_sample_down(node: NodeView, build: Builder) -> Adapted:
    """The modes had other names, and images alone were sampled."""
    if need_rank(node.need(0)) != 4:
        raise Refuse("opset 19 samples inputs of rank 4 alone")
    return respell(node, build, mode=_OLDER[node.attr("mode", "linear")])


@adapter("GridSample", 19, 20)
def grid_sample_up(node: NodeView, build: Builder) -> Adapted:
    """The modes have other names."""
    return respell(node, build, mode=_NEWER[node.attr("mode", "bilinear")])


@adapter("DFT", 20, 19)
def dft_down(node: NodeView, build: Builder) -> Adapted:
    """The axis was an attribute, with another default."""
    x, given = node.need(0), node.input(2)
    axis = -2 if given is None else int(build.need_const(given, "axis").reshape(()))
    if axis < 0:
        axis += need_rank(x)
    return respell(node, build, axis=axis)


@adapter("DFT", 19, 20)
def dft_up(node: NodeView, build: Builder) -> Adapted:
    """The axis became an input, with another default."""
    return respell(node, build, axis=np.array(node.attr("axis", 1), dtype=np.int64))
