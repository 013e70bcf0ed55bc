"""Shrink the window of a pooling that is larger than the padded input.

What it does: Sets the size of the window to that of the padded input, in each dimension where it is
    larger.
Why engines need it:
TensorRT computes a negative size for such a window ("spatial dimension of convolution/
deconvolution/pooling output cannot be negative"). Exporters write them for a global pooling whose
window is taken from another dimension, with ceil_mode.
Before:
    x = float[1, 8, 2, 2]
    y = AveragePool <kernel_shape = [8, 8], strides = [8, 8], ceil_mode = 1> (x)
After: y = AveragePool <kernel_shape = [2, 2], strides = [8, 8], ceil_mode = 1> (x)
When it refuses:
A size is unknown or 0, ceil_mode is 0 (the standard gives an empty result then), the stride is so
small that the result is empty, or there are dilations or automatic padding.
Accuracy:
exact up to the order of summation: the one window holds the same elements. With count_include_pad
onnxruntime divides by what lies in the padded input where ceil_mode is 1, in every opset.

References:
https://onnx.ai/onnx/operators/onnx__AveragePool.html; onnxruntime core/providers/cpu/nn/
pool_functors.h; NvInfer.h 8.6.1, PaddingMode
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    ("AveragePool", "MaxPool"),
    removes="shape:AveragePool.window shape:MaxPool.window",
    emits="AveragePool MaxPool",
)
def pool_window_to_input(node: NodeView, build: Builder) -> Value:
    """Shrink the window, see the module."""
    x = node.need(0)
    kernel = [int(width) for width in node.attr("kernel_shape")]
    count = len(kernel)
    strides = [int(step) for step in node.attr("strides", [1] * count)]
    pads = [int(pad) for pad in node.attr("pads", [0] * (2 * count))]
    if x.shape is None or len(x.shape) != count + 2:
        raise Refuse("the sizes must be known")
    if len(node.outputs) > 1:
        raise Refuse("the node must have no Indices output; it has one")
    if any(int(gap) != 1 for gap in node.attr("dilations", [])):
        raise Refuse("it must have no dilations; it has")
    if node.attr("auto_pad", "NOTSET") != "NOTSET" or min(pads) < 0:
        raise Refuse(
            f"the pads must be explicit and not negative; they are {list(pads)}"
            f" with auto_pad {node.attr('auto_pad', 'NOTSET')}"
        )
    shrunk: list[int] = []
    for axis, width in enumerate(kernel):
        size = x.shape[2 + axis]
        if not isinstance(size, int):
            raise Refuse("the sizes must be known")
        padded = size + pads[axis] + pads[count + axis]
        if width > padded:
            if not size:
                raise Refuse("the input must not be empty; it is")
            if not node.attr("ceil_mode", 0) or width - padded >= strides[axis]:
                raise Refuse("the result must not be empty by the standard; it is")
        shrunk.append(min(width, padded))
    if shrunk == kernel:
        raise Refuse("the window must be larger than the padded input; it fits")
    attributes = {name: node.attr(name) for name in node.attributes}
    write = build.AveragePool if node.op == "AveragePool" else build.MaxPool
    return write(x, **{**attributes, "kernel_shape": shrunk})
