"""Replace affine_grid_generator by a product with constant coordinates.

What it does: The coordinates of an image or a volume of known size, with a one after, are a
    constant; one MatMul with the transposed matrices moves them, and a Reshape gives them their
    places.
Why engines need it: ONNX has AffineGrid since opset 20, which engines do not know, and PyTorch's
    exporter writes an ATen node.
Before: y = org.pytorch.aten.ATen <operator = "affine_grid_generator"> (theta, [B, C, H, W], 0)
After:
    m = MatMul (coordinates, Transpose <perm = [0, 2, 1]> (theta))  # [1, H*W, 3] by [B, 3, 2]
    y = Reshape (m, [B, H, W, 2])
When it refuses: The size or align_corners is computed at run time, the size has not 4 or 5 entries
    or a zero in them, the matrices are not 2 by 3 or 3 by 4, or the type is not floating point.
Accuracy: Exact up to rounding: the coordinates are computed in float64 and rounded to the type.
    float16 and bfloat16 are computed in float32.
References: pytorch/pytorch aten/src/ATen/native/AffineGridGenerator.cpp;
    https://onnx.ai/onnx/operators/onnx__MatMul.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

from ._arguments import ArrayCall, call_of, replacing
from ._axes import FLOATS, widened

NAMES = ("affine_grid_generator",)
SCHEMA = ("theta", "size", "align_corners")


def coordinates(sizes: Sequence[int], *, aligned: bool) -> Array:
    """Return the coordinates of all places and a one: [product of sizes, len(sizes) + 1].

    Args:
        sizes: Depth (of volumes), height, width.
        aligned: Whether -1 and 1 are the middles of the outer pixels, else their outer edges.
    """
    lines = [
        np.zeros(1)
        if size == 1
        else np.linspace(-1, 1, size) * (1.0 if aligned else (size - 1) / size)
        for size in sizes
    ]
    places = np.stack(np.meshgrid(*lines, indexing="ij")[::-1], axis=-1)
    flat: Array = places.reshape(-1, len(sizes))
    return np.concatenate([flat, np.ones((len(flat), 1))], axis=1)


def _read(node: NodeView) -> tuple[Value, tuple[int, ...], bool]:
    """Return the matrices, the size with batch and channels, and align_corners."""
    call = call_of(node, dict.fromkeys(NAMES, SCHEMA))
    theta, size = call.need("theta"), call.integers("size")
    if size is None or len(size) not in (4, 5) or min(size) < 1:
        raise Refuse(f"the size must be that of images or volumes; it is {size}")
    spatial = len(size) - 2
    if theta.rank is None or theta.elem_type not in FLOATS:
        raise Refuse(f"the rank of {theta.name} must be known and its dtype floating point")
    wanted = (size[0], spatial, spatial + 1)
    if theta.rank != 3 or any(
        theta.dim(axis) not in (None, known) for axis, known in enumerate(wanted)
    ):
        raise Refuse(
            f"the shape of {theta.name} must be {list(wanted)}; it is {list(theta.shape or ())}"
        )
    return theta, size, bool(call.number("align_corners", 0))


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy, in float64."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    theta, size = call.need("theta"), [int(n) for n in call.entries("size") or ()]
    base = coordinates(size[2:], aligned=bool(call.number("align_corners", 0)))
    moved = base @ theta.astype(np.float64).transpose(0, 2, 1)
    return (moved.reshape(size[0], *size[2:], len(size) - 2).astype(theta.dtype),)


@replacing(NAMES, emits="Cast MatMul Reshape Transpose", evaluate=evaluate)
def aten_affine_grid(node: NodeView, build: Builder) -> Value:
    """Multiply by the matrices, see the module."""
    theta, size, aligned = _read(node)
    base = coordinates(size[2:], aligned=aligned)[None]

    def work(matrices: Value) -> Value:
        turned = build.Transpose(matrices, perm=[0, 2, 1])
        moved = build.MatMul(base.astype(matrices.dtype), turned)
        return build.Reshape(moved, [size[0], *size[2:], len(size) - 2])

    return widened(build, theta, work)
