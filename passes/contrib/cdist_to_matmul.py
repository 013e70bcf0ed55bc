"""Take CDist apart.

What it does: Writes squared distances of all rows as a^2 + b^2 - 2 a b', not below 0, and the root
    where the metric asks for it.
Why engines need it: It is an operator of onnxruntime alone; other engines do not know it.
Before: y = com.microsoft.CDist <metric = "euclidean"> (a, b)
After:
    s = Add (Sub (ReduceSum (Mul (a, a)), Mul (MatMul (a, Transpose (b)), 2)), ReduceSum (b b)')
    y = Sqrt (Relu (s))
When it refuses: The dtype or a rank is unknown, or the metric is another.
Accuracy: Exact up to the order of summation, as onnxruntime sums; distances near 0 are what is left
    of large squares, on both sides.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.CDist;
    onnxruntime/contrib_ops/cpu/cdist.h
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._typing import need_float

_DISTANCE = "com.microsoft::CDist"
_METRICS = ("euclidean", "sqeuclidean")


@rewrite(_DISTANCE, emits="Add MatMul Mul ReduceSum Relu Sqrt Sub Transpose")
def cdist_to_matmul(node: NodeView, build: Builder) -> Value:
    """Distances of all rows by one product, see the module."""
    a, b = node.need(0), node.need(1)
    need_float(a)
    metric = str(node.attr("metric", "sqeuclidean"))
    if metric not in _METRICS or a.rank != 2 or b.rank != 2:
        raise Refuse(f"both must be matrices and the metric euclidean; it is {metric}")
    squares = [build.ReduceSum(build.Mul(x, x), axes=[1], keepdims=1) for x in (a, b)]
    product = build.MatMul(a, build.Transpose(b, perm=[1, 0]))
    total = build.Add(build.Mul(product, -2.0), squares[0])
    total = build.Relu(build.Add(total, build.Transpose(squares[1], perm=[1, 0])))
    return build.Sqrt(total) if metric == "euclidean" else total
