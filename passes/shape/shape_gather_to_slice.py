"""Take elements of a shape vector with Slice instead of Gather.

What it does: Turns Gather with constant indices on a vector of integers into Slices, one for each
    run of consecutive indices, put together by Concat; Squeeze follows where the index is a scalar.
Why engines need it: TensorRT 6 with full dims refuses "Cannot perform gather on a shape tensor!".
Before:
    s = Shape (x)
    h = Gather <axis = 0> (s, 2)
After:
    s = Shape (x)
    a = Slice (s, {2}, {3}, {0})
    h = Squeeze <axes = [0]> (a)
When it refuses: Indices that are computed, have two or more dimensions, are none, or lie outside
    the vector.
Accuracy: Exact.
References: onnx/onnx-tensorrt 6.0-full-dims builtin_op_importers.cpp,
    DEFINE_BUILTIN_OP_IMPORTER(Gather) https://onnx.ai/onnx/operators/onnx__Gather.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._reading import constant_indices, cut, pieces


@rewrite(
    "Gather",
    removes="shape:Gather.shape-tensor form:Gather.negative-indices",
    emits="Slice Concat Squeeze",
)
def shape_gather_to_slice(node: NodeView, build: Builder) -> Value:
    """Rewrite one Gather on a vector."""
    data = node.need(0)
    if data.rank != 1:
        raise Refuse("the data must be a vector; it is not known to be")
    if data.type_name not in ("int32", "int64"):
        raise Refuse(f"the data must be a shape vector, int32 or int64; it is {data.type_name}")
    indices = constant_indices(node, build)
    if indices.ndim > 1 or indices.size == 0:
        raise Refuse(
            "the indices must be a scalar or a vector that is not empty; their shape is "
            f"{list(indices.shape)}"
        )
    runs = pieces([int(index) for index in indices.reshape(-1)])
    parts = [cut(build, data, first, last, 0) for first, last in runs]
    result = parts[0] if len(parts) == 1 else build.Concat(*parts, axis=0)
    return build.Squeeze(result, axes=[0]) if indices.ndim == 0 else result
