"""Windows that slide: pooling."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.auto_pad",
    versions="opencv",
    severity=WRONG,
    source="measured on 4.10.0 and 5.0.0: test_maxpool_2d_same_lower of onnx",
)
def pool_same_lower(node: NodeView, target: Target) -> Answer:
    """{op} pads at the end with SAME_LOWER."""
    return bool(node.attr("auto_pad", "NOTSET") == "SAME_LOWER")


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    versions="opencv",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0 and 5.0.0: the padding is counted where the file names the"
    " producer pytorch, and nowhere else, whatever count_include_pad says; by 5.0.0 only where that"
    " is left out",
)
def average_of_padding(node: NodeView, target: Target) -> Answer:
    """AveragePool counts its padding, or not, by the producer of the file."""
    wanted = bool(node.attr("count_include_pad", 0))
    counts = node.graph.root.producer == "pytorch"
    if target.version >= (5,) and node.has("count_include_pad"):
        counts = wanted
    return wanted != counts and _is_padded(node)


def _is_padded(pool: NodeView) -> bool:
    if any(pool.attr("pads", ())):
        return True
    if pool.attr("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
        return True
    return bool(pool.attr("count_include_pad", 0) and pool.attr("ceil_mode", 0)) and bool(
        _sticks_out(pool)
    )


@rule(
    "AveragePool",
    feature="attr:AveragePool.count_include_pad",
    versions="opencv5.0..",
    severity=WRONG,
    source="measured on 5.0.0: what windows reach beyond the padding is counted, too",
)
def average_beyond_padding(node: NodeView, target: Target) -> Answer:
    """AveragePool counts what its last windows reach beyond the padding with ceil_mode."""
    return bool(node.attr("count_include_pad", 0) and node.attr("ceil_mode", 0)) and _sticks_out(
        node
    )


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.ceil_mode",
    versions="opencv",
    severity=WRONG,
    source="measured on 4.8.1, 4.10.0 and 5.0.0: a window of 2 by strides of 3 over 9 gives 4",
)
def pool_behind_the_end(node: NodeView, target: Target) -> Answer:
    """{op} with ceil_mode has a window that begins behind the input."""
    axes = _windows(node)
    if not node.attr("ceil_mode", 0) or axes is None:
        return False
    return any(
        -(-(size + before + after - wide) // step) * step >= size + before
        for size, wide, step, before, after in axes
    )


def _sticks_out(node: NodeView) -> bool:
    """Say whether the last windows may reach beyond the padded input."""
    axes = _windows(node)
    if axes is None:
        return True
    return any((size + before + after - wide) % step for size, wide, step, before, after in axes)


def _windows(node: NodeView) -> list[tuple[int, int, int, int, int]] | None:
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


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="opencv",
    severity=WRONG,
    source="measured: counted in each channel on 4.10.0; test_maxpool_with_argmax_2d on 5.0.0",
)
def pool_indices(node: NodeView, target: Target) -> Answer:
    """The indices of MaxPool are others."""
    indices = node.output(1)
    if indices is None or not (indices.is_used or indices.is_graph_output):
        return False
    return target.version < (5,) or bool(node.attr("storage_order", 0))


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    versions="..opencv4.10",
    severity=REJECT,
    source="measured on 4.10.0: an output without elements, which the next layer refuses",
)
def pool_window(node: NodeView, target: Target) -> Answer:
    """The window of {op} is larger than the padded input."""
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
