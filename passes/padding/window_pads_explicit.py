"""Write the pads of a convolution or a pool down that are computed from its sizes.

What it does: Replaces `auto_pad`, and `output_shape` of ConvTranspose, by the `pads` that they come
    to.
Why engines need it: SAME_LOWER is padded at the end by OpenCV and MNN, and not taken or misread by
    ncnn and TFLite. MNN gives a convolution over three dimensions no automatic pads at all, and
    crashes with such a pool.
Before: y = Conv <auto_pad = "SAME_LOWER", kernel_shape = [3, 2]> (x, w)
After: y = Conv <kernel_shape = [3, 2], pads = [1, 1, 1, 0]> (x, w)
When it refuses: The pads are written or left out; a size in space is not known that they depend on;
    they would be negative. Next to auto_pad: pads, which onnxruntime drops and ONNX adds; windows
    that are dilated, which onnxruntime does not count for pools and refuses for Conv;
    output_padding, which ONNX's inference of shapes adds to the output and onnxruntime does not.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Conv.html, onnx__ConvTranspose.html,
    onnx__MaxPool.html; onnxruntime 1.22.0 conv_transpose_attributes.h (ComputeTotalPad,
    DistributePadding)
"""

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    automatic_pads,
    respell,
    rewrite,
    split_pads,
)

_POOLS = ("AveragePool", "LpPool", "MaxPool")
_WINDOWS = ("Conv", "ConvTranspose", *_POOLS)


@rewrite(
    _WINDOWS,
    removes=(*(f"attr:{op}.auto_pad" for op in _WINDOWS), "attr:ConvTranspose.output_shape"),
    emits=_WINDOWS,
    claims="nan inf",
)
def window_pads_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the pads down, see the module."""
    shaped = node.op == "ConvTranspose" and node.has("output_shape")
    if node.attr("auto_pad", "NOTSET") == "VALID" and not shaped:
        return respell(node, build, pads=_none(node), drop=("auto_pad",))
    sums = automatic_pads(node)
    if sums is None:
        raise Refuse("the pads must be automatic (auto_pad or output_shape); they are not")
    if not shaped:
        _need_nothing_next_to(node)
    known = [total for total in sums if total is not None]
    if len(known) < len(sums):
        raise Refuse("the sizes in space must be known that the pads depend on; one is not")
    if min(known) < 0:
        raise Refuse(f"the pads must not be negative; those of an axis come to {min(known)}")
    # What SAME says of the sizes of the output is that of rounding up already.
    drop = ("auto_pad", "ceil_mode", "output_shape")
    return respell(node, build, pads=split_pads(node, known), drop=drop)


def _need_nothing_next_to(node: NodeView) -> None:
    if any(node.attr("pads", ())):
        raise Refuse(
            "there must be no pads next to auto_pad; onnxruntime drops them, ONNX adds them"
        )
    if node.op != "ConvTranspose" and any(int(step) != 1 for step in node.attr("dilations", ())):
        raise Refuse(
            f"dilations must be 1 with auto_pad; they are {list(node.attr('dilations'))},"
            " which onnxruntime ignores or refuses"
        )
    if node.op == "ConvTranspose" and any(node.attr("output_padding", ())):
        raise Refuse("output_padding must be 0 with auto_pad, which engines combine in two ways")


def _none(node: NodeView) -> list[int]:
    """Return pads of 0 for both ends of each axis."""
    _need_nothing_next_to(node)
    windows, weights = node.attr("kernel_shape", None), node.input(1)
    rank = weights.rank if windows is None and weights is not None else None
    if windows is None and rank is None:
        raise Refuse("the rank of the weights must be known; it is not")
    return [0] * 2 * (len(list(windows)) if windows is not None else (rank or 0) - 2)
