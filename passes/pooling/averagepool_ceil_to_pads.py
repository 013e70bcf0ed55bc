"""Average windows that ceil_mode adds over padding that does not count.

What it does: Counts windows by rounding down, over pads that reach as far as the last window does,
    and leaves them out of the count, as ceil_mode does with what lies after the input.
Why engines need it: QNN divides windows that reach beyond the end by other counts, without a word.
Before: y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)  # 8 by 8
After: y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x)
When it refuses: ceil_mode is off; padding counts; pads are automatic; there are dilations; sizes
    are not known.
Accuracy: Exact: the same values are averaged.
References: https://onnx.ai/onnx/operators/onnx__AveragePool.html; measured with onnxruntime-qnn
    2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite(
    "AveragePool", removes="attr:AveragePool.ceil_mode=1", emits="AveragePool", claims="nan inf"
)
def averagepool_ceil_to_pads(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Pad as far as the last window reaches, see the module."""
    x, y = node.need(0), node.output(0)
    if not node.attr("ceil_mode", 0):
        raise Refuse("ceil_mode must be on; it is off")
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        raise Refuse("the pads must be written; they are automatic (auto_pad)")
    if any(int(dilation) != 1 for dilation in node.attr("dilations", ())):
        raise Refuse("there must be no dilations; there are")
    before = x.static_shape
    after = None if y is None else y.static_shape
    if before is None or after is None:
        raise Refuse("the sizes of input and output must be known")
    window = [int(size) for size in node.attr("kernel_shape")]
    count = len(window)
    steps = [int(step) for step in node.attr("strides", ())] or [1] * count
    pads = [int(size) for size in node.attr("pads", ())] or [0] * (2 * count)
    if node.attr("count_include_pad", 0) and any(pads):
        raise Refuse("padding must not count; it does")
    reached = [
        max((end - 1) * step + width - first - size, last)
        for size, end, step, width, first, last in zip(
            before[2:], after[2:], steps, window, pads[:count], pads[count:], strict=True
        )
    ]
    return respell(
        node, build, pads=[*pads[:count], *reached], drop=("ceil_mode", "count_include_pad")
    )
