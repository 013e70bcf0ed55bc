"""Replace com.microsoft's GridSample by ONNX's, or by Gather and arithmetic.

What it does: Writes GridSample where the opset has it (16); below, it gathers the pixels around
    every coordinate and adds them with their shares.
Why engines need it: PyTorch exporters of the time before opset 16 were told to write it; other
    engines do not know it.
Before: y = com.microsoft.GridSample <mode = "bilinear", padding_mode = "zeros"> (x, grid)
After: y = GridSample <mode = "bilinear", padding_mode = "zeros"> (x, grid)
When it refuses: The mode or the padding is none of the schema; below opset 16, a rank or a size
    that the gathering needs is unknown.
Accuracy: Exact up to the order of summation.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.GridSample
"""

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Sampling,
    Value,
    grid_sampled,
    rewrite,
    sampling,
)

_NAME = "com.microsoft::GridSample"
_MODES = {"bicubic": "cubic", "bilinear": "linear", "nearest": "nearest"}
_FIRST = 16
_RENAMED = 20


@rewrite(_NAME, removes=(f"op:{_NAME}", f"attr:{_NAME}.mode"), emits=(sampling.EMITS, "GridSample"))
def contrib_grid_sample_to_onnx(node: NodeView, build: Builder) -> Value:
    """Sample, see the module."""
    mode = str(node.attr("mode", "bilinear"))
    padding = str(node.attr("padding_mode", "zeros"))
    aligned = int(node.attr("align_corners", 0))
    if mode not in _MODES or padding not in ("zeros", "border", "reflection"):
        raise Refuse(f"mode and padding must be of the schema; they are {mode} and {padding}")
    if build.opset < _FIRST:
        how = Sampling(_MODES[mode], padding, bool(aligned))
        return grid_sampled(build, node.need(0), node.need(1), how)
    return build.GridSample(
        node.need(0),
        node.need(1),
        mode=_MODES[mode] if build.opset >= _RENAMED else mode,
        padding_mode=padding,
        align_corners=aligned,
    )
