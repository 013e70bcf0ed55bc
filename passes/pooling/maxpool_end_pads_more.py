"""Pad a MaxPool at its end by one more, which no window reaches.

What it does: Adds one to the padding at the end of the last axis, where the last window ends with
    what is padded, or counts windows up where the padding would be as wide as the window.
Why engines need it: QNN reads past the end of a row in the last of windows of an even size that
    move by 2, and gives 0 or what was there before, without a word.
Before: y = MaxPool <kernel_shape = [4, 4], strides = [2, 2], pads = [1, 1, 1, 1]> (x)      # 8 by 8
After: y = MaxPool <kernel_shape = [4, 4], strides = [2, 2], pads = [1, 1, 1, 2]> (x)
When it refuses: Sizes are not known, pads are automatic, there are dilations, the last window ends
    before what is padded; the padding would be as wide as the window, and rounding up would count
    a window more along another axis.
Accuracy: Exact: the windows are the same.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html; measured with onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, respell, rewrite


@rewrite("MaxPool", removes="form:MaxPool.last-column", emits="MaxPool", since=10, claims="nan inf")
def maxpool_end_pads_more(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Pad one more, see the module."""
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if any(int(apart) != 1 for apart in node.attr("dilations", ())):
        raise Refuse("there must be no dilations; there are")
    sizes = needed(node.need(0).static_shape, "the sizes of the input must be known")[2:]
    kernel = [int(size) for size in node.attr("kernel_shape")]
    count = len(kernel)
    strides = [int(step) for step in node.attr("strides", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    left = [
        (sizes[axis] + pads[axis] + pads[count + axis] - kernel[axis]) % strides[axis]
        for axis in range(count)
    ]
    if left[-1] or strides[-1] == 1:
        raise Refuse("the last window must end with what is padded; it ends before")
    if pads[-1] + 1 < kernel[-1]:
        return respell(node, build, pads=[*pads[:-1], pads[-1] + 1])
    if any(left) or node.attr("ceil_mode", 0):
        raise Refuse("no axis may have a window more when they are counted up; one has")
    return respell(node, build, ceil_mode=1)
