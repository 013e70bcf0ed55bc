"""Between opset 24 and 23.

References: TensorScatter-24 in onnx/defs/tensor, Attention-24 and -23 in onnx/defs/nn.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, need_rank
from graphfix.opset.adapters._run_time import size_along
from graphfix.opset.adapting import Adapted, adapter


@adapter("TensorScatter", 24, 23)
def tensor_scatter_down(node: NodeView, build: Builder) -> Adapted:
    """Each place of the cache takes the update that is written there, or keeps what it had."""
    past, update, start = node.need(0), node.need(1), node.input(2)
    rank = need_rank(past)
    axis = int(node.attr("axis", -2)) % rank
    if update.static_shape is not None and 0 in update.static_shape:
        raise Refuse("the update must not be empty; it is")
    scalar = np.zeros(0, dtype=np.int64)
    size = size_along(past, axis, build)
    zero, one = (build.constant(np.array(n, dtype=np.int64)) for n in (0, 1))
    places = build.Range(zero, build.Reshape(size, scalar), one)
    places = build.Reshape(places, [-1] + [1] * (rank - axis - 1))
    if start is not None:
        first = build.Reshape(build.Cast(start, to=TensorProto.INT64), [-1] + [1] * (rank - 1))
        places = build.Sub(places, first)
    if node.attr("mode", "linear") == "circular":
        places = build.Mod(places, size)
    written = build.And(
        build.Not(build.Less(places, 0)), build.Less(places, size_along(update, axis, build))
    )
    taken = build.Where(written, places, build.constant(np.array(0, dtype=np.int64)))
    taken = build.Expand(taken, build.Shape(past))
    if not update.dim(axis):
        # Where nothing is written, there has to be something that is not taken.
        ends = [np.array([end], dtype=np.int64) for end in (0, 1, axis)]
        update = build.Concat(update, build.Slice(past, *ends), axis=axis)
    return build.Where(written, build.GatherElements(update, taken, axis=axis), past)
