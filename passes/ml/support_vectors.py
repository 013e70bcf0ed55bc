"""Replace support vector machines of ai.onnx.ml by comparing rows with all their vectors.

What it does: Computes the kernel of each row and support vector, and multiplies with the
    coefficients, for a classifier once for each pair of classes; the class that wins most pairs
    gives the label. With prob_a and prob_b the probabilities of pairs become those of classes in
    the rounds that onnxruntime does. There is a pass for SVMRegressor and two for SVMClassifier:
    with Loop, which does as many rounds, and without it.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.SVMRegressor <kernel_type = "RBF", kernel_params = [0.1, 0, 3]> (x)
After:
    apart = Sub (Unsqueeze (x, 1), vectors)
    kernel = Exp (Mul (ReduceSum (Mul (apart, apart), 2), -0.1))
    y = Add (MatMul (kernel, coefficients), rho)
When it refuses: A classifier has no support vectors; scores are transformed; labels are texts that
    are read; the numbers of vectors, coefficients and columns do not fit.
Accuracy: Exact up to the order of summation: onnxruntime sums classifiers in float64, this in
    float32, with the vectors of the classes in turn, which keeps the sums on the way small. A label
    may be another where a pair is next to even. Probabilities of three classes and more are
    approximate without Loop: onnxruntime does up to 100 rounds until they are good enough, this
    eight at most.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html,
    onnx_aionnxml_SVMRegressor.html; onnxruntime/core/providers/cpu/ml/svmclassifier.cc,
    svmregressor.cc
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Refuse, Value, rewrite

from ._coupling import COUPLE_EMITS, ROUNDS, coupled, coupled_in_loop
from ._kernels import KERNEL_EMITS, compared, vectors_of
from ._scoring import (
    LABEL_EMITS,
    Inferred,
    count_of_labels,
    inferred,
    label_of,
    labels_of,
    rows_by,
    rows_of_numbers,
)

_MORE_ROUNDS = (
    f"probabilities of three classes and more: onnxruntime stops after the round that is good to "
    f"0.005 / classes, of 100, this after {ROUNDS} at most; none of 800 drawn needed more than 4"
)


_LABELS = ("classlabels_ints", "classlabels_strings")
_EMITS = (KERNEL_EMITS, LABEL_EMITS, COUPLE_EMITS, "Cast Concat Max Min Neg Sigmoid")


def infer(node: NodeView) -> Inferred:
    """A label, and a score for each class or for each pair of more than two, for each row.

    What is written for it holds all vectors, and ONNX infers no more of it.
    """
    classes = count_of_labels(node, _LABELS)
    of_pairs = node.has("vectors_per_class") and not node.attr("prob_a", []) and classes > 2
    return inferred(node, _LABELS, classes * (classes - 1) // 2 if of_pairs else classes)


def infer_one(node: NodeView) -> Inferred:
    """One value for each row."""
    return (rows_by(node, 1),)


@rewrite("ai.onnx.ml::SVMRegressor", emits=(KERNEL_EMITS, "Cast Greater Sub"), infer=infer_one)
def svm_regressor_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace SVMRegressor by comparing rows with all support vectors."""
    x = rows_of_numbers(build, node.need(0), TensorProto.FLOAT)
    coefficients = np.array(node.attr("coefficients", []), np.float32)
    rho = np.array(node.attr("rho", []), np.float32)
    count = int(node.attr("n_supports", 0))
    if node.attr("post_transform", "NONE") != "NONE":
        raise Refuse("post_transform must be NONE, as onnxruntime ignores it; it is another")
    if rho.size < 1 or coefficients.size != (count or x.dim(1)):
        raise Refuse(
            f"there must be rho, and as many coefficients as support vectors, or as columns where "
            f"there are none; there are {coefficients.size}"
        )
    if count:
        x = compared(build, node, x, vectors_of(node, count, x))
    else:
        node.waive(("kernel_type", "kernel_params"))  # without vectors there is no kernel
    total = build.Add(build.MatMul(x, build.constant(coefficients.reshape(-1, 1))), rho[:1])
    if not node.attr("one_class", 0):
        return total
    inside = build.Cast(build.Greater(total, 0.0), to=TensorProto.FLOAT)
    return build.Sub(build.Mul(inside, 2.0), 1.0)


@rewrite("ai.onnx.ml::SVMClassifier", emits=_EMITS, infer=infer)
def svm_classifier_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, Value | None]:
    """Replace SVMClassifier by comparing rows with all support vectors."""
    if node.attr("prob_a", []) and count_of_labels(node, _LABELS) > 2:
        build.declare(APPROXIMATE, _MORE_ROUNDS)
    return _classified(node, build, coupled)


@rewrite("ai.onnx.ml::SVMClassifier", emits=(*_EMITS, "Loop"), infer=infer)
def svm_classifier_to_loop(node: NodeView, build: Builder) -> tuple[Value | None, Value | None]:
    """Replace SVMClassifier, its probabilities by Loop until they are good enough.

    Raises:
        Refuse: There are no probabilities, or of two classes alone: `svm_classifier_to_matmul`
            is exact for them.
    """
    if not node.attr("prob_a", []) or count_of_labels(node, _LABELS) < 3:
        raise Refuse("there must be probabilities of three classes or more; there are none")
    return _classified(node, build, coupled_in_loop)


def _classified(
    node: NodeView, build: Builder, couple: Callable[[Builder, Value, int], Value]
) -> tuple[Value | None, Value | None]:
    labels = labels_of(node, _LABELS)
    classes = count_of_labels(node, _LABELS)
    x = rows_of_numbers(build, node.need(0), TensorProto.FLOAT)
    per_class = [int(count) for count in node.attr("vectors_per_class", [])]
    if len(per_class) != classes or classes < 2:
        raise Refuse(
            f"there must be a number of vectors for each of {classes} classes; there are "
            f"{len(per_class)}"
        )
    transform = node.attr("post_transform", "NONE")
    if transform != "NONE":
        raise Refuse(f"post_transform must be NONE; it is {transform}")
    sloped, moved = (np.array(node.attr(f"prob_{name}", []), np.float32) for name in "ab")
    pairs = [*combinations(range(classes), 2)]
    rho = np.array(node.attr("rho", []), np.float32)
    if rho.size != len(pairs) or sloped.size != moved.size or sloped.size not in (0, len(pairs)):
        raise Refuse(f"there must be rho for each of {len(pairs)} pairs; there are {rho.size}")
    order = _in_turn(per_class)
    kernel = compared(build, node, x, vectors_of(node, sum(per_class), x)[order])
    weights = _of_pairs(np.array(node.attr("coefficients", []), np.float32), per_class)[order]
    even = build.Add(build.MatMul(kernel, build.constant(weights)), rho)
    won = build.ArgMax(_votes(build, even, pairs, classes), axis=1, keepdims=0)
    if sloped.size:
        scores = couple(build, _probabilities(build, even, sloped, moved), classes)
    elif classes == 2:
        scores = build.Concat(build.Neg(even), even, axis=1)
    else:
        scores = even
    return None if labels is None else label_of(build, won, labels), scores


def _in_turn(per_class: list[int]) -> list[int]:
    """Return the values of the vectors, which lie class by class, spread evenly over each other.

    Class by class the sum of a pair rises as far as one class reaches (to 19 of a result of 0.3,
    measured on 97 vectors), and falls again: float32 rounds each step at that size.
    """
    places = [(2 * at + 1, own) for own in per_class for at in range(own)]
    return sorted(range(len(places)), key=lambda one: places[one][0] / places[one][1])


def _of_pairs(coefficients: Array, per_class: list[int]) -> Array:
    """Return what each vector counts in each pair of classes: [vectors, pairs]."""
    vectors, classes = sum(per_class), len(per_class)
    if coefficients.size != vectors * (classes - 1):
        raise Refuse(
            f"there must be {vectors * (classes - 1)} coefficients; there are {coefficients.size}"
        )
    rows = coefficients.reshape(classes - 1, vectors)
    ends = np.cumsum([0, *per_class])
    pairs = [*combinations(range(classes), 2)]
    weights = np.zeros((vectors, len(pairs)), np.float32)
    for at, (one, other) in enumerate(pairs):
        for own, row in ((one, other - 1), (other, one)):
            mine = slice(ends[own], ends[own + 1])
            weights[mine, at] = rows[row, mine]
    return weights


def _votes(build: Builder, even: Value, pairs: list[tuple[int, int]], classes: int) -> Value:
    """Return how many pairs each class wins: [rows, classes]."""
    first = np.zeros((len(pairs), classes), np.float32)
    second = np.zeros(classes, np.float32)
    for at, (one, other) in enumerate(pairs):
        first[at, one], first[at, other] = 1, -1
        second[other] += 1
    above = build.Cast(build.Greater(even, 0.0), to=TensorProto.FLOAT)
    return build.Add(build.MatMul(above, build.constant(first)), second)


def _probabilities(build: Builder, even: Value, sloped: Array, moved: Array) -> Value:
    """Return the probabilities of pairs, Platt's, limited as onnxruntime does."""
    first = build.Sigmoid(build.Neg(build.Add(build.Mul(even, sloped), moved)))
    return build.Min(build.Max(first, np.float32(1e-7)), np.float32(1 - 1e-7))
