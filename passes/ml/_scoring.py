"""What becomes of scores: transformed, and turned into the label of the class that wins.

In the order and by the formulas of microsoft/onnxruntime: onnxruntime/core/providers/cpu/ml/
ml_common.h (ComputeLogistic, ComputeSoftmaxZero, ComputeProbit, write_scores).
"""

from collections.abc import Sequence
from math import sqrt
from typing import TypeAlias

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, InferredType, NodeView, Refuse, Value

Inferred: TypeAlias = Sequence[InferredType | None]
_PI = 3.14159
_NEXT_TO_HALF = "PROBIT of scores next to a half: the formula cancels there, to 1e-4 of a result"
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
TRANSFORM_EMITS = (
    "Abs Add Cast Div Exp Greater Less Log Mul Neg ReduceMax ReduceSum Sigmoid Softmax Sqrt Sub "
    "Where"
)
LABEL_EMITS = "ArgMax Cast Equal Gather Greater Reshape"


def transformed(build: Builder, scores: Value, how: str, *, at_once: bool = False) -> Value:
    """Transform the scores of each row: [rows, classes].

    Args:
        build: The builder.
        scores: The scores.
        how: The transform.
        at_once: Whether onnxruntime takes the scores of all rows at once, as linear models do
            (batched_update_scores_inplace): its LOGISTIC is what Sigmoid computes then.

    Raises:
        Refuse: The transform is none of ONNX.
    """
    match how:
        case "NONE":
            return scores
        case "SOFTMAX":
            return build.Softmax(scores, axis=1)
        case "LOGISTIC":
            return build.Sigmoid(scores) if at_once else _logistic(build, scores)
        case "SOFTMAX_ZERO":
            return _softmax_zero(build, scores)
        case "PROBIT":
            return _probit(build, scores)
        case _:
            raise Refuse(f"the scores must be transformed as ONNX says; they say {how}")


def transformed_targets(
    build: Builder, total: Value, targets: int, how: str, *, at_once: bool = False
) -> Value:
    """Transform what is no classes: [rows, targets].

    Raises:
        Refuse: The transform is none of ONNX, or is of a single target and none that onnxruntime
            does then.
    """
    if targets == 1 and how not in ("NONE", "PROBIT"):
        raise Refuse(
            f"post_transform of a single target must be NONE or PROBIT; it is {how},"
            " which onnxruntime ignores"
        )
    return transformed(build, total, how, at_once=at_once)


def _logistic(build: Builder, scores: Value) -> Value:
    """Logistic of the size of a score, taken from 1 for a negative one (ComputeLogistic).

    Next to 0 the difference from 1 has other last digits than what Sigmoid gives.
    """
    one = np.ones((), scores.dtype)
    upper = build.Div(one, build.Add(build.Exp(build.Neg(build.Abs(scores))), one))
    # Exact, as the result is at least a half; below opset 9 there is no Where.
    below = build.Cast(build.Less(scores, 0.0), to=scores.elem_type)
    return build.Add(upper, build.Mul(below, build.Sub(one, build.Add(upper, upper))))


def _softmax_zero(build: Builder, scores: Value) -> Value:
    """Softmax that leaves zeros where they are, and out of the sum."""
    most = build.ReduceMax(scores, axes=[1], keepdims=1)
    counts = build.Greater(build.Abs(scores), 1e-7)
    raised = build.Exp(build.Sub(scores, most))
    counted = build.Mul(raised, build.Cast(counts, to=scores.elem_type))
    total = build.ReduceSum(counted, axes=[1], keepdims=1)
    small = build.Mul(scores, build.Exp(build.Neg(most)))
    return build.Div(build.Where(counts, raised, small), total)


def _probit(build: Builder, scores: Value) -> Value:
    """Winitzki's formula, which onnxruntime has in float32 and with this much of pi."""
    build.declare(APPROXIMATE, _NEXT_TO_HALF)
    if scores.elem_type != TensorProto.FLOAT:
        scores = build.Cast(scores, to=TensorProto.FLOAT)
    x = build.Sub(build.Mul(scores, 2.0), 1.0)
    log = build.Log(build.Mul(build.Add(build.Neg(x), 1.0), build.Add(x, 1.0)))
    v = build.Add(build.Mul(log, 0.5), 2 / (_PI * 0.147))
    inner = build.Sub(build.Mul(v, v), build.Mul(log, 1 / 0.147))
    size = build.Sqrt(build.Sub(build.Sqrt(inner), v))
    signed = build.Where(build.Less(x, 0.0), build.Neg(size), size)
    return build.Mul(signed, sqrt(2))


def label_of(build: Builder, classes: Value, labels: list[int]) -> Value:
    """Return the labels of classes, which are given by their number: int64."""
    if labels == [*range(len(labels))]:
        return build.Cast(classes, to=TensorProto.INT64) if _is_narrow(classes) else classes
    return build.Gather(build.constant(np.array(labels, np.int64)), classes, axis=0)


def _is_narrow(value: Value) -> bool:
    return value.elem_type != TensorProto.INT64


def labels_of(node: NodeView, names: tuple[str, str]) -> list[int] | None:
    """Return the labels of the classes; None where they are texts that nothing reads.

    Args:
        node: The classifier.
        names: The attributes of integers and of texts.

    Raises:
        Refuse: There are none, or the texts are read.
    """
    whole: list[int] = list(node.attr(names[0], []))
    texts = list(node.attr(names[1], []))
    if bool(whole) == bool(texts):
        raise Refuse("the classes must have labels, either integers or texts; they have not")
    label = node.output(0)
    if texts and label is not None and label.is_used:
        raise Refuse(
            "the labels must be integers; they are texts, which no tensor of an engine holds. "
            "--allow-io-change gives the number of the class instead, where an output is made of it"
        )
    return None if texts else whole


def rows_of_numbers(build: Builder, x: Value, kind: TensorProto.DataType) -> Value:
    """Return rows in the type that is computed in.

    Raises:
        Refuse: They are no matrix of numbers.
    """
    if x.rank != 2 or x.dtype is None or x.dtype.kind not in "fiu":
        raise Refuse(
            f"{x.name} must be numeric and of rank 2; it is {x.type_name} of rank {x.rank}"
        )
    return x if x.elem_type == kind else build.Cast(x, to=kind)


def rows_by(node: NodeView, columns: int) -> InferredType:
    """Return rows of float32, as many as the first input has."""
    x = node.input(0)
    rows = x.shape[0] if x is not None and x.shape is not None and len(x.shape) == 2 else None
    return InferredType(TensorProto.FLOAT, (rows, columns))


def count_of_labels(node: NodeView, names: tuple[str, str]) -> int:
    """Return how many classes have a label, by the attributes of integers and of texts."""
    return len(node.attr(names[0], []) or node.attr(names[1], []))


def inferred(node: NodeView, names: tuple[str, str], scores: int | None = None) -> Inferred:
    """Return the types of labels and scores; onnx tells those of the scores not at all.

    Args:
        node: The classifier.
        names: The attributes of integers and of texts.
        scores: How many scores a row has, where they are not as many as classes.
    """
    texts = list(node.attr(names[1], []))
    classes = len(texts or node.attr(names[0], []))
    scored = rows_by(node, classes if scores is None else scores)
    label = TensorProto.STRING if texts else TensorProto.INT64
    return InferredType(label, (scored.shape or (None,))[:1]), scored
