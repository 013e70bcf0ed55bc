"""Following a sequence back to the tensors that it was made of."""

import numpy as np
from msgspec import Struct

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank

MAX_PIECES = 256


class Listed(Struct, frozen=True):
    """A sequence whose tensors are all known."""

    values: tuple[Value, ...]


class Pieces(Struct, frozen=True):
    """A sequence that SplitToSequence made.

    Attributes:
        x: The tensor.
        axis: The axis, from 0 on.
        step: The length of each piece; the last may be shorter. 0 where `sizes` tells.
        sizes: The length of each piece; None where the length of the axis is not known.
        kept: Whether the pieces keep the axis.
    """

    x: Value
    axis: int
    step: int
    sizes: tuple[int, ...] | None
    kept: bool

    @property
    def rank(self) -> int:
        """The rank of the tensor that was cut."""
        assert self.x.rank is not None  # looked at when it was made
        return self.x.rank


def axis_of(axis: int, rank: int) -> int:
    """Return the axis counted from 0.

    Raises:
        Refuse: There is no such axis.
    """
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    return axis % rank


def trace(sequence: Value) -> Listed | Pieces:
    """Return what a sequence was made of.

    Raises:
        Refuse: It is the output of a Loop or an If, it is an input, or a position or a length is
            computed at run time.
    """
    maker = sequence.producer
    if maker is None:
        raise Refuse(f"the sequence {sequence.name} must be made in its graph; it is an input")
    if maker.domain:
        raise Refuse(
            f"the sequence {sequence.name} must be made by an operator of ONNX; it is made by "
            f"{maker.domain}::{maker.op}"
        )
    if maker.op == "SequenceEmpty":
        return Listed(())
    if maker.op == "SequenceConstruct":
        return Listed(tuple(maker.need(i) for i in range(len(maker.inputs))))
    if maker.op == "Identity":
        return trace(maker.need(0))
    if maker.op == "SplitToSequence":
        return _cut(maker)
    if maker.op in ("SequenceInsert", "SequenceErase"):
        before = trace(maker.need(0))
        if isinstance(before, Pieces):
            raise Refuse(
                f"a sequence that SplitToSequence made must not be changed; {maker.op} changes it"
            )
        values = list(before.values)
        if maker.op == "SequenceErase":
            del values[_place(maker.input(1), len(values), len(values) - 1, -1)]
        else:
            values.insert(
                _place(maker.input(2), len(values), len(values), len(values)), maker.need(1)
            )
        return Listed(tuple(values))
    raise Refuse(
        f"the sequence {sequence.name} must be made by SequenceConstruct, SplitToSequence or "
        f"what changes those; it is made by {maker.op}"
    )


def _place(given: Value | None, count: int, default: int, last: int) -> int:
    """Return a position in a sequence of `count` tensors, counted from 0.

    Positions from -count to `last` are in range; `last` -1 stands for count - 1.

    Raises:
        Refuse: It is computed at run time or out of range.
    """
    place = default
    if given is not None:
        array = given.array()
        if array is None or array.size != 1:
            raise Refuse(
                f"the position {given.name} must be a constant; it is computed at run time"
            )
        place = int(array.reshape(()))
    if not -count <= place <= (last if last >= 0 else count - 1):
        raise Refuse(f"the position must lie in a sequence of {count}; it is {place}")
    return place if place >= 0 else place + count


def _cut(node: NodeView) -> Pieces:
    x = node.need(0)
    rank = need_rank(x)
    axis = axis_of(int(node.attr("axis", 0)), rank)
    length = x.dim(axis)
    split = node.input(1)
    if split is None:
        sizes = None if length is None else (1,) * length
        return Pieces(x, axis, 1, sizes, bool(node.attr("keepdims", 1)))
    array = split.array()
    if array is None:
        raise Refuse(f"the lengths {split.name} must be constant; they are computed at run time")
    if array.ndim == 1:
        return Pieces(x, axis, 0, tuple(int(size) for size in array), True)
    step, kept = int(array), bool(node.attr("keepdims", 1))
    if step < 1:
        raise Refuse(f"the length of a piece must be at least 1; it is {step}")
    if not kept and step > 1:
        raise Refuse(f"pieces must be of one element to lose their axis; they are of {step}")
    sizes = None
    if length is not None:
        sizes = tuple(min(step, length - start) for start in range(0, length, step))
    # ONNX would keep the axis next to a length; onnxruntime and PyTorch, who writes it, do not.
    return Pieces(x, axis, step, sizes, kept)


def taken(build: Builder, sequence: Listed | Pieces, index: int) -> Value:
    """Return the tensor at a known position, which may count from the end.

    Raises:
        Refuse: It is out of range, or counts from an end that is not known.
    """
    if isinstance(sequence, Listed):
        count = len(sequence.values)
        if not -count <= index < count:
            raise Refuse(f"the position must lie in a sequence of {count}; it is {index}")
        return sequence.values[index]
    if sequence.sizes is None:
        if sequence.step == 1:
            return _gathered(build, sequence, index)
        if index < 0:
            raise Refuse(
                f"the position must not be negative in a sequence of unknown length; it is {index}"
            )
        return _sliced(build, sequence, index * sequence.step, (index + 1) * sequence.step)
    count = len(sequence.sizes)
    if not -count <= index < count:
        raise Refuse(f"the position must lie in a sequence of {count}; it is {index}")
    index %= count
    if sequence.step == 1:
        return _gathered(build, sequence, index)
    start = sum(sequence.sizes[:index])
    return _sliced(build, sequence, start, start + sequence.sizes[index])


def _gathered(build: Builder, cut: Pieces, index: int) -> Value:
    where = np.array([index] if cut.kept else index, dtype=np.int64)
    return build.Gather(cut.x, build.constant(where), axis=cut.axis)


def _sliced(build: Builder, cut: Pieces, start: int, end: int) -> Value:
    return build.Slice(cut.x, starts=[start], ends=[end], axes=[cut.axis])


def pieces(build: Builder, sequence: Listed | Pieces) -> list[Value]:
    """Return all tensors of a sequence.

    Raises:
        Refuse: Their number is not known, or more than `MAX_PIECES`.
    """
    if isinstance(sequence, Listed):
        return list(sequence.values)
    if sequence.sizes is None:
        raise Refuse(f"the length of axis {sequence.axis} of {sequence.x.name} must be known")
    if len(sequence.sizes) > MAX_PIECES:
        raise Refuse(
            f"the sequence must have at most {MAX_PIECES} tensors; it has {len(sequence.sizes)}"
        )
    return [taken(build, sequence, index) for index in range(len(sequence.sizes))]
