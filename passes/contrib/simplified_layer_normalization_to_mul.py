"""Take SimplifiedLayerNormalization apart.

What it does: Divides the trailing axes by their root mean square and multiplies by the scale. The
    reciprocal of the root is given where it is used.
Why engines need it: onnxruntime writes it into the standard domain, where ONNX has no such
    operator; the types after it are worked out here.
Before: y = SimplifiedLayerNormalization <axis = -1, epsilon = 1e-5> (x, scale)
After: y = Mul (Div (x, Sqrt (Add (ReduceMean (Mul (x, x)), 1e-5))), scale)
When it refuses: The rank or the dtype is unknown, the scale has another dtype, or a size that is
    normalised is unknown or zero.
Accuracy: Exact up to the order of summation; float16 and bfloat16 are computed in float32.
References: microsoft/onnxruntime onnxruntime/core/graph/contrib_ops/contrib_defs.cc,
    onnxruntime/core/providers/cpu/nn/layer_norm_impl.cc
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, rewrite

from ._means import like, mean, wide
from ._typing import need_float

_DEFAULT_EPSILON = 1e-5


@rewrite(
    "SimplifiedLayerNormalization",
    removes="op:SimplifiedLayerNormalization",
    emits="Add Cast Div Mul Reciprocal ReduceMean ReduceSum Sqrt",
)
def simplified_layer_normalization_to_mul(
    node: NodeView, build: Builder
) -> tuple[Value | None, ...]:
    """Normalise, see the module."""
    x, scale = node.need(0), node.need(1)
    need_float(x)
    rank = need_rank(x)
    if scale.elem_type != x.elem_type:
        raise Refuse(f"{scale.name} must be {x.type_name}, as {x.name} is; it is {scale.type_name}")
    if int(node.attr("stash_type", TensorProto.FLOAT)) != TensorProto.FLOAT:
        raise Refuse("stash_type must be float32, as onnxruntime computes the statistics")
    axis = int(node.attr("axis", -1))
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    axes = list(range(axis % rank, rank))
    known = [size for size in (x.dim(place) for place in axes) if size]
    if len(known) < len(axes):
        raise Refuse("the sizes that are normalised must be known and not 0")
    data, factor = wide(build, x), wide(build, scale)
    square = mean(build, build.Mul(data, data), axes)
    root = build.Sqrt(build.Add(square, float(node.attr("epsilon", _DEFAULT_EPSILON))))
    results: list[Value | None] = [like(build, x, build.Mul(build.Div(data, root), factor))]
    statistics = node.output(1)
    if statistics is not None:
        results.append(build.Reciprocal(root) if statistics.is_used else None)
    return tuple(results[: len(node.outputs)])
