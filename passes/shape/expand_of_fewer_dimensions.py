"""Repeat elements between two reshapes in the fewest dimensions that keep the axes apart.

What it does: Where a tensor is given axes of size 1, repeated along them and reshaped, neighbouring
    axes that are repeated become one axis, and so do those that are not.
Why engines need it: QNN has no tensor of more than five dimensions; einops repeats patches with
    six.
Before:
    a = Reshape <[2, 3, 2, 1, 3, 1]> (x)                        # x: [2, 3, 2, 3]
    b = Expand <[2, 3, 2, 2, 3, 2]> (a)
    y = Reshape <[2, 3, 4, 6]> (b)
After:
    a = Reshape <[12, 1, 3, 1]> (x)
    b = Expand <[12, 2, 3, 2]> (a)
    y = Reshape <[2, 3, 4, 6]> (b)
When it refuses: The tensor does not come out of an Expand that nobody else reads; sizes are
    unknown, or one is 0; the dimensions do not become fewer.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__Expand.html; measured with onnxruntime-qnn 2.7.0
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._runs import runs_of

_RESHAPING = ("Reshape", "Squeeze", "Unsqueeze")


@rewrite(
    "Reshape",
    removes="rank:Expand.* rank:Reshape.* rank:Unsqueeze.*",
    emits="Expand Reshape",
    since=8,
    claims="nan inf",
)
def expand_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Repeat runs of axes, see the module."""
    wide, last = node.need(0), node.output(0)
    maker = wide.producer
    if maker is None or maker.op != "Expand" or len(wide.consumers) != 1 or wide.is_graph_output:
        raise Refuse(f"{wide.name} must come out of an Expand that nobody else reads")
    x, after = maker.need(0), wide.static_shape
    before, ends = x.static_shape, None if last is None else last.static_shape
    if before is None or after is None or ends is None or 0 in after:
        raise Refuse("all sizes must be known and none of them 0")
    full = (1,) * (len(after) - len(before)) + before
    kinds = [one != two for one, two in zip(full, after, strict=True)]
    runs = runs_of(kinds, after)
    if not runs or len(runs) >= len(after):
        raise Refuse("neighbouring axes must be of one kind; none are")
    while x.producer is not None and x.producer.op in _RESHAPING:
        x = x.producer.need(0)
    narrow = build.Reshape(x, np.array([1 if kind else size for kind, size in runs], np.int64))
    repeated = build.Expand(narrow, np.array([size for _, size in runs], np.int64))
    return build.Reshape(repeated, np.array(ends, np.int64))
