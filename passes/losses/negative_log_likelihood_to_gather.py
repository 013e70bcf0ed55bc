"""Write NegativeLogLikelihoodLoss with GatherElements.

What it does: Picks the element of each target's class, negates and weighs it, and sums or averages.
    A target that is to be ignored picks class 0 with weight 0.
Why engines need it: No version of TensorRT has the operator.
Before: y = NegativeLogLikelihoodLoss <reduction = "mean"> (x, target, weight)
After:
    loss = Neg (Squeeze (GatherElements <axis = 1> (x, Unsqueeze (target, [1])), [1]))
    w = Gather (weight, target)
    y = Div (ReduceSum (Mul (loss, w)), ReduceSum (w))
When it refuses: The element type is unknown, or the reduction is none of those that ONNX has.
Accuracy: Exact up to the order of summation; what is at an ignored target may be infinite.
    Targets outside the classes are errors, before and after.
References: https://onnx.ai/onnx/operators/onnx__NegativeLogLikelihoodLoss.html; operators.md of
    onnx-tensorrt, release 8.6
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "NegativeLogLikelihoodLoss",
    removes="op:NegativeLogLikelihoodLoss",
    emits=(
        "Cast Div Equal Gather GatherElements Mul Neg Not ReduceMean ReduceSum Squeeze Unsqueeze "
        "Where"
    ),
)
def negative_log_likelihood_to_gather(node: NodeView, build: Builder) -> Value:
    """Pick, weigh and reduce, see the module."""
    x, target, weight = node.need(0), node.need(1), node.input(2)
    whole = target.dtype
    if x.dtype is None or whole is None:
        raise Refuse(f"the dtypes of {x.name} and {target.name} must be known")
    factor: Value | None = None
    counted: Value | None = None
    ignored = node.attr("ignore_index")
    if ignored is not None:
        counted = build.Not(build.Equal(target, whole.type(int(ignored))))
        target = build.Where(counted, target, whole.type(0))
        factor = build.Cast(counted, to=x.elem_type)
    picked = build.GatherElements(x, build.Unsqueeze(target, axes=[1]), axis=1)
    loss = build.Neg(build.Squeeze(picked, axes=[1]))
    if weight is not None:
        own = build.Gather(weight, target, axis=0)
        loss = build.Mul(loss, own)
        factor = own if factor is None else build.Mul(own, factor)
    if counted is not None:
        loss = build.Where(counted, loss, np.zeros((), x.dtype))  # not times 0: x may be infinite
    how = node.attr("reduction", "mean")
    if how not in ("mean", "none", "sum"):
        raise Refuse(f"the reduction must be mean, sum or none; it is {how!r}")
    if how == "none":
        return loss
    if how == "sum":
        return build.ReduceSum(loss, keepdims=0)
    if factor is None:
        return build.ReduceMean(loss, keepdims=0)
    return build.Div(build.ReduceSum(loss, keepdims=0), build.ReduceSum(factor, keepdims=0))
