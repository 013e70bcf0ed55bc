"""Replace Pad with a constant by Concat with blocks of it.

What it does: Joins a block filled with the value before and after the data, along each axis that is
    padded. Pads computed at run time are blocks of a computed size; negative ones cut instead, and
    what they cut beyond the data is missing in the block of the other side.
Why engines need it: TensorRT before 8.2 pads the last two axes only, with zeros, by amounts that
    are initializers; 7.0 reads them from the attribute of opset 10 alone.
Before: y = Pad (x, {0, 1, 0, 2}, 0.5)     x: [3, 4]
After: y = Concat <axis = 1> (block [3, 1], x, block [3, 2])
When it refuses: The mode is not constant, rank or dtype are unknown, the number of pads is unknown,
    or more is taken away than there is.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__Pad.html
"""

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_DEPTH = 8
_END = int(np.iinfo(np.int64).max)
_MAX_BLOCK = 1 << 20
_MOST = 256  # elements of a vector that pads are read from: no tensor has more than 64 axes


class _Entry(Struct, frozen=True):
    """One pad: a number, or element `place` of a vector computed at run time."""

    number: int = 0
    vector: Value | None = None
    place: int = 0

    @property
    def is_zero(self) -> bool:
        return self.vector is None and self.number == 0


_Seen = dict[int, "list[_Entry] | None"]


@rewrite(
    "Pad",
    removes=(
        "form:Pad.* attr:Pad.outer-dims attr:Pad.value attr:Pad.negative const:Pad.* dtype:Pad.*"
    ),
    emits="Add Cast Concat ConstantOfShape Expand Less Shape Slice Sub Where",
)
def pad_constant_to_concat(node: NodeView, build: Builder) -> Value:
    """Join blocks, see the module."""
    x = node.need(0)
    mode = node.attr("mode", "constant")
    if mode != "constant":
        raise Refuse(f"the mode must be constant; it is {mode}")
    if x.rank is None or x.dtype is None:
        raise Refuse(f"the rank and the dtype of {x.name} must be known")
    fill = node.input(2)
    if fill is None:
        fill = build.constant(np.array(node.attr("value", 0), dtype=x.dtype))
    result = x
    for axis, before, after in _pads(node, build, x.rank):
        result = _padded(build, result, fill, axis, before, after)
    return result


def _pads(node: NodeView, build: Builder, rank: int) -> list[tuple[int, _Entry, _Entry]]:
    axes = list(range(rank))
    if node.input(3) is not None:
        axes = [int(a) % rank for a in build.need_const(node.input(3), "the axes").reshape(-1)]
    written = node.attr("pads", node.attr("paddings"))
    if written is not None:
        entries = [_Entry(int(pad)) for pad in written]
    else:
        _check_count(axes, node.need(1).dim(0))
        entries = _entries(node.need(1), build, _DEPTH, {}) or [
            _Entry(0, node.need(1), place) for place in range(2 * len(axes))
        ]
    _check_count(axes, len(entries))
    found = zip(axes, entries[: len(axes)], entries[len(axes) :], strict=True)
    return [pad for pad in found if not (pad[1].is_zero and pad[2].is_zero)]


def _check_count(axes: list[int], count: int | None) -> None:
    if count is not None and count != 2 * len(axes):
        raise Refuse(f"there must be two pads for each of {len(axes)} axes; there are {count}")


def _entries(vector: Value, build: Builder, depth: int, seen: _Seen) -> list[_Entry] | None:
    """Return the elements of a vector, those known without running the model as numbers.

    None also for more of them than pads can be. What is joined with itself again and again is
    looked at once: `seen` has the vectors that were.
    """
    key = id(vector.tensor)
    if key not in seen:
        found = _read(vector, build, depth, seen)
        seen[key] = found if found is None or len(found) <= _MOST else None
    return seen[key]


def _read(vector: Value, build: Builder, depth: int, seen: _Seen) -> list[_Entry] | None:
    known = build.const(vector)
    if known is not None:
        return [_Entry(int(number)) for number in known.reshape(-1)[: _MOST + 1]]
    made = vector.producer
    if not depth or vector.rank != 1:
        return None
    parts: list[_Entry] | None = None
    if made is None or made.domain:
        pass  # computed outside of what is known here
    elif made.op == "Concat":
        parts = []
        for value in made.inputs:
            inner = _entries(value, build, depth - 1, seen) if value is not None else None
            if inner is None or len(parts) > _MOST:
                return None
            parts.extend(inner)
    elif made.op == "Gather":
        whole = _entries(made.need(0), build, depth - 1, seen)
        wanted = build.const(made.need(1))
        if whole is not None and wanted is not None and wanted.ndim == 1:
            parts = [whole[int(place)] for place in wanted[: _MOST + 1]]
    elif made.op == "Cast" and vector.dtype == np.dtype(np.int64):
        parts = _entries(made.need(0), build, depth - 1, seen)
    if parts is None and vector.dim(0) is not None:
        parts = [_Entry(0, vector, place) for place in range(min(vector.dim(0) or 0, _MOST + 1))]
    return parts


def _padded(
    build: Builder, x: Value, fill: Value, axis: int, before: _Entry, after: _Entry
) -> Value:
    first, last = _amount(build, before), _amount(build, after)
    if isinstance(first, int) and isinstance(last, int) and not _unclear(x, axis, first, last):
        x, first, last = _cut(build, x, axis, first, last)
    else:
        x, first, last = _cut_at_run_time(build, x, axis, first, last)
    blocks = [
        None if isinstance(amount, int) and amount <= 0 else _block(build, x, fill, axis, amount)
        for amount in (first, last)
    ]
    joined = [part for part in (blocks[0], x, blocks[1]) if part is not None]
    return build.Concat(*joined, axis=axis) if len(joined) > 1 else x


def _unclear(x: Value, axis: int, before: int, after: int) -> bool:
    """Say whether one side may take away more than there is, and so from the other one's block."""
    return min(before, after) < 0 < max(before, after) and x.dim(axis) is None


def _amount(build: Builder, entry: _Entry) -> int | Value:
    """Return a pad as a number, or as a vector of one int64."""
    if entry.vector is None:
        return entry.number
    one = build.Slice(entry.vector, starts=[entry.place], ends=[entry.place + 1], axes=[0])
    return one if one.dtype == np.dtype(np.int64) else build.Cast(one, to=TensorProto.INT64)


def _cut(build: Builder, x: Value, axis: int, before: int, after: int) -> tuple[Value, int, int]:
    """Take away what negative pads take away; return the data and the blocks that are left."""
    size = x.dim(axis)
    if min(before, after) >= 0:
        return x, before, after
    if size is not None and size + before + after < 0:
        raise Refuse(
            f"the pads must leave axis {axis} as it is or more than nothing of it; they take "
            f"away more than its {size}"
        )
    end = after if after < 0 else _END
    cut = build.Slice(x, starts=[max(-before, 0)], ends=[end], axes=[axis])
    if size is None:
        return cut, 0, 0
    total = size + before + after
    return cut, min(before, total), min(after, total)


def _cut_at_run_time(
    build: Builder, x: Value, axis: int, before: int | Value, after: int | Value
) -> tuple[Value, int | Value, int | Value]:
    """Do so with numbers that are computed."""
    zero = np.zeros(1, np.int64)
    size = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    first, last = (
        build.constant(np.array([amount], np.int64)) if isinstance(amount, int) else amount
        for amount in (before, after)
    )
    total = build.Add(build.Add(size, first), last)

    def loss(amount: Value) -> Value:
        return build.Where(build.Less(amount, zero), build.Sub(zero, amount), zero)

    def block(amount: int | Value, value: Value, other: int | Value) -> int | Value:
        if isinstance(amount, int) and amount <= 0:
            return 0
        count = build.Where(build.Less(value, zero), zero, value)
        if isinstance(other, int) and other >= 0:
            return count
        # The other side takes away more than there is: the rest comes from this block.
        return build.Where(build.Less(total, count), total, count)

    kept = build.Sub(size, loss(last))
    # A negative end would be counted from the end.
    kept = build.Where(build.Less(kept, zero), zero, kept)
    cut = build.Slice(x, starts=loss(first), ends=kept, axes=[axis])
    return cut, block(before, first, after), block(after, last, before)


def _block(build: Builder, x: Value, fill: Value, axis: int, amount: int | Value) -> Value:
    """Return a block of the value, as long along `axis` as the pad and as wide as the data."""
    rank = x.rank or 0
    known = build.const(fill)
    if isinstance(amount, int):
        sizes = [amount if place == axis else x.dim(place) for place in range(rank)]
        fixed = [size for size in sizes if size is not None]
        if known is not None and len(fixed) == rank and np.prod(fixed) <= _MAX_BLOCK:
            return build.constant(np.full(fixed, known.reshape(-1)[0], known.dtype))
        count: Value = build.constant(np.array([amount], np.int64))
    else:
        count = amount
    sizes_at_run_time = build.Shape(x)
    parts = [count]
    if axis:
        parts.insert(0, build.Slice(sizes_at_run_time, starts=[0], ends=[axis], axes=[0]))
    if axis < rank - 1:
        tail = build.Slice(sizes_at_run_time, starts=[axis + 1], ends=[rank], axes=[0])
        parts.append(tail)
    shape = build.Concat(*parts, axis=0) if len(parts) > 1 else count
    if known is not None and build.opset >= 9:
        return build.ConstantOfShape(shape, value=known.reshape(-1)[:1])
    return build.Expand(fill, shape)
