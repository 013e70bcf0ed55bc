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
    versions="..opencv4.10",
    severity=WRONG,
    source="measured on 4.8.1 and 4.10.0",
)
def average_of_padding(node: NodeView, target: Target) -> Answer:
    """AveragePool never counts its padding."""
    if not node.attr("count_include_pad", 0):
        return False
    return any(node.attr("pads", ())) or bool(node.attr("ceil_mode", 0) and _sticks_out(node))


def _sticks_out(node: NodeView) -> bool:
    """Say whether the last windows may reach beyond the input."""
    data = node.input(0)
    sizes = None if data is None else data.static_shape
    window = node.attr("kernel_shape", ())
    if sizes is None or len(sizes) != len(window) + 2:
        return True
    strides = node.attr("strides", ()) or [1] * len(window)
    steps = zip(sizes[2:], window, strides, strict=True)
    return any((size - wide) % stride for size, wide, stride in steps)


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
