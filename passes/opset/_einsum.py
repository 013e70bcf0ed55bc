"""Einsum as transpositions, products and sums, two operands at a time.

References: Einsum-12 (onnx/defs/math/defs.cc): letters, an ellipsis that broadcasts, a letter that
is repeated within a term for a diagonal, and without an arrow the letters that occur once, in
alphabetical order, after the dimensions of the ellipsis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from graphfix.authoring.building import Builder
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import Value
from graphfix.opset.adapting import need_elem_type, need_rank

_DOTS = "..."
_TYPES = ("float16", "float32", "float64", "int32", "int64")


@dataclass(frozen=True, slots=True)
class _Term:
    """A tensor and a label for each of its axes; those of an ellipsis are ``.0``, ``.1``, ..."""

    value: Value
    labels: tuple[str, ...]


def contract(equation: str, operands: Sequence[Value], build: Builder) -> Value:
    """Emit what Einsum computes, in operators of opset 11.

    Args:
        equation: The equation.
        operands: Its tensors, of known rank and of one type.
        build: A builder for opset 7 to 12.

    Raises:
        Refuse: A rank, a type or the size of a diagonal is unknown, or the equation does not fit.
    """
    for operand in operands:
        need_elem_type(operand)
        if operand.type_name not in _TYPES:
            raise Refuse(f"opset 11 multiplies no matrices of {operand.type_name}")
    words, arrow, result = equation.replace(" ", "").partition("->")
    texts = words.split(",")
    if len(texts) != len(operands):
        raise Refuse(f"the equation {equation!r} is for {len(texts)} operands")
    dots = max(_dots(text, operand) for text, operand in zip(texts, operands, strict=True))
    terms = [
        _Term(operand, _labels(text, _dots(text, operand)))
        for text, operand in zip(texts, operands, strict=True)
    ]
    wanted = _labels(result, dots) if arrow else _implied(terms, dots)
    if len(set(wanted)) != len(wanted):
        raise Refuse(f"the equation {equation!r} repeats a letter in the result")
    done = _diagonals(terms[0], build)
    for place, term in enumerate(terms[1:], start=1):
        later = {label for other in terms[place + 1 :] for label in other.labels}
        done = _product(done, _diagonals(term, build), {*wanted, *later}, build)
    return _arranged(_summed(done, wanted, build), wanted, build)


def _dots(text: str, operand: Value) -> int:
    """Return how many axes the ellipsis of a term stands for."""
    letters = len(text.replace(_DOTS, ""))
    rank = need_rank(operand)
    if letters > rank or (letters < rank and _DOTS not in text):
        raise Refuse(f"the term {text!r} does not fit rank {rank}")
    return rank - letters


def _labels(text: str, dots: int) -> tuple[str, ...]:
    """Return the labels of a term; the axes of an ellipsis are counted from the last."""
    before, found, after = text.partition(_DOTS)
    own = tuple(f".{place}" for place in reversed(range(dots))) if found else ()
    return (*before, *own, *after)


def _implied(terms: Sequence[_Term], dots: int) -> tuple[str, ...]:
    counts = Counter(label for term in terms for label in term.labels)
    once = sorted(label for label, count in counts.items() if count == 1 and label[0] != ".")
    return (*_labels(_DOTS, dots), *once)


def _diagonals(term: _Term, build: Builder) -> _Term:
    """Take the diagonal of letters that a term repeats: what lies off it becomes 0 in a sum."""
    value, labels = term.value, list(term.labels)
    while repeated := [label for label, count in Counter(labels).items() if count > 1]:
        first = labels.index(repeated[0])
        second = labels.index(repeated[0], first + 1)
        size = value.dim(first)
        if size is None or value.dim(second) != size:
            raise Refuse("the size of a diagonal is unknown")
        mask = np.eye(size, dtype=bool)
        mask = mask.reshape([size if p in (first, second) else 1 for p in range(len(labels))])
        assert value.dtype is not None
        zero = build.constant(np.zeros((), dtype=value.dtype))
        value = build.ReduceSum(
            build.Where(build.constant(mask), value, zero), axes=[second], keepdims=0
        )
        del labels[second]
    return _Term(value, tuple(labels))


def _summed(term: _Term, kept: Collection[str], build: Builder) -> _Term:
    """Sum over the labels that nobody asks for."""
    axes = [place for place, label in enumerate(term.labels) if label not in kept]
    if not axes:
        return term
    value = build.ReduceSum(term.value, axes=axes, keepdims=0)
    return _Term(value, tuple(label for label in term.labels if label in kept))


def _arranged(term: _Term, wanted: Sequence[str], build: Builder) -> Value:
    """Bring the axes into the order that is wanted; a label that is missing gets size 1."""
    if missing := [label for label in wanted if label not in term.labels]:
        value = build.Unsqueeze(term.value, axes=list(range(len(missing))))
        return _arranged(_Term(value, (*missing, *term.labels)), wanted, build)
    perm = [term.labels.index(label) for label in wanted]
    if perm == list(range(len(perm))):
        return term.value
    return build.Transpose(term.value, perm=perm)


def _product(left: _Term, right: _Term, kept: Collection[str], build: Builder) -> _Term:
    """Multiply two terms and sum over the labels that nobody asks for afterwards."""
    left = _summed(left, {*kept, *right.labels}, build)
    right = _summed(right, {*kept, *left.labels}, build)
    shared = [label for label in left.labels if label in right.labels]
    summed = [label for label in shared if label not in kept]
    batch = [label for label in shared if label in kept]
    rows = [label for label in left.labels if label not in shared]
    columns = [label for label in right.labels if label not in shared]
    matrices = len(summed) == 1 and len(rows) <= 1 and len(columns) <= 1
    if matrices and _same_size(summed[0], left, right):
        # A missing row or column is an axis of size 1, dropped again afterwards.
        first = _arranged(left, [*batch, *(rows or ["row"]), *summed], build)
        second = _arranged(right, [*batch, *summed, *(columns or ["column"])], build)
        value = build.MatMul(first, second)
        drop = [len(batch)] * (not rows) + [len(batch) + 1] * (not columns)
        if drop:
            value = build.Squeeze(value, axes=drop)
        return _Term(value, (*batch, *rows, *columns))
    every = [*batch, *rows, *columns, *summed]
    spread = build.Mul(_arranged(left, every, build), _arranged(right, every, build))
    return _summed(_Term(spread, tuple(every)), kept, build)


def _same_size(label: str, left: _Term, right: _Term) -> bool:
    """Say whether two terms have the same size along a label: an ellipsis and a 1 broadcast."""
    one = left.value.dim(left.labels.index(label))
    other = right.value.dim(right.labels.index(label))
    return not label.startswith(".") and (one is None or other is None or one == other)
