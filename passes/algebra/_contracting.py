"""Einsum as transpositions, products and sums, two operands at a time."""

from collections import Counter
from collections.abc import Collection, Sequence
from math import prod

import numpy as np

from graphfix.authoring import APPROXIMATE, FAR, Builder, Refuse, Value, combined, listed, reshaped

from ._equation import Term, of_ellipsis

_TYPES = ("float16", "float32", "float64", "int32", "int64")
# A number, the product along labels of a term, or the size of the same axis of what is reshaped.
Size = int | tuple[Term, tuple[str, ...]] | None


def contract(terms: Sequence[Term], wanted: Sequence[str], build: Builder) -> Value:
    """Emit what Einsum computes.

    Args:
        terms: The operands, of one type.
        wanted: The labels of the result, all different.
        build: The builder.

    Raises:
        Refuse: A type is unknown, or one that is not multiplied.
    """
    for term in terms:
        if not term.value.elem_type:
            raise Refuse(f"the dtype of {term.value.name} must be known")
        if term.value.type_name not in _TYPES:
            raise Refuse(
                f"{term.value.name} must be {listed(_TYPES)}; it is {term.value.type_name}"
            )
    done = _diagonals(terms[0], build)
    for place, term in enumerate(terms[1:], start=1):
        later = {label for other in terms[place + 1 :] for label in other.labels}
        done = _product(done, _diagonals(term, build), {*wanted, *later}, build)
    return _arranged(_summed(done, wanted, build), wanted, build)


def _diagonals(term: Term, build: Builder) -> Term:
    """Take the diagonal of letters that a term repeats."""
    while repeated := [label for label, count in Counter(term.labels).items() if count > 1]:
        first = term.labels.index(repeated[0])
        second = term.labels.index(repeated[0], first + 1)
        sizes = term.value.dim(first), term.value.dim(second)
        if None not in sizes and sizes[0] != sizes[1]:
            raise Refuse(
                f"the sizes of a diagonal must be equal; they are {sizes[0]} and {sizes[1]}"
            )
        size = next((s for s in sizes if s is not None), None)
        term = _every_nth(term, first, second, size, build)
    return term


def _every_nth(term: Term, first: int, second: int, size: int | None, build: Builder) -> Term:
    """Take each (n + 1)-th element of n x n matrices that are laid out as rows."""
    others = [place for place in range(len(term.labels)) if place not in (first, second)]
    value = _transposed(term.value, [*others, first, second], build)
    axis = len(others)
    # Where a size is 0, Reshape copies it; of the square, that of the first of the two axes.
    if size is None:
        number = _size(term, term.labels[first], build)
        square = build.Mul(number, number)
        front = [build.constant(np.zeros(axis, dtype=np.int64))] if axis else []
        sizes = build.Concat(*front, square, axis=0) if front else square
        flat = build.Reshape(value, sizes)
        step = build.Add(number, 1)
    else:
        flat = build.Reshape(value, [*[0] * axis, size * size])
        step = build.constant(np.array([size + 1], dtype=np.int64))
    taken = build.Slice(flat, starts=[0], ends=[FAR], axes=[axis], steps=step)
    return Term(taken, (*(term.labels[place] for place in others), term.labels[first]))


def _summed(term: Term, kept: Collection[str], build: Builder) -> Term:
    """Sum over the labels that no one asks for."""
    axes = [place for place, label in enumerate(term.labels) if label not in kept]
    if not axes:
        return term
    if term.value.dtype is not None and term.value.dtype.kind in "iu":
        # So does Einsum itself in onnxruntime, where it sums without multiplying.
        build.declare(APPROXIMATE, "ReduceSum of integers rounds in onnxruntime beyond 2^53")
    value = build.ReduceSum(term.value, axes=axes, keepdims=0)
    return Term(value, tuple(label for label in term.labels if label in kept))


def _arranged(term: Term, wanted: Sequence[str], build: Builder) -> Value:
    """Bring the axes into the order that is wanted; a label that is missing gets size 1."""
    if missing := [label for label in wanted if label not in term.labels]:
        value = build.Unsqueeze(term.value, axes=list(range(len(missing))))
        return _arranged(Term(value, (*missing, *term.labels)), wanted, build)
    return _transposed(term.value, [term.labels.index(label) for label in wanted], build)


def _transposed(value: Value, perm: list[int], build: Builder) -> Value:
    return value if perm == sorted(perm) else build.Transpose(value, perm=perm)


def _product(left: Term, right: Term, kept: Collection[str], build: Builder) -> Term:
    """Multiply two terms and sum over the labels that no one asks for afterwards."""
    left = _summed(left, {*kept, *right.labels}, build)
    right = _summed(right, {*kept, *left.labels}, build)
    shared = [label for label in left.labels if label in right.labels]
    summed = [label for label in shared if label not in kept]
    batch = [label for label in shared if label in kept]
    rows = [label for label in left.labels if label not in shared]
    columns = [label for label in right.labels if label not in shared]
    if summed and all(_same_size(label, left, right) for label in summed):
        left, right = _spread(left, right, summed, build), _spread(right, left, summed, build)
        if len(summed) == 1 and len(rows) <= 1 and len(columns) <= 1:
            return _one_matrix_product(left, right, batch, rows, summed, columns, build)
        if not any(0 in (term.number(label) for label in term.labels) for term in (left, right)):
            return _joined_matrix_product(left, right, batch, rows, summed, columns, build)
    every = [*batch, *rows, *columns, *summed]
    spread = build.Mul(_arranged(left, every, build), _arranged(right, every, build))
    return _summed(_in_pairs(Term(spread, tuple(every)), kept, build), kept, build)


def _in_pairs(term: Term, kept: Collection[str], build: Builder) -> Term:
    """Sum integers over known sizes as a product of matrices does: wrapping around."""
    if term.value.dtype is None or term.value.dtype.kind not in "iu":
        return term
    for label in [label for label in term.labels if label not in kept]:
        size = term.number(label)
        if size:
            place = term.labels.index(label)
            value = combined("Add", term.value, place, size, build)
            term = Term(value, tuple(other for other in term.labels if other != label))
    return term


def _same_size(label: str, left: Term, right: Term) -> bool:
    """Say whether two terms have the same size along a label: an ellipsis and a 1 broadcast."""
    one, other = left.number(label), right.number(label)
    return not of_ellipsis(label) and (one is None or other is None or one == other)


def _spread(term: Term, other: Term, labels: Collection[str], build: Builder) -> Term:
    """Repeat a term along labels in which it may have size 1 where the other term has more.

    Einsum of ONNX knows no such broadcasting; that of onnxruntime does it.
    """
    spread = {label for label in labels if _may_be_one(label, term, other)}
    if not spread:
        return term
    known = {label: other.number(label) if label in spread else 1 for label in term.labels}
    if all(number is not None for number in known.values()):
        sizes = build.constant(np.array(list(known.values()), dtype=np.int64))
    else:
        parts = (
            _size(other, label, build)
            if number is None
            else build.constant(np.array([number], dtype=np.int64))
            for label, number in known.items()
        )
        sizes = build.Concat(*parts, axis=0)
    return Term(build.Expand(term.value, sizes), term.labels)


def _may_be_one(label: str, term: Term, other: Term) -> bool:
    number = term.number(label)
    if number is not None:
        return number == 1 and other.number(label) is None
    symbol = term.size(label)
    return symbol is None or symbol != other.size(label)


def _one_matrix_product(
    left: Term,
    right: Term,
    batch: list[str],
    rows: list[str],
    summed: list[str],
    columns: list[str],
    build: Builder,
) -> Term:
    """Multiply with one axis of each kind at most."""
    # A missing row or column is an axis of size 1, dropped again afterwards.
    first = _arranged(left, [*batch, *(rows or ["row"]), *summed], build)
    second = _arranged(right, [*batch, *summed, *(columns or ["column"])], build)
    value = build.MatMul(first, second)
    drop = [len(batch)] * (not rows) + [len(batch) + 1] * (not columns)
    if drop:
        value = build.Squeeze(value, axes=drop)
    return Term(value, (*batch, *rows, *columns))


def _joined_matrix_product(
    left: Term,
    right: Term,
    batch: list[str],
    rows: list[str],
    summed: list[str],
    columns: list[str],
    build: Builder,
) -> Term:
    """Multiply matrices whose rows, columns or common axes are several, joined by Reshape."""
    first = _arranged(left, [*batch, *rows, *summed], build)
    second = _arranged(right, [*batch, *summed, *columns], build)
    # Without a batch, MatMul takes many rows as they are.
    lines = [[row] for row in rows] if rows and not batch else [rows]
    alone = [[label] for label in batch]
    value = build.MatMul(
        _joined(first, left, [*alone, *lines, summed], build),
        _joined(second, right, [*alone, summed, columns], build),
    )
    labels = (*batch, *rows, *columns)
    if not labels:
        return Term(build.Squeeze(value, axes=[0, 1]), labels)
    split = len(columns) != 1 or (len(rows) != 1 and bool(batch or not rows))
    if not split:
        return Term(value, labels)
    kept = len(batch) if batch or not rows else len(rows)
    rest = [(left if label in rows else right, label) for label in labels[kept:]]
    sizes: list[Size] = [None] * kept
    for term, label in rest:
        number = term.number(label)
        sizes.append((term, (label,)) if number is None else number)
    return Term(_reshaped(value, sizes, build), labels)


def _joined(value: Value, term: Term, groups: Sequence[Sequence[str]], build: Builder) -> Value:
    """Give each group of labels, which follow each other in `value`, one axis."""
    if all(len(group) == 1 for group in groups):
        return value
    sizes: list[Size] = []
    place = 0
    for group in groups:
        numbers = [number for label in group if (number := term.number(label)) is not None]
        if len(group) == 1 and place == len(sizes):
            sizes.append(None)
        elif len(numbers) == len(group):
            sizes.append(prod(numbers))
        else:
            sizes.append((term, tuple(group)))
        place += len(group)
    return _reshaped(value, sizes, build)


def _size(term: Term, label: str, build: Builder) -> Value:
    """Return the size along a label, one element."""
    return _axis_size(term.value, term.labels.index(label), build)


def _axis_size(value: Value, axis: int, build: Builder) -> Value:
    return build.Gather(build.Shape(value), np.array([axis], dtype=np.int64), axis=0)


def _reshaped(value: Value, sizes: Sequence[Size], build: Builder) -> Value:
    """Reshape to sizes of which several may be computed, and any may turn out 0."""
    computed = [place for place, size in enumerate(sizes) if isinstance(size, tuple)]
    plain = [size if isinstance(size, int) else 0 if size is None else -1 for size in sizes]
    if not computed:
        return build.Reshape(value, plain)
    others = (
        value.dim(place) if size is None else size
        for place, size in enumerate(sizes)
        if place not in computed
    )
    if len(computed) == 1 and all(others):  # else a -1 is ambiguous where another size is 0
        return build.Reshape(value, plain)
    parts = [_computed(value, place, size, build) for place, size in enumerate(sizes)]
    return reshaped(value, build.Concat(*parts, axis=0), build)


def _computed(value: Value, place: int, size: Size, build: Builder) -> Value:
    if size is None:
        return _axis_size(value, place, build)
    if isinstance(size, int):
        return build.constant(np.array([size], dtype=np.int64))
    term, labels = size
    product = _size(term, labels[0], build)
    for label in labels[1:]:
        product = build.Mul(product, _size(term, label, build))
    return product
