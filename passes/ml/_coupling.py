"""Probabilities of classes from those of pairs of them, in the rounds that onnxruntime does.

T. Wu, C. Lin, R. Weng, Probability estimates for multi-class classification by pairwise coupling
(2004); multiclass_probability in onnxruntime/core/providers/cpu/ml/ml_common.h.
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Value

COUPLE_EMITS = (
    "Abs Add And Div Gather Less MatMul Mul Neg Not ReduceMax ReduceSum Reshape "
    "Squeeze Sub Transpose Unsqueeze Where"
)
# Of two classes none needs more than two (6,000 probabilities from 1e-7 to 1 - 1e-7), of 3, 5 and
# 10 classes none of 800 drawn ones more than four.
ROUNDS = 8
ROUNDS_OF_TWO = 4
_MOST = 100  # rounds of onnxruntime


def coupled(build: Builder, first: Value, classes: int) -> Value:
    """Return the probabilities of classes, [rows, classes], after a few rounds.

    Args:
        build: What to build with.
        first: The probability of the first of each pair of classes: [rows, pairs].
        classes: How many classes there are.
    """
    matrix, p = _begun(build, first, classes)
    going: Value | None = None
    for _ in range(ROUNDS_OF_TWO if classes == 2 else ROUNDS):
        moved, off = _moved(build, matrix, p, classes)
        going = off if going is None else build.And(going, off)
        p = build.Where(going, moved, p)
    return p


def coupled_in_loop(build: Builder, first: Value, classes: int) -> Value:
    """Return the probabilities of classes in as many rounds as onnxruntime does; see `coupled`."""
    matrix, start = _begun(build, first, classes)
    started = build.Add(build.Mul(build.ReduceSum(first, axes=[1], keepdims=1), 0.0), 1.0)

    def step(inner: Builder, *given: Value) -> Sequence[Value]:
        p, going = given[2], given[3]
        moved, off = _moved(inner, matrix, p, classes)
        still = inner.Mul(going, inner.Cast(off, to=TensorProto.FLOAT))
        p = inner.Where(inner.Cast(still, to=TensorProto.BOOL), moved, p)
        some = inner.ReduceSum(still, axes=[0, 1], keepdims=0)
        return inner.Cast(some, to=TensorProto.BOOL), p, still

    rows = start.shape[0] if start.shape else None
    body = build.body(
        [
            ("round", TensorProto.INT64, ()),
            ("more", TensorProto.BOOL, ()),
            ("p", TensorProto.FLOAT, (rows, classes)),
            ("going", TensorProto.FLOAT, (rows, 1)),
        ],
        step,
    )
    trips, yes = np.array(_MOST, np.int64), np.array(True)
    return build.multi("Loop", trips, yes, start, started, outputs=2, body=body)[0]


def _begun(build: Builder, first: Value, classes: int) -> tuple[Value, Value]:
    """Return the products of pairs, [rows, classes, classes], and even probabilities."""
    upper = [*zip(*np.triu_indices(classes, 1), strict=True)]
    chosen, ones = np.zeros((len(upper), classes, classes)), np.zeros((classes, classes))
    for at, (one, other) in enumerate(upper):
        chosen[at, one, other], chosen[at, other, one], ones[other, one] = 1, -1, 1
    flat = build.MatMul(first, chosen.reshape(len(upper), -1).astype(np.float32))
    wide = build.Reshape(flat, [-1, classes, classes])
    given = build.Add(wide, ones.astype(np.float32))  # [i, j]: that of i where i or j
    turned = build.Transpose(given, perm=[0, 2, 1])
    own = build.ReduceSum(build.Mul(given, given), axes=[1], keepdims=1)
    diagonal = build.Mul(own, np.eye(classes, dtype=np.float32))
    matrix = build.Sub(diagonal, build.Mul(given, turned))
    p: Value = build.Add(
        build.Mul(build.ReduceSum(first, axes=[1], keepdims=1), 0.0),
        np.full((1, classes), 1 / classes, np.float32),
    )
    return matrix, p


def _moved(build: Builder, matrix: Value, p: Value, classes: int) -> tuple[Value, Value]:
    """Return the probabilities after a round, and of which rows they are not good yet before it."""
    image = build.Squeeze(build.MatMul(matrix, build.Unsqueeze(p, axes=[2])), axes=[2])
    mean = build.ReduceSum(build.Mul(p, image), axes=[1], keepdims=1)
    error = build.ReduceMax(build.Abs(build.Sub(image, mean)), axes=[1], keepdims=1)
    off = build.Not(build.Less(error, 0.005 / classes))
    return _round(build, matrix, p, image, mean, classes), off


def _round(
    build: Builder, matrix: Value, p: Value, image: Value, mean: Value, classes: int
) -> Value:
    """Move each class once."""
    for place in range(classes):
        row = build.Gather(matrix, np.array(place), axis=1)  # [rows, classes]
        pivot = build.Gather(row, np.array([place]), axis=1)
        here = build.Gather(image, np.array([place]), axis=1)
        step = build.Div(build.Sub(mean, here), pivot)
        grown = build.Add(step, 1.0)
        moved = build.Add(p, build.Mul(step, np.eye(classes, dtype=np.float32)[place]))
        p = build.Div(moved, grown)
        gain = build.Add(build.Mul(step, pivot), build.Mul(here, 2.0))
        mean = build.Div(build.Div(build.Add(mean, build.Mul(step, gain)), grown), grown)
        image = build.Div(build.Add(image, build.Mul(step, row)), grown)
    return p
