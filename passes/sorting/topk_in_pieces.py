"""Take a large TopK in several pieces.

What it does: Takes the first 3840 elements, puts the infinite number that comes last in their
    places, takes the next 3840, and joins what was taken. Elements that are that infinite number
    themselves come last; their indices are taken apart, from the lowest on.
Why engines need it: TensorRT gives at most 3840 elements ("TopK: K exceeds the maximum value
    allowed (3840).").
Before: values, indices = TopK (Sigmoid (x), 5000)
After:
    s = Sigmoid (x)
    v1, i1 = TopK (s, 3840)
    rest = ScatterElements (s, i1, Expand (-inf, Shape (i1)))
    v2, i2 = TopK (rest, 1160)
    values = Concat (v1, v2)
    indices = Concat (i1, i2)
When it refuses: K is computed at run time or small enough, more than 16 pieces are needed, or the
    elements are not floats.
Accuracy: Exact: every element is given once, equal ones in the order of their indices; NaN has no
    order. Approximate where the size along the axis is unknown or above 2^24 and elements may be
    infinite: the index of one that is infinite in the direction of the end may be given twice, and
    that of another one not.
References: NvInfer.h 8.6.1:7335; NVIDIA/TensorRT issues 3846, 4244;
    https://onnx.ai/onnx/operators/onnx__TopK.html
"""

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.analysis.folding.upper_bounds import is_finite
from graphfix.authoring import APPROXIMATE, Array, Builder, NodeView, Option, Refuse, Value, rewrite

_PIECES = 16
_LARGEST_WHOLE = 1 << 24  # float32 holds every integer up to here


@rewrite(
    "TopK",
    removes="attr:TopK.k",
    emits=(
        "Cast Concat Equal Expand GatherElements Less ReduceSum ScatterElements Shape Sub TopK "
        "Where"
    ),
    since=11,
    options={"most": Option(int, 3840, "The largest K that the engine takes.")},
)
def topk_in_pieces(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take one piece after the other, see the module."""
    x, most = node.need(0), int(build.option("most"))
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    wanted = int(build.need_const(node.input(1), "K").reshape(-1)[0])
    if not most < wanted <= most * _PIECES:
        raise Refuse(f"K must be above {most} and at most {_PIECES} times that; it is {wanted}")
    taking = _Taking(build, int(node.attr("axis", -1)), int(node.attr("largest", 1)), wanted, most)
    values, indices = taking.pieces(x)
    if node.output(1) is not None and not is_finite(x):
        indices = taking.with_infinite_ones(x, indices)
    results = (values, indices)
    return tuple(r if node.output(i) is not None else None for i, r in enumerate(results))[
        : len(node.outputs)
    ]


class _Taking(Struct, frozen=True):
    """What is taken: `wanted` elements along an axis, at most `most` at a time."""

    build: Builder
    axis: int
    largest: int
    wanted: int
    most: int

    def pieces(self, x: Value) -> tuple[Value, Value]:
        """Return values and indices, where no element is the infinite number that comes last."""
        build, taken, left = self.build, 0, x
        assert x.dtype is not None
        last = build.constant(x.dtype.type(self._last))
        values: list[Value] = []
        indices: list[Value] = []
        while taken < self.wanted:
            size = min(self.most, self.wanted - taken)
            taken += size
            found = build.multi(
                "TopK",
                left,
                np.array([size]),
                outputs=2,
                axis=self.axis,
                largest=self.largest,
                sorted=1,
            )
            values.append(found[0])
            indices.append(found[1])
            if taken < self.wanted:
                marks = build.Expand(last, build.Shape(found[1]))
                left = build.ScatterElements(left, found[1], marks, axis=self.axis)
        return build.Concat(*values, axis=self.axis), build.Concat(*indices, axis=self.axis)

    def with_infinite_ones(self, x: Value, indices: Value) -> Value:
        """Return the indices, those of the elements that are infinite and come last as well.

        Such an element has no place of its own among those that were marked as taken. Here their
        positions are sorted, and are after as many indices as there are other elements.
        """
        build, rank = self.build, x.rank or 0
        size = x.dim(self.axis) if rank else None
        if size is None or size > _LARGEST_WHOLE or x.dtype is None:
            build.declare(APPROXIMATE, "an index of an infinite element may be given twice")
            return indices
        is_last = build.Equal(x, x.dtype.type(self._last))
        counts = build.Where(is_last, np.float32(0), np.float32(1))
        others = build.ReduceSum(counts, axes=np.array([self.axis]), keepdims=1)
        others = build.Cast(others, to=TensorProto.INT64)
        # Positions as keys: the lowest comes first, and what is no candidate after all of them.
        sign = -1 if self.largest else 1
        after = np.int64(sign * 2 * _LARGEST_WHOLE)
        key = build.Where(is_last, sign * self._counted(size, rank), after)
        _, positions = self.pieces(build.Cast(key, to=TensorProto.FLOAT))
        slots = self._counted(self.wanted, rank)
        is_other = build.Less(slots, others)
        place = build.Where(is_other, np.int64(0), build.Sub(slots, others))
        infinite = build.GatherElements(positions, place, axis=self.axis)
        return build.Where(is_other, indices, infinite)

    def _counted(self, size: int, rank: int) -> Array:
        """Return 0, 1, ... along the axis, to be broadcast."""
        shape = [1] * rank
        shape[self.axis] = size
        return np.arange(size, dtype=np.int64).reshape(shape)

    @property
    def _last(self) -> float:
        return -np.inf if self.largest else np.inf
