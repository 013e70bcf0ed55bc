"""Give the other operand the axes that a stored number of more axes gives the result.

What it does: Puts axes of size 1 in front of the operand that has fewer, so that the number gives
    the result no axis.
Why engines need it: onnxruntime up to 1.22 joins the multiplication by a number with the MatMul
    next to it, and the axes that came with the number are gone.
Before: y = Mul (x, k)               x: [2, 3]   k: [1, 1, 1]
After: y = Mul (Unsqueeze <axes = {0}> (x), k)
When it refuses: Neither operand is a stored number with more axes than the other one.
Accuracy: Exact: the same numbers are multiplied.
References: https://github.com/microsoft/onnxruntime/issues/24407
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_OPS = ("Div", "Mul")


@rewrite(
    _OPS,
    removes=tuple(f"form:{op}.number-of-more-axes" for op in _OPS),
    emits="Div Mul Unsqueeze",
    claims="nan inf",
)
def number_in_fewer_axes(node: NodeView, build: Builder) -> Value:
    """Bring both to one rank, see the module."""
    a, b = node.need(0), node.need(1)
    for number, other in ((a, b), (b, a)):
        sizes = number.static_shape if number.is_constant else None
        if sizes is None or other.rank is None or set(sizes) != {1} or len(sizes) <= other.rank:
            continue
        wide = build.Unsqueeze(other, axes=list(range(len(sizes) - other.rank)))
        operands = (wide, number) if other == a else (number, wide)
        return build.Mul(*operands) if node.op == "Mul" else build.Div(*operands)
    raise Refuse("an operand must be a stored number of more axes than the other; none is")
