"""Leave out pads at the end of pools that no window reaches.

What it does: Writes as much padding at the end as the last window reaches into.
Why engines need it: onnxruntime 1.17, which rknn-toolkit2 computes sizes with, refuses pads as wide
    as a window, "Pad should be smaller than kernel", as exporters write them for ceil_mode below
    opset 10.
Before: y = MaxPool <kernel_shape = [3], pads = [1, 3], strides = [2]> (x)     # x: float[1, 1, 10]
After: y = MaxPool <kernel_shape = [3], pads = [1, 2], strides = [2]> (x)
When it refuses: Pads are automatic, sizes are not known, sizes are rounded up (ceil_mode), or every
    pad is reached.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html; measured in the simulator of
    rknn-toolkit2 2.3.2
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, respell, rewrite


@rewrite(
    ("AveragePool", "LpPool", "MaxPool"),
    removes="shape:AveragePool.pads shape:MaxPool.pads",
    emits="AveragePool LpPool MaxPool",
)
def pool_unreached_pads(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Shorten the pads, see the module."""
    shape = needed(node.need(0).static_shape, "the sizes of the input must be known")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if node.attr("ceil_mode", 0):
        raise Refuse("sizes must be rounded down; they are rounded up (ceil_mode)")
    windows = [int(size) for size in node.attr("kernel_shape")]
    dims = len(windows)
    strides = [int(step) for step in node.attr("strides", [1] * dims)]
    dilations = [int(step) for step in node.attr("dilations", [1] * dims)]
    pads = [int(pad) for pad in node.attr("pads", [0] * 2 * dims)]
    shortened = list(pads)
    for axis, size in enumerate(shape[2:]):
        reach = dilations[axis] * (windows[axis] - 1) + 1
        unread = (size + pads[axis] + pads[dims + axis] - reach) % strides[axis]
        shortened[dims + axis] = max(0, pads[dims + axis] - unread)
    if shortened == pads:
        raise Refuse("a pad must be beyond the last window; none is")
    return respell(node, build, pads=shortened)
