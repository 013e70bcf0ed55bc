"""Write out what a reduction with no axes reduces: nothing, or every axis.

What it does:
    Removes ReduceSum, ReduceMean, ReduceMax, ReduceMin and ReduceProd where
    `noop_with_empty_axes` makes them do nothing, and names all axes where an empty list of axes
    means all of them.
Why engines need it: TensorRT before 10.0 never reads `noop_with_empty_axes` and reduces everything;
    ReduceSum with an empty axes tensor reduces nothing there, where ONNX reduces everything.
Before:
    y = ReduceSum <noop_with_empty_axes = 1> (x)
    z = ReduceSum <keepdims = 0> (x, {})         # x: float[2,3]
After:
    y = Identity (x)
    z = ReduceSum <keepdims = 0> (x, {0, 1})
When it refuses: Axes that are computed and may be empty; an unknown rank; ReduceL1, ReduceLogSum
    and others that ONNX does not say to be idle without axes in every version.
Accuracy: Exact: what reduces stays, and what onnxruntime makes of large integers (it sums and
    multiplies them through float64) with it.
References: https://onnx.ai/onnx/operators/onnx__ReduceSum.html onnx/onnx-tensorrt 8.6
    onnx2trt_utils.cpp:1535-1560
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

OPS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd")


@rewrite(
    OPS,
    removes=(
        *(f"form:{op}.noop_with_empty_axes" for op in OPS),
        *(f"form:{op}.empty-axes" for op in OPS),
    ),
    emits=OPS,
)
def reduce_axes_explicit(node: NodeView, build: Builder) -> Value:
    """Rewrite one reduction."""
    data, axes = node.need(0), node.input(1)
    if node.attr("axes"):
        raise Refuse("the axes must be left out; they are given")
    if axes is not None and build.need_const(axes, "the list of axes").size:
        raise Refuse("the axes must be left out; they are given")
    if node.attr("noop_with_empty_axes", 0) or data.rank == 0:
        return data
    rank = need_rank(data)
    if axes is None:
        raise Refuse(
            "the axes must be an empty list; there are none, and everything is reduced already"
        )
    emit = getattr(build, node.op)
    result: Value = emit(data, axes=list(range(rank)), keepdims=int(node.attr("keepdims", 1)))
    return result
