"""Choose and normalise along a vector as along a matrix of one row.

What it does: Gives the vector that ArgMax, ArgMin, Softmax, LogSoftmax or Hardmax reads a row axis,
    and drops it from the result.
Why engines need it: TensorRT's layers for these take two dimensions or more.
Before: y = Softmax (v)                    v: [4]
After: y = Squeeze <axes = {0}> (Softmax <axis = 1> (Unsqueeze <axes = {0}> (v)))
When it refuses: The rank is unknown, or is not 1.
Accuracy: Exact: the row has the values of the vector, in their order.
References: https://onnx.ai/onnx/operators/onnx__Softmax.html; measured with tensorrt-rtx 1.7.1
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_NORMALISING = ("Softmax", "LogSoftmax", "Hardmax")
_CHOOSING = ("ArgMax", "ArgMin")


@rewrite(
    (*_CHOOSING, *_NORMALISING),
    removes=tuple(f"rank:{op}.1" for op in (*_CHOOSING, *_NORMALISING)),
    emits=(*_CHOOSING, *_NORMALISING, "Squeeze Unsqueeze"),
    claims="nan inf",
)
def vector_as_row(node: NodeView, build: Builder) -> Value:
    """Add a row axis and drop it, see the module."""
    data = node.need(0)
    if data.rank != 1:
        raise Refuse(f"the rank must be 1; it is {data.rank}")
    attributes = {name: node.attr(name) for name in node.attributes}
    attributes["axis"] = 1
    row = build.Unsqueeze(data, axes=[0])
    result = build.multi(node.op, row, outputs=1, **attributes)[0]
    return build.Squeeze(result, axes=[0])
