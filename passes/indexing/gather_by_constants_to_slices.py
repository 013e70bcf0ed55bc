"""Write a Gather by several constant indices as slices that are joined.

What it does: Indices that follow each other become one Slice, and the slices are joined along the
    axis in the order of the indices. Indices of another rank than one are laid out after it by a
    Reshape.
Why engines need it: ncnn takes the first of several indices alone, and says nothing.
Before: y = Gather <axis = 1> (x, {0, 1, 4})
After:
    a = Slice (x, {0}, {2}, {1})
    b = Slice (x, {4}, {5}, {1})
    y = Concat <axis = 1> (a, b)
When it refuses: The indices are computed, none, or make more than 64 slices; the size of the axis
    is not known where an index counts from its end; other sizes are not known where the indices
    have another rank than one.
Accuracy: Exact. An index beyond the axis, which is an error in ONNX, is not found any more.
References: measured on ncnn 1.0.20261020 and pnnx 20261020
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank, rewrite

_MOST = 64


@rewrite("Gather", removes="form:Gather.indices", emits="Concat Reshape Slice", claims="nan inf")
def gather_by_constants_to_slices(node: NodeView, build: Builder) -> Value:
    """Cut the runs out and join them, see the module."""
    x, axis = node.need(0), int(node.attr("axis", 0))
    indices = build.need_const(node.need(1), "the indices")
    axis %= need_rank(x)
    flat = _from_the_front(indices.reshape(-1), x.dim(axis))
    ends = np.flatnonzero(np.diff(flat) != 1) + 1
    runs = [run for run in np.split(flat, ends) if run.size]
    if not 0 < len(runs) <= _MOST:
        raise Refuse(f"the indices must make 1 to {_MOST} slices; they make {len(runs)}")
    parts = [
        build.Slice(x, starts=[int(run[0])], ends=[int(run[-1]) + 1], axes=[axis]) for run in runs
    ]
    joined = build.Concat(*parts, axis=axis) if len(parts) > 1 else parts[0]
    if indices.ndim == 1:
        return joined
    if x.static_shape is None:
        raise Refuse(f"the sizes of {x.name} must be known")
    sizes = [*x.static_shape[:axis], *indices.shape, *x.static_shape[axis + 1 :]]
    return build.Reshape(joined, sizes)


def _from_the_front(indices: Array, size: int | None) -> Array:
    if size is None and (indices < 0).any():
        raise Refuse("the size of the axis must be known where an index counts from its end")
    return np.where(indices < 0, indices + (size or 0), indices).astype(np.int64)
