"""Count the negative indices of a Gather from the front.

What it does: Adds the size of the axis to negative constant indices; where the size is not known, a
    single negative index becomes a Slice, with a Squeeze where the index is a scalar.
Why engines need it: TensorRT before 8.2 hands constant indices to its layer as they are, where -1
    is the row before the first one.
Before: y = Gather <axis = 1> (x, -1)          # x: float[2,5]
After: y = Gather <axis = 1> (x, 4)
When it refuses: Indices that are computed or lie outside the data; several indices of which some
    are negative along an axis of unknown size.
Accuracy: Exact.
References: onnx/onnx-tensorrt 7.1 builtin_op_importers.cpp:976-990
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

from ._reading import constant_indices, cut, gather_axis


@rewrite("Gather", removes="form:Gather.negative-indices", emits="Gather Slice Squeeze")
def gather_negative_index(node: NodeView, build: Builder) -> Value:
    """Rewrite one Gather."""
    data = node.need(0)
    indices = constant_indices(node, build)
    if not (indices < 0).any():
        raise Refuse("an index must be negative; none is")
    axis = gather_axis(node)
    size = data.dim(axis)
    if size is not None:
        front = np.where(indices < 0, indices + size, indices).astype(indices.dtype)
        return build.Gather(data, front, axis=axis)
    need_rank(data)
    if indices.size != 1 or indices.ndim > 1:
        raise Refuse(
            "the size of the axis must be known where some of several indices are negative"
        )
    index = int(indices.reshape(()))
    part = cut(build, data, index, index, axis)
    return build.Squeeze(part, axes=[axis]) if indices.ndim == 0 else part
