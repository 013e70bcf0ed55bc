"""Gather by indices in one row, from at most three axes.

What it does: Lays the indices out in a row, and the axes of the data on either side of the one that
    is indexed in one axis each where there are more than three; what is gathered gets its sizes by
    a Reshape.
Why engines need it: QNN computes a Gather to five dimensions wrongly beyond the first of its batch,
    and few from four or five. A mask of attention that transformers exports is gathered so.
Before: y = Gather <axis = 0> (x, i), where x is [20, 1] and i is [2, 1, 1, 10]
After: y = Reshape (Gather <axis = 0> (x, {...}), {2, 1, 1, 10, 1}), where {...} is [20]
When it refuses: A size is not known or 0, or there is nothing to lay out.
Accuracy: Exact.
References: measured with onnxruntime-qnn 2.7.0
    https://onnx.ai/onnx/operators/onnx__Gather.html
"""

from math import prod

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

_AXES = 3


@rewrite("Gather", removes="rank:Gather.*", emits="Gather Reshape", claims="nan inf")
def gather_by_flat_indices(node: NodeView, build: Builder) -> Value:
    """Gather rows and give them their sizes, see the module."""
    x, indices = node.need(0), node.need(1)
    axis = int(node.attr("axis", 0)) % need_rank(x, 1)
    if need_rank(indices) <= 1 and need_rank(x) <= _AXES:
        raise Refuse(f"{indices.name} is in one row already, and {x.name} has {x.rank} axes")
    sizes, places = x.static_shape, indices.static_shape
    if sizes is None or places is None:
        raise Refuse(f"the sizes of {x.name} and {indices.name} must be known")
    if 0 in (*sizes, *places):  # a Reshape would copy another size in its place
        raise Refuse(f"{x.name} and {indices.name} must have elements")
    before, after = sizes[:axis], sizes[axis + 1 :]
    if len(sizes) > _AXES:
        x, axis = build.Reshape(x, [prod(before), sizes[axis], prod(after)]), 1
    constant = build.const(indices)
    row = build.Reshape(indices, [-1]) if constant is None else constant.reshape(-1)
    return build.Reshape(build.Gather(x, row, axis=axis), [*before, *places, *after])
