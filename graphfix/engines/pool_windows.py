"""Where the windows of a pool lie, for rules of several families."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.rule import Answer
from graphfix.ir.views import NodeView


def window_sticks_out(node: NodeView) -> bool:
    """Say whether the last windows may reach beyond the padded input."""
    axes = pool_windows(node)
    return _leaps(node) if axes is None else any(_last_sticks_out(*axis) for axis in axes)


def ends_of_full_windows(node: NodeView) -> dict[int, int] | None:
    """Return axis -> the first window that reaches beyond the padded input with ceil_mode.

    Axes where none does are left out; None where a size is not known.
    """
    axes = pool_windows(node)
    if axes is None:
        return None if _leaps(node) else {}
    return {
        place: max((size + before + after - wide) // step + 1, 0)
        for place, (size, wide, step, before, after) in enumerate(axes, 2)
        if _last_sticks_out(size, wide, step, before, after)
    }


def _last_sticks_out(size: int, wide: int, step: int, before: int, after: int) -> bool:
    """Say whether the last window that begins in the input reaches beyond its padding."""
    left = size + before + after - wide
    return bool(left % step) and (left // step + 1) * step < size + before


def pool_windows(node: NodeView) -> list[tuple[int, int, int, int, int]] | None:
    """Return size, window, stride and pads of each axis; None where a size is not known."""
    sizes = _sizes(node)
    dilated = any(int(step) != 1 for step in node.attr("dilations", ()))
    window = [int(size) for size in node.attr("kernel_shape", ())]
    count = len(window)
    if sizes is None or len(sizes) != count or dilated:
        return None
    strides = [int(step) for step in node.attr("strides", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    return list(zip(sizes, window, strides, pads[:count], pads[count:], strict=True))


def _sizes(node: NodeView) -> list[int] | None:
    """Return the sizes of the axes that a window moves along; None where one is not known."""
    data = node.input(0)
    shape = None if data is None else data.shape
    if shape is None:
        return None
    sizes = [size for size in shape[2:] if isinstance(size, int)]
    return sizes if len(sizes) == len(shape) - 2 else None


def sizes_are_open(node: NodeView) -> bool:
    """Say whether it depends on sizes that are not known where windows end."""
    return _sizes(node) is None and _leaps(node)


def _leaps(node: NodeView) -> bool:
    """Say whether windows move by more than 1; others never reach beyond the input."""
    return any(int(step) != 1 for step in node.attr("strides", ()))


def window_begins_after(node: NodeView) -> Answer:
    """Say whether a window begins after the input with ceil_mode; ONNX leaves such ones out."""
    if not node.attr("ceil_mode", 0):
        return False
    axes = pool_windows(node)
    if axes is None:
        return Unknown(f"sizes of {node.need(0).name}") if _may_begin_after(node) else False
    return any(
        -(-(size + before + after - wide) // step) * step >= size + before
        for size, wide, step, before, after in axes
    )


def _may_begin_after(node: NodeView) -> bool:
    """Say whether a window begins after an input of some size: the last may reach that far."""
    window = [int(size) for size in node.attr("kernel_shape", ())]
    count = len(window)
    steps = [int(step) for step in node.attr("strides", ())] or [1] * count
    ends = [int(size) for size in node.attr("pads", ())][count:] or [0] * count
    spread = [int(factor) for factor in node.attr("dilations", ())] or [1] * count
    return any(
        step > 1 and after + step > (wide - 1) * factor + 1
        for wide, step, after, factor in zip(window, steps, ends, spread, strict=False)
    )


def window_is_larger(node: NodeView) -> bool:
    """Say whether a window is larger than the padded input; False where no size is known."""
    data = node.input(0)
    sizes = None if data is None else data.shape
    window = node.attr("kernel_shape", ())
    if sizes is None or len(sizes) != len(window) + 2:
        return False
    pads = node.attr("pads", ()) or [0] * (2 * len(window))
    padded = [
        size + pads[axis] + pads[axis + len(window)] if isinstance(size, int) else None
        for axis, size in enumerate(sizes[2:])
    ]
    return any(have is not None and have < want for have, want in zip(padded, window, strict=True))
