"""Einsum's equation: a label for each axis of each operand, and those of the result.

References: Einsum-12 (onnx/defs/math/defs.cc): letters, an ellipsis that broadcasts, a letter that
is repeated within a term for a diagonal, and without an arrow the letters that occur once, in
alphabetical order, after the dimensions of the ellipsis.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from graphfix.authoring import NodeView, Refuse, Value, need_rank

_DOTS = "..."


class Term(Struct, frozen=True):
    """A tensor and a label for each of its axes; those of an ellipsis are ``.0``, ``.1``, ...

    The axes of an ellipsis are counted from the last, as they broadcast.
    """

    value: Value
    labels: tuple[str, ...]

    def size(self, label: str) -> int | str | None:
        """Return the size along a label: a number, a symbol, or None."""
        shape = self.value.shape
        return None if shape is None else shape[self.labels.index(label)]

    def number(self, label: str) -> int | None:
        """Return the size along a label where it is a known number."""
        return self.value.dim(self.labels.index(label))


def of_ellipsis(label: str) -> bool:
    """Say whether a label stands for an axis of an ellipsis."""
    return label.startswith(".")


def read(node: NodeView) -> tuple[list[Term], tuple[str, ...]]:
    """Return the operands of an Einsum with their labels, and the labels of the result.

    Raises:
        Refuse: A rank is unknown, or the equation does not fit the operands.
    """
    equation = str(node.attr("equation")).replace(" ", "")
    operands = [node.need(place) for place in range(len(node.inputs))]
    words, arrow, result = equation.partition("->")
    texts = words.split(",")
    if len(texts) != len(operands):
        raise Refuse(
            f"the equation must be for {len(operands)} operands; {equation!r} is for {len(texts)}"
        )
    pairs = list(zip(texts, operands, strict=True))
    lengths = {_dots(text, operand) for text, operand in pairs if _DOTS in text} or {0}
    dots = max(lengths)
    if len(lengths) > 1:
        # onnx's shape inference says "Ellipsis represents incompatible dimensions."
        raise Refuse(
            f"the ellipsis must stand for the same axes everywhere; it stands for {dots} and for "
            f"{min(lengths)}"
        )
    if arrow and dots and _DOTS not in result:
        raise Refuse(f"the result must have the ellipsis; {equation!r} leaves it out")
    terms = [Term(operand, _labels(text, _dots(text, operand))) for text, operand in pairs]
    wanted = _labels(result, dots) if arrow else _implied(terms, dots)
    if len(set(wanted)) != len(wanted):
        raise Refuse(f"no letter may be repeated in the result; {equation!r} does")
    if lost := set(wanted) - {label for term in terms for label in term.labels}:
        raise Refuse(f"an operand must have each axis of the result; none has {min(lost)!r}")
    return terms, wanted


def _dots(text: str, operand: Value) -> int:
    """Return how many axes the ellipsis of a term stands for."""
    rank = need_rank(operand)
    letters = len(text.replace(_DOTS, ""))
    if letters > rank or (letters < rank and _DOTS not in text):
        raise Refuse(f"the term {text!r} must fit its operand; that is of rank {rank}")
    return rank - letters


def _labels(text: str, dots: int) -> tuple[str, ...]:
    before, found, after = text.partition(_DOTS)
    own = tuple(f".{place}" for place in reversed(range(dots))) if found else ()
    return (*before, *own, *after)


def _implied(terms: Sequence[Term], dots: int) -> tuple[str, ...]:
    counts = Counter(label for term in terms for label in term.labels)
    once = sorted(label for label, count in counts.items() if count == 1 and not of_ellipsis(label))
    return (*_labels(_DOTS, dots), *once)
