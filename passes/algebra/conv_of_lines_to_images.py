"""Convolve or pool along one dimension as along two, the second of size 1.

What it does: Gives input and weights an axis of size 1 at the end, convolves or pools, and takes it
    away again.
Why engines need it: MNN computes a convolution along one dimension so and leaves the axis in an
    output of the model. OpenCV 4 pads the end of a line as its beginning, whatever the pads say.
Before: y = Conv <kernel_shape = [3]> (x, w)          # x: float[n, c, l]
After: y = Squeeze (Conv <kernel_shape = [3, 1]> (Unsqueeze (x, [3]), Unsqueeze (w, [3])), [3])
When it refuses: The input is not of rank 3, pads are automatic, or the indices of MaxPool are asked
    for.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Conv.html, onnx__MaxPool.html; measured on MNN
    3.6.1, and on OpenCV 4.8.1 and 4.10.0
"""

from collections.abc import Mapping
from typing import Any

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_PADDED = {"dilations": 1, "kernel_shape": 1, "strides": 1, "output_padding": 0, "output_shape": 1}


_POOLS = ("AveragePool", "MaxPool")


@rewrite(
    ("Conv", "ConvTranspose", *_POOLS),
    removes="rank:AveragePool.3 rank:Conv.3 rank:ConvTranspose.3 rank:MaxPool.3",
    emits="AveragePool Conv ConvTranspose MaxPool Squeeze Unsqueeze",
)
def conv_of_lines_to_images(node: NodeView, build: Builder) -> Value:
    """Convolve with one more axis, see the module."""
    x, bias = node.need(0), node.input(2)
    weights = [] if node.op in _POOLS else [node.need(1)]
    if x.rank != 3:
        raise Refuse(f"the input must be of rank 3; its rank is {x.rank}")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if node.output(1) is not None:
        raise Refuse("the indices must not be asked for; they are")
    inputs = [build.Unsqueeze(value, axes=[3]) for value in (x, *weights)]
    inputs += [] if bias is None else [bias]
    attributes = _widened(node.written())
    found = build.multi(node.op, *inputs, outputs=1, **attributes)[0]
    return build.Squeeze(found, axes=[3])


def _widened(written: Mapping[str, Any]) -> dict[str, Any]:
    wide: dict[str, Any] = {}
    for name, value in written.items():
        if name in _PADDED:
            value = [*map(int, value), _PADDED[name]]
        elif name == "pads":
            before, after = map(int, value)
            value = [before, 0, after, 0]
        wide[name] = value
    return wide
