"""Pad with zeros before an AveragePool that counts its padding.

What it does: Adds the padding with Pad and takes it out of the AveragePool. Where there is no
    padding, whether it is counted is left out: what reaches beyond the end with ceil_mode counts
    nowhere.
Why engines need it: OpenCV 4 leaves the padding out of the average whatever count_include_pad says.
Before: y = AveragePool <count_include_pad = 1, pads = [1, 1, 1, 1]> (x)
After:
    p = Pad (x, [0, 0, 1, 1, 0, 0, 1, 1])
    y = AveragePool (p)
When it refuses: The padding is not counted, or is automatic; ceil_mode is on, whose last windows
    reach beyond what is padded.
Accuracy: Exact up to rounding: engines sum a window in another order.
References: https://onnx.ai/onnx/operators/onnx__AveragePool.html, onnx__Pad.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite(
    "AveragePool",
    removes="attr:AveragePool.count_include_pad shape:AveragePool.pads",
    emits="AveragePool Pad",
    claims="nan inf",
)
def averagepool_counted_padding(node: NodeView, build: Builder) -> Value | tuple[Value | None, ...]:
    """Pad first, see the module."""
    x = node.need(0)
    pads = [int(size) for size in node.attr("pads", ())]
    if not node.attr("count_include_pad", 0):
        raise Refuse("the padding must be counted; it is not")
    if node.attr("auto_pad", "NOTSET") in ("SAME_LOWER", "SAME_UPPER"):
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if not any(pads):
        return respell(node, build, drop=("count_include_pad",))
    if node.attr("ceil_mode", 0):
        raise Refuse("ceil_mode must be 0; it is 1")
    half = len(pads) // 2
    full = [0, 0, *pads[:half], 0, 0, *pads[half:]]
    padded = build.Pad(x, full) if build.opset >= 11 else build.Pad(x, pads=full)
    kept = {name: node.attr(name) for name in ("kernel_shape", "strides", "dilations")}
    return build.AveragePool(padded, **{k: v for k, v in kept.items() if v is not None})
