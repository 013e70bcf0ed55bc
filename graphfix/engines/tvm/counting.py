"""Where the length of a Range is in what is made of it."""

from __future__ import annotations

from collections import deque

import numpy as np

from graphfix.analysis.shape_only_values import is_made_of
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_KEEPING = frozenset({"Concat", "Cos", "Expand", "Sin", "Slice"})
Marks = tuple[bool, ...]  # of the axes of a tensor, those that are as long as the Range


def meets_its_length(counted: Value) -> bool:
    """Say whether a vector meets, element by element, what is as long by another name or number.

    Or is expanded to sizes that are numbers, or counts the indices of a ScatterND whose updates are
    counted elsewhere.

    It is followed through what keeps its length, or a part of it: Cast, Cos, Unsqueeze, Reshape,
    Transpose, Slice, Concat along another axis, and as indices of Gather and GatherND.
    """
    marks: dict[Value, Marks] = {counted: (True,)}
    front = deque(counted.consumers)
    while front:
        node = front.popleft()
        result = node.output(0)
        if result is None or result in marks or node.domain or result.rank is None:
            continue
        if node.op in ELEMENTWISE and _is_met(node, marks):
            return True
        if node.op == "Expand" and any(marks.get(node.need(0), ())) and node.need(1).is_constant:
            return True
        if node.op == "ScatterND" and _scatters_others(node, marks):
            return True
        moved = _moved(node, result, marks)
        if moved is not None and any(moved):
            marks[result] = moved
            front.extend(result.consumers)
    return False


def _is_met(node: NodeView, marks: dict[Value, Marks]) -> bool:
    """Say whether an operand has an axis of another origin where another one has the length."""
    operands = [value for value in node.inputs if value is not None]
    for one in operands:
        for back, marked in enumerate(reversed(marks.get(one, ())), 1):
            if marked and any(_differs(other, back, marks) for other in operands):
                return True
    return False


def _scatters_others(node: NodeView, marks: dict[Value, Marks]) -> bool:
    """Say whether indices have the length where the updates have another one."""
    if is_made_of(node.need(2), "Range"):  # by its Shape, they may be as many
        return False
    counted = marks.get(node.need(1), ())[:-1]
    updates = marks.get(node.need(2), (False,) * len(counted))
    return any(mine and not theirs for mine, theirs in zip(counted, updates, strict=False))


def _differs(other: Value, back: int, marks: dict[Value, Marks]) -> bool:
    shape, known = other.shape or (), marks.get(other, ())
    if back > len(shape) or (back <= len(known) and known[-back]):
        return False
    return shape[-back] != 1


def _moved(node: NodeView, result: Value, marks: dict[Value, Marks]) -> Marks | None:
    """Return the marks of what a node computes; None where it does not keep the length."""
    data, rank = node.input(0), result.rank or 0
    if data is None:
        return None
    known = marks.get(data)
    if node.op == "Einsum":
        return _summed(node, marks)
    if node.op == "Gather":
        return _gathered(node, rank, marks)
    if node.op == "GatherND":
        places = marks.get(node.need(1), ())
        return (*places[:-1], *[False] * (rank - len(places) + 1)) if places else None
    if node.op == "Unsqueeze" and known is not None:
        return _with_new_axes(node, rank, known)
    if node.op == "Reshape":
        long = [place for place, size in enumerate(result.shape or ()) if size != 1]
        only = known is not None and sum(known) == len(long) == 1
        return tuple(place == long[0] for place in range(rank)) if only else None
    if node.op == "Transpose" and known is not None:
        order = node.attr("perm") or range(rank - 1, -1, -1)
        return tuple(known[int(axis)] for axis in order)
    if node.op not in ELEMENTWISE and node.op not in _KEEPING:
        return None
    joined = [False] * rank
    for value in node.inputs:
        mine = () if value is None else marks.get(value, ())
        for back, marked in enumerate(reversed(mine), 1):
            joined[-back] |= marked
    if node.op == "Concat":
        joined[int(node.attr("axis", 0))] = False
    return tuple(joined)


def _summed(node: NodeView, marks: dict[Value, Marks]) -> Marks | None:
    terms, arrow, result = str(node.attr("equation")).replace(" ", "").partition("->")
    if not arrow or "." in terms:
        return None
    long = {
        letter
        for term, value in zip(terms.split(","), node.inputs, strict=False)
        for letter, marked in zip(term, marks.get(value, ()) if value else (), strict=False)
        if marked
    }
    return tuple(letter in long for letter in result)


def _with_new_axes(node: NodeView, rank: int, known: Marks) -> Marks | None:
    given = node.input(1)
    axes = node.attr("axes") if given is None else given.array()
    if axes is None:
        return None
    new = {int(axis) % rank for axis in np.asarray(axes).reshape(-1)}
    old = iter(known)
    return tuple(place not in new and next(old, False) for place in range(rank))


def _gathered(node: NodeView, rank: int, marks: dict[Value, Marks]) -> Marks | None:
    indices, data = node.input(1), node.input(0)
    known = None if indices is None else marks.get(indices)
    if known is None or data is None or data.rank is None:
        return None
    before = int(node.attr("axis", 0)) % data.rank
    return (*[False] * before, *known, *[False] * (rank - before - len(known)))
