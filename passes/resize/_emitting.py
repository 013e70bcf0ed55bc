"""Emitting a Resize in the form of the opset at hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank

Array = np.ndarray[Any, Any]
SAMPLING = (
    "mode",
    "coordinate_transformation_mode",
    "nearest_mode",
    "cubic_coeff_a",
    "exclude_outside",
    "extrapolation_value",
    "antialias",
)


def sampling_attributes(node: NodeView) -> dict[str, Any]:
    """Return the attributes of a Resize that say how it samples, as they are written."""
    return {name: node.attr(name) for name in SAMPLING if node.has(name)}


def whole_region(rank: int) -> Array:
    """Return the region of interest that covers the whole input: float32 [2 * rank]."""
    return np.array([0.0] * rank + [1.0] * rank, dtype=np.float32)


def sizes_value(
    build: Builder,
    x: Value,
    axes: Sequence[int],
    sizes: Sequence[int | None],
    factors: Sequence[int],
) -> Value:
    """Return sizes as a value: a constant where all are known, else from the shape of `x`.

    Args:
        build: The builder.
        x: What is resized.
        axes: The axes that the sizes belong to.
        sizes: The size along each of them; None where it is known only at run time.
        factors: What the length along each of them is multiplied by then.
    """
    fixed = [size for size in sizes if size is not None]
    if len(fixed) == len(sizes):
        return build.constant(np.array(fixed, dtype=np.int64))
    shape = build.Shape(x)
    parts: list[Value] = []
    for axis, size, factor in zip(axes, sizes, factors, strict=True):
        if size is not None:
            parts.append(build.constant(np.array([size], dtype=np.int64)))
            continue
        part = build.Slice(shape, starts=[axis], ends=[axis + 1], axes=[0])
        parts.append(part if factor == 1 else build.Mul(part, np.array([factor], np.int64)))
    return build.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]


def resize(
    build: Builder,
    x: Value,
    *,
    attributes: Mapping[str, Any],
    scales: Value | Sequence[float] | Array | None = None,
    sizes: Value | Sequence[int] | None = None,
    roi: Value | None = None,
) -> Value:
    """Emit a Resize with scales or with sizes, in the form of the opset.

    Where the schema demands a roi (opsets 11 and 12) that nothing reads, the whole input is
    given: some engines cannot take an empty tensor.

    Raises:
        Refuse: The opset has no such form.
    """
    rank = need_rank(x)
    factors = scales
    if scales is not None and not isinstance(scales, Value):
        factors = build.constant(np.asarray(scales, dtype=np.float32))
    if build.opset < 11:
        if factors is None:
            raise Refuse(
                f"the opset must be at least 11 for a Resize with sizes; it is {build.opset}"
            )
        return build.Resize(x, factors, **attributes)
    if build.opset < 13:
        if roi is None:
            roi = build.constant(whole_region(rank))
        if factors is None:
            factors = build.constant(np.zeros(0, dtype=np.float32))
    return build.Resize(x, roi, factors, sizes, **attributes)
