"""Write SoftmaxCrossEntropyLossInternal as ONNX's SoftmaxCrossEntropyLoss.

What it does: Takes the label to ignore, which is an input here, for the attribute, and divides the
    sum for a mean, which is 0 where no label counts. float16 and bfloat16 are computed in float32.
Why engines need it: onnxruntime's training writes this operator into the models that it makes; only
    a build of onnxruntime for training has a kernel for it.
Before: y, p = com.microsoft.SoftmaxCrossEntropyLossInternal (scores, labels, weights, ignore_index)
After:
    total, p = SoftmaxCrossEntropyLoss <ignore_index = -100, reduction = "sum"> (scores, labels)
    y = Div (total, Where (Equal (count, 0), 1, count))
When it refuses: The label to ignore is not a constant, the opset is below 13, or a type or the rank
    of the labels is unknown.
Accuracy: Exact up to rounding.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/loss/softmax_cross_entropy_loss.cc
"""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

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

_NAME = "com.microsoft::SoftmaxCrossEntropyLossInternal"
_WEIGHT, _IGNORE = 2, 3


def numbers(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute it in float64."""
    scores, labels, weights, ignored_label = [*inputs, None, None][:4]
    assert scores is not None, "its page wants it"
    assert labels is not None, "its page wants it"
    if labels.shape != (scores.shape[0], *scores.shape[2:]):
        raise ValueError(f"{labels.shape} labels for scores of {scores.shape}")
    work = scores.astype(np.float64)
    away = work - work.max(1, keepdims=True)
    chances = away - np.log(np.exp(away).sum(1, keepdims=True))
    counts = labels != (IGNORED if ignored_label is None else int(ignored_label.reshape(-1)[0]))
    index = np.where(counts, labels, 0)
    share = np.where(counts, 1.0 if weights is None else weights.astype(np.float64)[index], 0.0)
    loss = -np.take_along_axis(chances, np.expand_dims(index, 1), 1)[:, 0] * share
    reduction = attributes.get("reduction", "mean")
    if reduction != "none":
        divisor = float(share.sum()) if reduction == "mean" else 1.0
        loss = np.asarray(loss.sum() / (divisor or 1.0))
    wanted = int(attributes.get("output_type", 0))
    kind = helper.tensor_dtype_to_np_dtype(wanted) if wanted else scores.dtype
    return loss.astype(kind), chances.astype(kind)


@rewrite(_NAME, emits=f"Div SoftmaxCrossEntropyLoss {EMITS}", since=13, evaluate=numbers)
def cross_entropy_internal_to_onnx(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write ONNX's operator, see the module."""
    scores, labels, weights = node.need(0), node.need(1), node.input(_WEIGHT)
    need_float(scores)
    need_type(labels, (TensorProto.INT32, TensorProto.INT64))
    ignored = ignored_label(node, build, _IGNORE)
    reduction = node.attr("reduction", "mean")
    if reduction == "mean" and not labels.rank:
        raise Refuse(f"the rank of {labels.name} must be known; it is {labels.rank}")
    given = [wide(build, x) for x in (scores, labels, weights) if x is not None]
    loss, chances = build.multi(
        "SoftmaxCrossEntropyLoss",
        *given,
        outputs=2,
        reduction="sum" if reduction == "mean" else reduction,
        ignore_index=ignored,
    )
    if reduction == "mean":
        part = shares(build, labels, ignored, weights)
        loss = build.Div(loss, like(build, loss, divisor(build, part, labels.rank or 0)))
    kind = int(node.attr("output_type", 0)) or scores.elem_type
    cast = given[0].elem_type != kind
    results = tuple(build.Cast(x, to=kind) if cast else x for x in (loss, chances))
    return results[: len(node.outputs)]
