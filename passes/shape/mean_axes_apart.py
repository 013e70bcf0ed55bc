"""Let ReduceMean drop its axes and put them back, or keep them and drop them.

What it does: Of a ReduceMean with keepdims=1 makes one with keepdims=0 and an Unsqueeze, and of one
    with keepdims=0 one with keepdims=1 and a Squeeze.
Why engines need it: onnxruntime takes means for those of a layer norm without looking at their axes
    (until 1.15) or at keepdims (still in 1.32); with a node in between it does not look for one.
Before: v = ReduceMean <axes = {1}, keepdims = 0> (p)
After:
    m = ReduceMean <axes = {1}, keepdims = 1> (p)
    v = Squeeze (m, {1})
When it refuses: The axes are not known, or the rank is not; the axes are dropped or put back by
    the next node already.
Accuracy: Exact: no number changes.
References: https://github.com/microsoft/onnxruntime/issues/30513;
    https://github.com/microsoft/onnxruntime/pull/15844
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, axes_of, needed, respell, rewrite


@rewrite(
    "ReduceMean",
    removes="form:ReduceMean.fused",
    emits="ReduceMean Squeeze Unsqueeze",
    claims="nan inf",
)
def mean_axes_apart(node: NodeView, build: Builder) -> Value:
    """Turn keepdims round, see the module."""
    rank = needed(node.need(0).rank, "the rank must be known")
    written = axes_of(node.input(1), "the axes", build) or node.attr("axes")
    if not written:
        raise Refuse("the axes must be written")
    axes = sorted(int(axis) % rank for axis in written)
    kept = bool(node.attr("keepdims", 1))
    result = node.output(0)
    readers = {user.op for user in result.consumers} if result is not None else set[str]()
    if readers == {"Squeeze" if kept else "Unsqueeze"}:
        raise Refuse("no node must drop or restore the axes already; one does")
    (mean, *_) = respell(node, build, keepdims=int(not kept))
    assert mean is not None
    if kept:
        return build.Unsqueeze(mean, axes=axes)
    return build.Squeeze(mean, axes=axes)
