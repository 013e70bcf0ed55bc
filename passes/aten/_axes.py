"""Products with a constant matrix along one axis, and what pools have in common."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank, need_type, needed

from ._arguments import call_of

LOW_PRECISION = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, *LOW_PRECISION)


def spatial_input(x: Value, spatial: int) -> int:
    """Return the rank of the input of an operator on images: [N, C, ...] or [C, ...].

    Raises:
        Refuse: The rank or the dtype is unknown, or they do not fit.
    """
    rank = need_rank(x)
    if rank not in (spatial + 1, spatial + 2):
        raise Refuse(f"the rank of {x.name} must be {spatial + 1} or {spatial + 2}; it is {rank}")
    need_type(x, FLOATS)
    return rank


def sizes_along(
    x: Value, output: Sequence[int | None]
) -> tuple[tuple[int | None, int | None], ...]:
    """Return (input size, output size) of the last axes of `x`; None where not known.

    Where `output` is None the size stays what it is.
    """
    first = (x.rank or 0) - len(output)
    pairs: list[tuple[int | None, int | None]] = []
    for position, wanted in enumerate(output):
        known = x.dim(first + position)
        pairs.append((known, known if wanted is None else int(wanted)))
    return tuple(pairs)


def batched(build: Builder, x: Value, spatial: int, work: Callable[[Value], Value]) -> Value:
    """Do `work` on [N, C, ...], adding and taking away N where the input is [C, ...]."""
    if x.rank == spatial + 2:
        return work(x)
    return build.Squeeze(work(build.Unsqueeze(x, axes=[0])), axes=[0])


def widened(build: Builder, x: Value, work: Callable[[Value], Value]) -> Value:
    """Do `work` in float32 where the type is float16 or bfloat16, as PyTorch accumulates."""
    if x.elem_type not in LOW_PRECISION:
        return work(x)
    return build.Cast(work(build.Cast(x, to=TensorProto.FLOAT)), to=x.elem_type)


def along_axis(build: Builder, x: Value, axis: int, matrix: Array) -> Value:
    """Return the product of `matrix` [to, from] with every line of `x` along `axis`."""
    rank = need_rank(x)
    weights = matrix.astype(x.dtype)
    if axis == rank - 2:
        # The operands get the same rank: not every engine broadcasts a matrix over a stack.
        return build.MatMul(weights.reshape((1,) * (rank - 2) + weights.shape), x)
    turned = np.ascontiguousarray(weights.T).reshape((1,) * (rank - 2) + weights.shape[::-1])
    if axis == rank - 1:
        return build.MatMul(x, turned)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return build.Transpose(build.MatMul(build.Transpose(x, perm=order), turned), perm=order)


def windows(size: int, output: int) -> list[tuple[int, int]]:
    """Return [start, end) of each window of adaptive pooling.

    floor(i * size / output) to ceil((i + 1) * size / output), as in pytorch/pytorch
    aten/src/ATen/native/AdaptivePooling.h.
    """
    return [(i * size // output, -(-(i + 1) * size // output)) for i in range(output)]


def boxed(lists: Sequence[Sequence[tuple[int, int]]], place: Sequence[int]) -> tuple[slice, ...]:
    """Return the box of one window: the `place[k]`-th entry of `lists[k]` along each axis k."""
    return tuple(
        slice(along[index][0], along[index][1]) for along, index in zip(lists, place, strict=True)
    )


SCHEMA = ("self", "output_size")


class Pooling(Struct, frozen=True):
    """An adaptive pooling.

    Attributes:
        x: What is pooled, [N, C, ...] or [C, ...].
        sizes: (input size, output size) of each pooled axis; None where not known.
    """

    x: Value
    sizes: tuple[tuple[int | None, int | None], ...]

    @property
    def is_identity(self) -> bool:
        """Whether every axis stays as it is."""
        return all(self.keeps(position) for position in range(len(self.sizes)))

    def keeps(self, position: int) -> bool:
        """Say whether an axis keeps its size, known or not: each window is one element."""
        size, output = self.sizes[position]
        return size == output

    @property
    def is_global(self) -> bool:
        """Whether one value is left of each channel."""
        return all(output == 1 for _, output in self.sizes)

    @property
    def factors(self) -> tuple[int, ...] | None:
        """The size of the windows where all are equal and do not overlap, else None."""
        found: list[int] = []
        for size, output in self.sizes:
            if not size or not output or size % output:
                return None
            found.append(size // output)
        return tuple(found)

    def known(self, position: int) -> tuple[int, int]:
        """Return input and output size of an axis.

        Raises:
            Refuse: One is not known or zero.
        """
        size, output = self.sizes[position]
        if not size or not output:
            raise Refuse(f"the size of pooled axis {position} of {self.x.name} must be known")
        return size, output


def dimensions_of(operator: str) -> int:
    """Return the number of axes that an operator's name ends in: ``...pool2d``, ``...2d_aa``."""
    return int(operator.removesuffix("_aa")[-2])


def pooling_of(node: NodeView, names: Sequence[str]) -> Pooling:
    """Read an adaptive pooling.

    Raises:
        Refuse: An argument is computed at run time, or rank or dtype are unknown.
    """
    call = call_of(node, dict.fromkeys(names, SCHEMA))
    spatial = dimensions_of(call.operator)
    x = call.need("self")
    spatial_input(x, spatial)
    given = needed(call.entries("output_size"), "output_size must be given")
    output = given * spatial if len(given) == 1 else given
    if len(output) != spatial:
        raise Refuse(
            f"output_size must have an entry for each of {spatial} axes; it has {len(output)}"
        )
    return Pooling(x, sizes_along(x, output))


def pooled_shape(node: NodeView, names: Sequence[str]) -> tuple[int, tuple[Any, ...] | None]:
    """Return element type and shape of what an adaptive pooling gives."""
    pooling = pooling_of(node, names)
    shape = pooling.x.shape
    assert shape is not None  # pooling_of has looked
    kept = shape[: len(shape) - len(pooling.sizes)]
    old = shape[len(kept) :]
    new = tuple(
        output if output is not None else dim
        for (_, output), dim in zip(pooling.sizes, old, strict=True)
    )
    return pooling.x.elem_type, (*kept, *new)
