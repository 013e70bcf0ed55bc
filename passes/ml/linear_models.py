"""Replace linear models of ai.onnx.ml by a product of matrices.

What it does: Multiplies the rows with the coefficients, adds the intercepts, and transforms the
    scores. A classifier gives the label of the highest score before they are transformed, as well.
    There is a pass for LinearRegressor and one for LinearClassifier.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: label, y = ai.onnx.ml.LinearClassifier <coefficients, post_transform = "SOFTMAX"> (x)
After:
    scores = MatMul (x, coefficients)
    y = Softmax <axis = 1> (scores)
    label = Gather (labels, ArgMax <axis = 1> (scores))
When it refuses: The rows are no matrix of numbers with as many columns as there are coefficients;
    labels are texts that are read. Scores are transformed by PROBIT, whose formula cancels next to
    a half, so that float32 does not tell its last digits. A single score that is transformed
    otherwise, where onnxruntime and ONNX disagree.
Accuracy: Exact up to the order of summation; the label may be another where two scores are equal
    but for their rounding.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_LinearClassifier.html,
    onnx_aionnxml_LinearRegressor.html; onnxruntime/core/providers/cpu/ml/linearclassifier.cc
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

from ._scoring import (
    LABEL_EMITS,
    TRANSFORM_EMITS,
    Inferred,
    count_of_labels,
    inferred,
    label_of,
    labels_of,
    rows_of_numbers,
    transformed,
    transformed_targets,
)

_LABELS = ("classlabels_ints", "classlabels_strings")


def infer(node: NodeView) -> Inferred:
    """A label, and a score for each class, for each row.

    ONNX infers less of what is written: it loses the names of sizes.
    """
    classes = count_of_labels(node, _LABELS)
    scored = len(node.attr("intercepts", []))
    return inferred(node, _LABELS, scored if scored != 1 or classes != 2 else 2)


@rewrite(
    "ai.onnx.ml::LinearRegressor",
    emits=(TRANSFORM_EMITS, "Add Cast MatMul"),
)
def linear_regressor_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace LinearRegressor by a product of matrices."""
    targets = int(node.attr("targets", 1))
    total = _product(node, build, targets)
    return transformed_targets(build, total, targets, _transform(node), at_once=True)


@rewrite(
    "ai.onnx.ml::LinearClassifier",
    emits=(TRANSFORM_EMITS, LABEL_EMITS, "Add Concat MatMul"),
    infer=infer,
)
def linear_classifier_to_matmul(
    node: NodeView, build: Builder
) -> tuple[Value | None, Value | None]:
    """Replace LinearClassifier by a product of matrices."""
    labels = labels_of(node, _LABELS)
    count = count_of_labels(node, _LABELS)
    scored = _intercepts(node).size
    node.attr("multi_class", 0)  # how it was trained; neither onnxruntime nor ONNX computes by it
    after = _transform(node)
    total = _product(node, build, scored)
    if scored == 1 and count == 2 and after == "NONE":
        won = build.Greater(build.Reshape(total, [-1]), 0.0)
        one = build.constant(np.ones(1, np.float32))
        scores = build.Concat(build.Sub(one, total), total, axis=1)
        label = (
            None
            if labels is None
            else label_of(build, build.Cast(won, to=TensorProto.INT64), labels)
        )
        return label, scores
    if scored != count or count < 2:
        raise Refuse(
            f"each of {count} classes must have a score, or two of them one that is not "
            f"transformed; there are {scored}, transformed by {after}"
        )
    won = build.ArgMax(total, axis=1, keepdims=0)
    scores = transformed(build, total, after, at_once=True)
    return None if labels is None else label_of(build, won, labels), scores


def _transform(node: NodeView) -> str:
    """Return how scores are transformed.

    Raises:
        Refuse: By PROBIT: of scores that any row gives, some are next to a half.
    """
    how = str(node.attr("post_transform", "NONE"))
    if how == "PROBIT":
        raise Refuse(
            "the scores must not be transformed by PROBIT, which loses the last digits of those "
            "next to a half: set post_transform to NONE and transform them in the application"
        )
    return how


def _intercepts(node: NodeView) -> Array:
    return np.array(node.attr("intercepts", []), np.float32)


def _product(node: NodeView, build: Builder, targets: int) -> Value:
    """Return the scores: [rows, targets]."""
    x = rows_of_numbers(build, node.need(0), TensorProto.FLOAT)
    coefficients = np.array(node.attr("coefficients", []), np.float32)
    intercepts = _intercepts(node)
    if targets < 1 or coefficients.size % targets or intercepts.size not in (0, targets):
        raise Refuse(
            f"there must be coefficients and an intercept for each of {targets} targets; there "
            f"are {coefficients.size} and {intercepts.size}"
        )
    columns = coefficients.size // targets
    given = x.dim(1)
    if isinstance(given, int) and 0 < given < columns:
        # More than the rows need: onnxruntime reads those that come first, row by row.
        columns, coefficients = given, coefficients[: targets * given]
    if given not in (None, columns) or not columns:
        raise Refuse(f"{node.need(0).name} must have {columns} columns; it has {given}")
    matrix = np.ascontiguousarray(coefficients.reshape(targets, columns).T)
    total = build.MatMul(x, build.constant(matrix))
    return build.Add(total, intercepts) if intercepts.size else total
