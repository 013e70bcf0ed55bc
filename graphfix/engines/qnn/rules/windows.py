"""QNN: windows of pools that are left to the CPU, or read past the end of a row."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.pool_windows import pool_windows
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView

_IMAGE = 2  # axes of an image
_STEP = 2


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


@rule(
    "MaxPool",
    feature="form:MaxPool.last-column",
    severity=WRONG,
    source=f"{PROVIDER}: 336 forms of 2 to 8 by strides of 1 to 4 and pads of 0 to 2 over 9 by 9 to"
    " 9 by 16, negative numbers; odd windows, other strides, an even padding and windows that end"
    " before what is padded are right, and so is ceil_mode",
)
def past_the_end_of_a_row(node: NodeView, target: Target) -> Answer:
    """QNN reads past the end of a row in the last window of MaxPool."""
    axes = pool_windows(node)
    if node.attr("ceil_mode", 0) or len(node.attr("kernel_shape", ())) != _IMAGE:
        return False
    window, step = (int((node.attr(n, ()) or (1,))[-1]) for n in ("kernel_shape", "strides"))
    begin = int((node.attr("pads", ()) or (0,) * 2 * _IMAGE)[_IMAGE - 1])
    if window % 2 or step != _STEP or begin % 2 == 0:
        return False
    if axes is None:
        return Unknown(f"sizes of {node.need(0).name}")
    size, _, _, _, end = axes[-1]
    return (size + begin + end - window) % step == 0
