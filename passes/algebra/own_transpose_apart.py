"""Multiply a tensor by its own transpose through Max of it with itself.

What it does: Reads one operand of MatMul, which the other is the transpose of or which is made of
    what that one transposes, through ``Max (x, x)``.
Why engines need it: rknn-toolkit2 ends its process at a product of a tensor with its own transpose.
    It takes what does nothing, such as Identity and factors of 1, out before, and Max not.
Before: y = MatMul (x, Transpose <perm = [0, 2, 1]> (x))
After: y = MatMul (Max (x, x), Transpose <perm = [0, 2, 1]> (x))
When it refuses: Neither operand is a transpose of the other or of what it is made of, or they are
    no floats.
Accuracy: Exact: the larger of two equal numbers is that number, NaN and infinities included.
References: https://onnx.ai/onnx/operators/onnx__Max.html; rknn-toolkit2 2.3.2, measured
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "MatMul",
    removes="form:MatMul.with-own-transpose",
    emits="MatMul Max",
    since=8,
    claims="nan inf",
)
def own_transpose_apart(node: NodeView, build: Builder) -> Value:
    """Put Max between, see the module."""
    left, right = node.need(0), node.need(1)
    if left.dtype is None or left.dtype.kind != "f":
        raise Refuse(f"the operands must be floats; they are {left.type_name or 'unknown'}")
    if _turns(right, left):
        return build.MatMul(build.Max(left, left), right)
    if _turns(left, right):
        return build.MatMul(left, build.Max(right, right))
    raise Refuse("one operand must be the transpose of the other; neither is")


def _turns(one: Value, other: Value) -> bool:
    """Say whether a tensor is the transpose of another, or of what that is made of alone."""
    maker, source = one.producer, other.producer
    if maker is None or maker.op != "Transpose":
        return False
    alone = source is not None and len(source.inputs) == 1 and source.op != "Transpose"
    return maker.input(0) in (other, source.input(0) if source is not None and alone else other)
