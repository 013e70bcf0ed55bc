"""Write the gradient of SoftmaxCrossEntropyLoss as the chances less the right class.

What it does: Takes the chances, less 1 at the class that is right, times what comes from the end,
    which a mean shares out among the labels (or their weights) that count. Labels that are to be
    ignored get 0. Of the internal form, which takes the label to ignore as an input, a bias is
    added.
Why engines need it: onnxruntime's training writes this operator into the models that it makes; only
    a build of onnxruntime for training has kernels for it.
Before: dx = com.microsoft.SoftmaxCrossEntropyLossGrad <reduction = "mean"> (dy, log_prob, label)
After:
    hits = Cast (Equal (Unsqueeze (label, [1]), [0, 1, ..., classes - 1]))
    counts = Cast (Not (Equal (label, ignore_index)))
    total = ReduceSum (counts)
    each = Mul (counts, Div (dy, Where (Equal (total, 0), 1, total)))
    dx = Mul (Sub (Exp (log_prob), hits), Unsqueeze (each, [1]))
When it refuses: The number of classes, the rank or a type is unknown; the label to ignore is an
    input that is no constant; what is added is not known to be of the shape of the chances.
Accuracy: Exact up to rounding; float16 is computed in float32.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/loss/softmax_cross_entropy_loss.cc: without an
    ignore_index the label -1 is ignored
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_type,
    rewrite,
)

from ._label_shares import EMITS, IGNORED, divisor, ignored_label, shares
from ._means import like, wide
from ._typing import need_float

_INTERNAL = "SoftmaxCrossEntropyLossInternalGrad"
_NAMES = ("com.microsoft::SoftmaxCrossEntropyLossGrad", f"com.microsoft::{_INTERNAL}")
_WEIGHT, _IGNORE, _BIAS = 3, 4, 5


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute it label by label, in float64."""
    given = [*inputs, *[None] * (_BIAS + 1 - len(inputs))]
    dy, chances, labels, weights, ignored_label, bias = given[: _BIAS + 1]
    assert dy is not None, "its page wants it"
    assert chances is not None, "its page wants it"
    assert labels is not None, "its page wants it"
    if labels.shape != (chances.shape[0], *chances.shape[2:]):
        raise ValueError(f"{labels.shape} labels for chances of {chances.shape}")
    ignored = (
        int(attributes.get("ignore_index", IGNORED))
        if ignored_label is None
        else int(ignored_label)
    )
    reduction = attributes.get("reduction", "mean")
    rows = np.moveaxis(chances.astype(np.float64), 1, -1).reshape(-1, chances.shape[1])
    flat = labels.reshape(-1)
    share = [
        0.0 if at == ignored else 1.0 if weights is None else float(weights[at]) for at in flat
    ]
    total = float(np.sum(share))
    after = np.broadcast_to(dy.reshape(-1).astype(np.float64), flat.shape)
    if reduction == "mean" and total:
        after = after / total
    result = np.zeros_like(rows)
    for row, (label, part) in enumerate(zip(flat, share, strict=True)):
        if label != ignored:
            hit = np.arange(rows.shape[1]) == label  # of none where it is no class
            result[row] = (np.exp(rows[row]) - hit) * part * after[row]
    moved = result.reshape(*np.moveaxis(chances, 1, -1).shape)
    kind = np.float32 if attributes.get("output_type", 0) == TensorProto.FLOAT else chances.dtype
    found = np.moveaxis(moved, -1, 1)
    return ((found if bias is None else found + bias.reshape(found.shape)).astype(kind),)


@rewrite(_NAMES, emits=f"Add Div Exp Reshape Sub Unsqueeze {EMITS}", evaluate=numbers)
def cross_entropy_gradient_to_arithmetic(node: NodeView, build: Builder) -> Value:
    """Write the chances less the right class, see the module."""
    dy, chances, labels = node.need(0), node.need(1), node.need(2)
    need_float(dy)
    need_float(chances)
    need_type(labels, (TensorProto.INT32, TensorProto.INT64))
    classes = chances.dim(1) if chances.rank else None
    if not classes or labels.rank is None or labels.rank + 1 != chances.rank:
        raise Refuse(
            f"the number of classes must be known, and {labels.name} have one axis less; it is "
            f"{classes or 'unknown'}, the ranks are {chances.rank} and {labels.rank}"
        )
    reduction = node.attr("reduction", "mean")
    if reduction == "none" and dy.rank != labels.rank:
        raise Refuse(f"{dy.name} must have a number for each label; its rank is {dy.rank}")
    kind = labels.dtype
    ignored = ignored_label(node, build, _IGNORE)
    part = shares(build, labels, ignored, node.input(_WEIGHT))
    after = wide(build, dy)
    if reduction != "none" and dy.rank:
        after = build.Reshape(after, np.array([], np.int64))
    if reduction == "mean":
        after = build.Div(after, divisor(build, part, labels.rank))
    each = build.Unsqueeze(build.Mul(part, after), axes=[1])
    shape = [1, classes, *[1] * (labels.rank - 1)]
    numbered = build.constant(np.arange(classes, dtype=kind).reshape(shape))
    hits = build.Cast(
        build.Equal(build.Unsqueeze(labels, axes=[1]), numbered), to=TensorProto.FLOAT
    )
    result = build.Mul(build.Sub(build.Exp(wide(build, chances)), hits), each)
    bias = node.input(_BIAS)
    if bias is not None:
        if bias.static_shape is None or bias.static_shape != chances.static_shape:
            raise Refuse(f"{bias.name} must be known to be of the shape of {chances.name}")
        result = build.Add(result, wide(build, bias))
    wanted = int(node.attr("output_type", 0))
    return build.Cast(result, to=wanted) if wanted else like(build, chances, result)
