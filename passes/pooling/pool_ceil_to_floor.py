"""Count the windows of a pool by rounding down, where that gives the same ones.

What it does: Leaves out ceil_mode, and what is padded for a window that begins after the input,
    which ONNX does not count.
Why engines need it: OpenCV, OpenVINO, MNN, ncnn and TensorRT count such a window: their output is
    larger by one, without a word.
Before:
    y = MaxPool <kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1> (x)      # x: [1, 1, 9, 9]
After: y = MaxPool <kernel_shape = [2, 2], strides = [3, 3]> (x)
When it refuses: Sizes are not known, pads are automatic, or a window reaches beyond the pads.
Accuracy: Exact: the windows are the same.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html (ceil_mode: windows that begin in the
    right padding are left out)
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, respell, rewrite


@rewrite(
    ("AveragePool", "MaxPool"),
    removes=(
        "attr:AveragePool.ceil_mode attr:MaxPool.ceil_mode "
        "form:AveragePool.ceil_mode form:MaxPool.ceil_mode"
    ),
    emits="AveragePool MaxPool",
    claims="nan inf",
)
def pool_ceil_to_floor(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Leave ceil_mode out, see the module."""
    x = node.need(0)
    if not node.attr("ceil_mode", 0):
        raise Refuse("ceil_mode must be on; it is off")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    sizes = needed(x.static_shape, "the sizes of the input must be known")[2:]
    kernel = [int(size) for size in node.attr("kernel_shape")]
    count = len(kernel)
    strides = [int(step) for step in node.attr("strides", ())] or [1] * count
    dilations = [int(step) for step in node.attr("dilations", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    ends: list[int] = []
    for axis, (size, width, step, apart) in enumerate(
        zip(sizes, kernel, strides, dilations, strict=True)
    ):
        first, end = pads[axis], pads[count + axis]
        window = (width - 1) * apart + 1
        last = -(-(size + first + end - window) // step)
        if last * step >= size + first:  # it begins after the input, and does not count
            last -= 1
            end = min(end, max(last * step + window - first - size, 0))
        if (size + first + end - window) // step != last:
            raise Refuse(f"no window may reach beyond the pads; the last does on axis {axis}")
        ends.append(end)
    return respell(node, build, pads=[*pads[:count], *ends], drop=("ceil_mode",))
