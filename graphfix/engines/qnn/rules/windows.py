"""QNN: windows of pools that are left to the CPU."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView


@rule(
    ("AveragePool", "MaxPool"),
    feature="shape:{op}.window",
    severity=REJECT,
    text="was inserted using the NHWC format as requested by QNN, but was not selected by that EP",
    source=PROVIDER,
)
def window_beyond_the_input(node: NodeView, target: Target) -> Answer:
    """QNN does not support {op} with a kernel larger than its padded input."""
    x, window = node.input(0), node.attr("kernel_shape", ())
    shape = None if x is None else x.static_shape
    if shape is None:
        return None
    sizes = shape[len(shape) - len(window) :]
    pads = node.attr("pads", ()) or (0,) * 2 * len(window)
    ends = zip(sizes, pads, pads[len(window) :], window, strict=False)
    return any(size + one + two < width for size, one, two, width in ends)


@rule(
    ("AveragePool", "MaxPool"),
    feature="attr:{op}.ceil_mode",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, max-pool-ceil and average-pool-ceil: ONNX leaves such a"
    " window out",
)
def window_in_the_padding(node: NodeView, target: Target) -> Answer:
    """QNN does not support {op} if ceil_mode adds a window that begins past the end."""
    x, y = node.input(0), node.output(0)
    before = None if x is None else x.static_shape
    after = None if y is None else y.static_shape
    if not node.attr("ceil_mode", 0) or before is None or after is None:
        return None
    window = node.attr("kernel_shape", ())
    pads = node.attr("pads", ()) or (0,) * 2 * len(window)
    strides = node.attr("strides", ()) or (1,) * len(window)
    ends = zip(before[2:], after[2:], pads, pads[len(window) :], window, strides, strict=False)
    return any(
        -(-(size + one + two - width) // step) + 1 != end
        for size, end, one, two, width, step in ends
    )
