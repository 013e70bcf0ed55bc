"""Exchange the operands of sums that an engine joins with others and then computes differently.

What it does: Writes the second operand first: the product with the rotated halves of rotary
    positions, the mask of attention, or the 1 of x / (|x| + 1).
Why engines need it: pnnx joins x * c + rotated * s to one RotaryEmbed, which reads after its
    tables where there are several heads, and attention that is written out to one SDPA, which takes
    the mask of the first batch for all, and a softsign that is written out to one F.softsign, which
    ncnn has no layer for. It does none of that where the operands are in another order.
Before: y = Add (p, q)               # p = x * c, q = Concat (-x[n/2:], x[:n/2]) * s
After: y = Add (q, p)
When it refuses: The second operand is neither a constant next to a tensor nor a product of joined
    halves; the opset is below 7, where the second operand alone is repeated.
Accuracy: Exact: a sum does not depend on the order of two numbers.
References: https://onnx.ai/onnx/operators/onnx__Add.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "Add",
    removes="form:Add.rotation form:Add.mask form:Add.softsign",
    emits="Add",
    since=7,
    claims="nan inf",
)
def add_operands_exchanged(node: NodeView, build: Builder) -> Value:
    """Exchange the operands, see the module."""
    first, second = node.need(0), node.need(1)
    mask = second.is_constant and not first.is_constant
    if not mask and not _is_rotated(second):
        raise Refuse(
            "the second operand alone must be a constant or a product of joined halves; it is not"
        )
    return build.Add(second, first)


def _is_rotated(value: Value) -> bool:
    product = value.producer
    if product is None or product.op != "Mul":
        return False
    joined = product.need(0).producer
    return joined is not None and joined.op == "Concat"
