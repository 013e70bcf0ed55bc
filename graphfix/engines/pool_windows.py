"""Where the windows of a pool lie, for rules of several families."""

from __future__ import annotations

from graphfix.ir.views import NodeView


def window_sticks_out(node: NodeView) -> bool:
    """Say whether the last windows may reach beyond the padded input."""
    axes = pool_windows(node)
    if axes is None:
        return True
    return any((size + before + after - wide) % step for size, wide, step, before, after in axes)


def ends_of_full_windows(node: NodeView) -> dict[int, int] | None:
    """Return axis -> the first window that reaches beyond the padded input with ceil_mode.

    Axes where none does are left out; None where a size is not known.
    """
    axes = pool_windows(node)
    if axes is None:
        return None
    free = [(size + before + after - wide, step) for size, wide, step, before, after in axes]
    ends = {axis: max(left // step + 1, 0) for axis, (left, step) in enumerate(free, 2)}
    return {axis: end for axis, end in ends.items() if free[axis - 2][0] % free[axis - 2][1]}


def pool_windows(node: NodeView) -> list[tuple[int, int, int, int, int]] | None:
    """Return size, window, stride and pads of each axis; None where a size is not known."""
    data = node.input(0)
    sizes = None if data is None else data.static_shape
    dilated = any(int(step) != 1 for step in node.attr("dilations", ()))
    window = [int(size) for size in node.attr("kernel_shape", ())]
    count = len(window)
    if sizes is None or len(sizes) != count + 2 or dilated:
        return None
    strides = [int(step) for step in node.attr("strides", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    return list(zip(sizes[2:], window, strides, pads[:count], pads[count:], strict=True))


def window_begins_after(node: NodeView) -> bool:
    """Say whether a window begins after the input with ceil_mode; ONNX leaves such ones out."""
    axes = pool_windows(node)
    if not node.attr("ceil_mode", 0) or axes is None:
        return False
    return any(
        -(-(size + before + after - wide) // step) * step >= size + before
        for size, wide, step, before, after in axes
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
