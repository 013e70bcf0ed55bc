"""Pad up to a fixed size by a Concat with so many constants, of which the first are kept.

What it does: A Pad after the data, by a constant less the size of the data, makes that constant the
    size. A block of as many rows is joined, and that many are kept: where the data has more, the
    Pad is negative and cuts them off, too. The size may be counted in other rows, as six numbers of
    each box.
Why engines need it: tract 0.23 requires pads at import; ultralytics pads the boxes that
    NonMaxSuppression left to 300.
Before: y = Pad (x, Concat ({0}, Sub ({300}, Shape (x))), 0.0)     # x: [n]
After: y = Slice (Concat <axis = 0> (x, k), {0}, {300}, {0})       # k: [300], zeros
When it refuses: Another axis is padded, or the front; the mode or the value is not constant; the
    result has no fixed size, or a block has more than a million elements.
Accuracy: Exact: elements are moved.
References: ultralytics/engine/exporter.py of ultralytics/ultralytics (NMSModel);
    measured on tract 0.23.9
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import numpy as np

from graphfix.analysis.folding.numbers import FUNCTIONS
from graphfix.analysis.memo import kept_stepwise
from graphfix.authoring import (
    Array,
    Builder,
    Motion,
    NodeView,
    Refuse,
    Value,
    moving,
    need_rank,
    needed,
    rewrite,
)

_DEPTH = 24
_MAX_BLOCK = 1 << 20
_NUMBER = ""
# Sizes by name, and how many times each is summed up; under `_NUMBER` what is fixed.
_Sum = Counter[object]
_Asked = tuple[Value, int, int]
_Steps = Generator[_Asked, _Sum | None, _Sum | None]
_MOVING = moving(Motion.SAME, Motion.ORDERED, Motion.RANGE, Motion.PICKED)
_MOST = 1 << 12  # elements of a tensor that sizes are looked for in


@rewrite("Pad", removes="const:Pad.*", emits="Concat Reshape Slice", since=11, claims="nan inf")
def pad_to_fixed_size(node: NodeView, build: Builder) -> Value:
    """Join a block and keep the first rows, see the module."""
    x = node.need(0)
    rank = need_rank(x)
    mode = node.attr("mode", "constant")
    if mode != "constant" or node.input(3) is not None:
        raise Refuse(f"the mode must be constant and axes left out; the mode is {mode}")
    pads = [_element((node.need(1), place, _DEPTH)) for place in range(2 * rank)]
    (axis,) = _padded(pads, rank)
    after = needed(pads[rank + axis], "the pad must be computed of sizes; it is not")
    whole = _plus(after, needed(_size(x, axis), f"the size of axis {axis} must be followed"))
    if set(whole) - {_NUMBER}:
        raise Refuse("data and pad must have a fixed size together; they have none")
    size = whole[_NUMBER]
    shape = [size if place == axis else x.dim(place) for place in range(rank)]
    fixed = [length for length in shape if length is not None]
    if len(fixed) != rank or not 0 < np.prod(fixed, dtype=object) <= _MAX_BLOCK:
        raise Refuse(f"the other sizes must be known, for a block of at most {_MAX_BLOCK}")
    fill = node.input(2)
    kind = needed(x.dtype, f"the dtype of {x.name} must be known")
    value = np.zeros((), kind) if fill is None else build.need_const(fill, "the value")
    block = build.constant(np.full(fixed, value.reshape(-1)[0], value.dtype))
    # Read from where its size comes from, so that the proof tries sizes that belong together.
    data = _laid_flat(x)
    x = x if data is None else build.Reshape(data, [-1])
    return build.Slice(build.Concat(x, block, axis=axis), starts=[0], ends=[size], axes=[axis])


def _padded(pads: list[_Sum | None], rank: int) -> list[int]:
    """Return the one axis that is padded, at its end."""
    some = [place for place, pad in enumerate(pads) if pad is None or +_absolute(pad)]
    if len(some) != 1 or some[0] < rank:
        raise Refuse("the end of one axis must be padded; more are, or the front")
    return [some[0] - rank]


def _absolute(terms: _Sum) -> _Sum:
    return Counter({name: abs(count) for name, count in terms.items()})


def _plus(one: _Sum, other: _Sum, times: int = 1) -> _Sum:
    total = Counter({name: one[name] + times * other[name] for name in {*one, *other}})
    return Counter({name: count for name, count in total.items() if count})


def _size(x: Value, axis: int, depth: int = _DEPTH) -> _Sum | None:
    """Return the size of an axis; of what is laid flat that of all rows."""
    known = x.shape[axis] if x.shape is not None else None
    if isinstance(known, int):
        return Counter({_NUMBER: known})
    data = _laid_flat(x)
    shape = None if data is None else data.shape
    if data is not None and shape is not None and depth:
        free = [place for place, size in enumerate(shape) if not isinstance(size, int)]
        width = int(np.prod([size for size in shape if isinstance(size, int)], dtype=object))
        inner = _size(data, free[0], depth - 1) if len(free) == 1 else None
        return None if inner is None else _plus(Counter(), inner, width)
    return Counter({known if isinstance(known, str) else (id(x.tensor), axis): 1})


def _laid_flat(x: Value) -> Value | None:
    """Return what a vector is, laid flat; None where it is not known to be."""
    maker = x.producer
    if maker is None or maker.op != "Reshape" or maker.domain:
        return None
    asked = maker.need(1).array()
    return maker.need(0) if asked is not None and asked.tolist() == [-1] else None


@kept_stepwise(in_a_loop=None)
def _element(asked: _Asked) -> _Steps:
    """Return an element of a tensor as a sum of sizes; None where it is of more.

    It is asked with integers of 64 bits, which of them in the order of rows, and how many more
    nodes are looked at.
    """
    value, place, depth = asked
    known = value.array()
    if known is not None:
        return Counter({_NUMBER: int(known.reshape(-1)[place])}) if place < known.size else None
    node = value.producer
    if node is None or node.domain or not depth or value.dtype != np.dtype(np.int64):
        return None
    if node.op in ("Add", "Sub", "Mul"):
        return (yield from _computed(node, place, depth))
    if node.op == "Shape":
        sizes = range(node.need(0).rank or 0)[int(node.attr("start", 0)) :]
        return _size(node.need(0), sizes[place]) if place < len(sizes) else None
    source = _source(node, place)
    return None if source is None else (yield *source, depth - 1)


def _computed(node: NodeView, place: int, depth: int) -> _Steps:
    result = node.output(0)
    sides: list[_Sum] = []
    for operand in (node.need(0), node.need(1)):
        shape = operand.static_shape
        alone = shape is not None and set(shape) <= {1}
        if result is None or not (alone or shape == result.static_shape):
            return None
        found = yield operand, 0 if alone else place, depth - 1
        if found is None:
            return None
        sides.append(found)
    one, other = sides
    if node.op != "Mul":
        return _plus(one, other, -1 if node.op == "Sub" else 1)
    if set(one) - {_NUMBER}:
        one, other = other, one
    return None if set(one) - {_NUMBER} else _plus(Counter(), other, one[_NUMBER])


def _source(node: NodeView, place: int) -> tuple[Value, int] | None:
    """Return of which value, and which, the element is that a node moves to a place."""
    if node.op == "Cast":
        return node.need(0), place
    if node.op == "Concat":
        return _joined(node, place)
    shape = node.need(0).static_shape
    model = FUNCTIONS.get(node.op) if node.op in _MOVING else None
    if shape is None or model is None or np.prod(shape, dtype=object) > _MOST:
        return None
    places: Array = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    others = [None if value is None else value.array() for value in node.inputs[1:]]
    try:
        moved = model(node, [places, *others])
    except (ValueError, IndexError):  # a node that does not fit its data
        return None
    if not moved or place >= moved[0].size:
        return None
    return node.need(0), int(moved[0].reshape(-1)[place])


def _joined(node: NodeView, place: int) -> tuple[Value, int] | None:
    for part in node.inputs:
        count = None if part is None or part.rank != 1 else part.dim(0)
        if part is None or count is None:
            return None
        if place < count:
            return part, place
        place -= count
    return None
