"""Writing to constant places with Where: a mask, a map, and the updates spread by Gather."""

from collections.abc import Sequence

import numpy as np

from graphfix.authoring import Builder, Refuse, Value, need_rank

from ._indices import Array, combined, refuse_strings, rounds_of

MAX_ELEMENTS = 2**20


def refuse_large(size: int, limit: int) -> None:
    """Refuse a mask that would make the file grow beyond reason.

    Raises:
        Refuse: It has more than `limit` elements.
    """
    if size > limit:
        raise Refuse(
            f"the mask must have at most max_elements = {limit} elements; it would have {size}"
        )


def masked_write(
    build: Builder,
    data: Value,
    updates: Value,
    positions: Array,
    *,
    sizes: Sequence[int],
    first: int,
    update_axis: int,
    reduction: str,
) -> Value:
    """Emit the data with updates written to constant places.

    Args:
        build: The builder.
        data: The data, of any shape that has `sizes` from axis `first` on.
        updates: The updates; they are counted along `update_axis`.
        positions: Where each update goes, in the flattened `sizes`; int64 [n].
        sizes: The sizes of the axes that are written along.
        first: The first of these axes.
        update_axis: The axis of `updates` that `positions` run along; its place is taken by
            `sizes` when they are spread.
        reduction: How an update is combined with what is there.

    Raises:
        Refuse: A place is written twice without a reduction, or too often; strings.
    """
    refuse_strings(data)
    rank = need_rank(data)
    shape = [1] * first + list(sizes) + [1] * (rank - first - len(sizes))
    total = int(np.prod(sizes))
    written = data
    for chosen in rounds_of(positions, reduction):
        mask = np.zeros(total, dtype=np.bool_)
        mask[positions[chosen]] = True
        source = np.zeros(total, dtype=np.int64)
        source[positions[chosen]] = chosen
        spread = build.Gather(updates, source.reshape(tuple(sizes)), axis=update_axis)
        value = combined(build, reduction, written, spread)
        written = value if mask.all() else build.Where(mask.reshape(shape), value, written)
    return written


def broadcast_write(
    build: Builder, data: Value, update: Value, mask: Array, reduction: str
) -> Value:
    """Emit the data with one update, of size 1 along the masked axes, written where `mask` is.

    Raises:
        Refuse: Strings are written, or the reduction does not fit.
    """
    refuse_strings(data)
    value = combined(build, reduction, data, update)
    return build.Where(mask, value, data)
