"""Products with a constant matrix along one axis, and the sizes that pooling needs."""

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value, need_rank, need_type

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
