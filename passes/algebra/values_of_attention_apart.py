"""Read the values of attention through Max of them with themselves.

What it does: Reads the second operand of a MatMul, the values that the weights of attention are
    multiplied with, through ``Max (v, v)``.
Why engines need it: rknn-toolkit2 joins the heads of attention whose queries, keys and values are
    split from one product (its fuse_multihead_attention_reshape_to_gather_split), and mixes them
    up. It takes what does nothing out before, and Max not; after it nothing is joined.
Before: y = MatMul (Softmax (MatMul (q, k)), v)
After: y = MatMul (Softmax (MatMul (q, k)), Max (v, v))
When it refuses: The values are no floats.
Accuracy: Exact: the larger of two equal numbers is that number, NaN and infinities included.
References: https://onnx.ai/onnx/operators/onnx__Max.html; rknn-toolkit2 2.3.2, measured
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("MatMul", removes="form:MatMul.of-values", emits="MatMul Max", since=8, claims="nan inf")
def values_of_attention_apart(node: NodeView, build: Builder) -> Value:
    """Put Max between, see the module."""
    weights, values = node.need(0), node.need(1)
    if values.dtype is None or values.dtype.kind != "f":
        raise Refuse(f"the values must be floats; they are {values.type_name or 'unknown'}")
    maker = values.producer
    if maker is not None and maker.op == "Max":
        raise Refuse("the values must not be a Max already; they are")
    return build.MatMul(weights, build.Max(values, values))
