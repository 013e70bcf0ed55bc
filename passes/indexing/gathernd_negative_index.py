"""Count the negative indices of a GatherND from the front.

What it does: Adds the size of each axis to the negative constant indices along it.
Why engines need it: MNN and OpenCV 5 read other memory there, and tract ends the process.
Before: y = GatherND (x, [[-1, 0], [1, -2]])          # x: float[2,5]
After: y = GatherND (x, [[1, 0], [1, 3]])
When it refuses: Indices that are computed or lie outside the data; an axis of unknown size along
    which some are negative.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__GatherND.html; measured on MNN 3.6.1 and tract
    0.23.9
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("GatherND", removes="form:GatherND.negative-indices", emits="GatherND")
def gathernd_negative_index(node: NodeView, build: Builder) -> Value:
    """Rewrite one GatherND."""
    data = node.need(0)
    indices = build.need_const(node.input(1), "the indices")
    if not (indices < 0).any():
        raise Refuse("an index must be negative; none is")
    first = int(node.attr("batch_dims", 0))
    front = indices.copy()
    for place in range(indices.shape[-1]):
        column, size = front[..., place], data.dim(first + place)
        if not (column < 0).any():
            continue
        if size is None:
            raise Refuse(f"the size of axis {first + place} must be known; some index is negative")
        front[..., place] = np.where(column < 0, column + size, column)
        if (front[..., place] < 0).any():
            raise Refuse("every index must lie inside the data; one lies before it")
    return build.GatherND(data, front, batch_dims=first or None)
