"""MaxPool windows that ceil_mode adds as pads.

What it does: Counts windows by rounding down, over pads that reach as far as the last window does.
Why engines need it: onnxruntime before 1.21 has a result for a window that begins in the padding at
    the end, too.
Before: y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)  # 8 by 8
After: y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x)
When it refuses: ceil_mode is off; the indices are read; pads are automatic; there are dilations;
    sizes are not known; the input would have to be cut.
Accuracy: Exact: padding is never the maximum.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html;
    https://github.com/microsoft/onnxruntime/issues/15446
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, respell, rewrite

_KNOWN = "the sizes of the input must be known"


@rewrite("MaxPool", removes="attr:MaxPool.ceil_mode=1", emits="MaxPool", claims="nan inf")
def maxpool_ceil_to_pads(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Pad as far as the last window reaches, see the module."""
    if not node.attr("ceil_mode", 0):
        raise Refuse("ceil_mode must be on; it is off")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if any(int(dilation) != 1 for dilation in node.attr("dilations", ())):
        raise Refuse("there must be no dilations; there are")
    if node.output(1) is not None:
        raise Refuse("the indices must not be read; they are")
    sizes = needed(node.need(0).static_shape, _KNOWN)[2:]
    window = [int(size) for size in node.attr("kernel_shape")]
    count = len(window)
    steps = [int(step) for step in node.attr("strides", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    ends: list[int] = []
    for axis, (size, width, step) in enumerate(zip(sizes, window, steps, strict=True)):
        before, after = pads[axis], pads[count + axis]
        last = -(-(size + before + after - width) // step)
        if last * step >= size + before:  # it begins after the input, and does not count
            last -= 1
        end = last * step + width - before - size
        if end < 0 and -end >= step:
            raise Refuse("no part of the input may be left out; the last window ends before it")
        ends.append(max(end, 0))
    return respell(node, build, pads=[*pads[:count], *ends], drop=("ceil_mode",))
