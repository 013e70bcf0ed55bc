"""Leave out how precisely MatMulNBits is to multiply.

What it does: The attribute accuracy_level goes, and weight_prepacked where it is 0, which came
    later still and says nothing then.
Why engines need it: onnxruntime 1.16 has MatMulNBits without it; its quantizers write it since.
Before: y = com.microsoft.MatMulNBits <accuracy_level = 4, ...> (x, b, scales)
After: y = com.microsoft.MatMulNBits <...> (x, b, scales)
When it refuses: Never; other nodes are no match.
Accuracy: Exact: the product is what the schema says; the attribute only allows kernels to round the
    other operand to fewer bits.
References: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
    #com.microsoft.MatMulNBits; onnxruntime 1.16.3, asked
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._nbits import infer


@rewrite(
    "com.microsoft::MatMulNBits",
    removes="attr:com.microsoft::MatMulNBits.accuracy_level",
    emits="com.microsoft::MatMulNBits",
    infer=infer,
    as_written=True,
)
def nbits_level_left_out(node: NodeView, build: Builder) -> Value:
    """Leave the attribute out, see the module."""
    if "accuracy_level" not in node.attributes:
        raise Refuse("the attribute accuracy_level must be there; it is not")
    gone = ["accuracy_level"]  # how kernels may round the other operand; no formula does
    if not node.attr("weight_prepacked", 0):
        gone.append("weight_prepacked")
    node.waive(tuple(gone))
    kept = {name: node.attr(name) for name in node.attributes if name not in gone}
    return build.node("com.microsoft::MatMulNBits", *node.inputs, **kept)
