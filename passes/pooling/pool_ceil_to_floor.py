"""Count the windows of a pool by rounding down, where that gives the same ones.

What it does: Leaves out ceil_mode where the sizes of the output are those without it.
Why engines need it: OpenCV and TensorRT count a window that begins after the input, which ONNX
    leaves out: their output is larger by one, without a word.
Before:
    y = MaxPool <kernel_shape = [2, 2], strides = [3, 3], ceil_mode = 1> (x)      # x: [1, 1, 9, 9]
After: y = MaxPool <kernel_shape = [2, 2], strides = [3, 3]> (x)
When it refuses: Sizes are not known, pads are automatic, or rounding up gives more windows.
Accuracy: Exact: the windows are the same.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html (ceil_mode: windows that begin in the
    right padding are left out)
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


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
    x, y = node.need(0), node.output(0)
    if not node.attr("ceil_mode", 0):
        raise Refuse("ceil_mode must be on; it is off")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    before = x.static_shape
    after = None if y is None else y.static_shape
    if before is None or after is None:
        raise Refuse("the sizes of input and output must be known")
    kernel = [int(size) for size in node.attr("kernel_shape")]
    count = len(kernel)
    strides = [int(step) for step in node.attr("strides", ())] or [1] * count
    dilations = [int(step) for step in node.attr("dilations", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    for axis in range(count):
        window = (kernel[axis] - 1) * dilations[axis] + 1
        room = before[2 + axis] + pads[axis] + pads[count + axis] - window
        if room // strides[axis] + 1 != after[2 + axis]:
            raise Refuse(f"rounding down must give the same windows; it does not on axis {axis}")
    return respell(node, build, drop=("ceil_mode",))
