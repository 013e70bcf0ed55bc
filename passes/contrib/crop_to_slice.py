"""Replace Crop by Slice of the last two axes.

What it does: Crop takes a border off the last two axes: left, top, right and bottom; `scale`
    (height, width) says how much is kept instead.
Why engines need it: onnx dropped it in 1.5, and onnxruntime knows it below opset 10 alone. Old
    exporters of Caffe2, CoreML and Keras wrote it.
Before: y = Crop <border = [1, 0, 2, 3]> (x)
After: y = Slice <starts = [0, 1], ends = [-3, -2], axes = [2, 3]> (x)
When it refuses: The rank of the input is not 4; border is not four numbers, or scale not two, of
    which none is below 0.
Accuracy: Exact.
References: onnx/defs/experiments/defs.cc of onnx 1.4; microsoft/onnxruntime
    onnxruntime/core/providers/cpu/tensor/crop.h
"""

from graphfix.authoring import (
    FAR,
    Builder,
    NodeView,
    Refuse,
    Value,
    need_rank_of,
    rewrite,
)

from ._experiments import Array, Attributes, given

_RANK = 4


def evaluate(inputs: list[Array | None], attributes: Attributes) -> tuple[Array, ...]:
    """Take the border off the last two axes."""
    x = given(inputs)
    left, top, right, bottom = attributes["border"]
    height, width = x.shape[2] - top - bottom, x.shape[3] - left - right
    if "scale" in attributes:
        height, width = attributes["scale"]
    return (x[:, :, top : top + height, left : left + width],)


@rewrite("Crop", removes="op:Crop", emits="Slice", evaluate=evaluate)
def crop_to_slice(node: NodeView, build: Builder) -> Value:
    """Take a range of both axes, see the module."""
    x, border, size = node.need(0), node.attr("border"), node.attr("scale")
    need_rank_of(x, _RANK)
    if border is None or len(border) != _RANK or min(border) < 0:
        raise Refuse("border must be given: four numbers, none below 0")
    left, top, right, bottom = border
    ends = [-bottom or FAR, -right or FAR]
    if size is not None:
        if len(size) != len(ends) or min(size) < 0:
            raise Refuse("scale must be two numbers, none below 0")
        ends = [top + size[0], left + size[1]]
    return build.Slice(x, starts=[top, left], ends=ends, axes=[2, 3])
