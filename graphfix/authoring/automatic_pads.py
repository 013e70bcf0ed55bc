"""What the pads come to that a convolution or a pool leaves to `auto_pad` or `output_shape`."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.ir.views import NodeView

SAME = ("SAME_LOWER", "SAME_UPPER")


def automatic_pads(node: NodeView) -> list[int | None] | None:
    """Return for each axis in space what is padded at both of its ends together.

    It may be negative: less is wanted than the windows reach, or more. onnxruntime pads by 0 then.

    Args:
        node: A Conv, ConvTranspose or a pool.

    Returns:
        None where the node leaves no pads to be computed; None for an axis where a size is missing.
    """
    windows = _windows(node)
    transposed = node.op == "ConvTranspose"
    wanted_shape = node.attr("output_shape", None) if transposed else None
    if windows is None or (wanted_shape is None and node.attr("auto_pad", "NOTSET") not in SAME):
        return None
    axes = len(windows)
    strides = [int(step) for step in node.attr("strides", ())] or [1] * axes
    dilations = [int(step) for step in node.attr("dilations", ())] or [1] * axes
    spans = [
        None if window is None else dilation * (window - 1) + 1
        for window, dilation in zip(windows, dilations, strict=True)
    ]
    if not transposed:
        return _of_windows(_sizes(node, axes), spans, strides)
    if wanted_shape is None:
        # Each element of the input makes as many of the output as the stride says.
        return [
            None if span is None else span - step for span, step in zip(spans, strides, strict=True)
        ]
    wanted = [int(size) for size in wanted_shape][-axes:]  # older models name all axes
    more = [int(size) for size in node.attr("output_padding", ())] or [0] * axes
    return [
        None if size is None or span is None else step * (size - 1) + extra + span - want
        for size, span, step, extra, want in zip(
            _sizes(node, axes), spans, strides, more, wanted, strict=True
        )
    ]


def split_pads(node: NodeView, sums: Sequence[int]) -> list[int]:
    """Return the pads that such sums are split to: all at the beginnings, then all at the ends."""
    upper = node.attr("auto_pad", "NOTSET") == "SAME_UPPER"
    begins = [total // 2 if upper else total - total // 2 for total in sums]
    return begins + [total - begin for total, begin in zip(sums, begins, strict=True)]


def _of_windows(
    sizes: Sequence[int | None], spans: Sequence[int | None], strides: Sequence[int]
) -> list[int | None]:
    """Return what is missing of the windows; with a stride of 1 that is so for any size."""
    return [
        None
        if span is None or (size is None and step != 1)
        else (-(-(size or 0) // step) - 1) * step + span - (size or 0)
        for size, span, step in zip(sizes, spans, strides, strict=True)
    ]


def _windows(node: NodeView) -> list[int | None] | None:
    given = node.attr("kernel_shape", None)
    if given is not None:
        return [int(size) for size in given]
    weights = node.input(1)
    if weights is None or weights.rank is None:
        return None
    return [weights.dim(axis) for axis in range(2, weights.rank)]


def _sizes(node: NodeView, axes: int) -> list[int | None]:
    x = node.need(0)
    return [x.dim(axis + 2) for axis in range(axes)]
