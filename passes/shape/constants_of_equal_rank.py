"""Give constants as many axes as what they are computed with.

What it does: Puts axes of size 1 before those of a constant operand, up to the rank of the result.
Why engines need it: TFLite's converter onnx2tf puts the channels of images last and turns constants
    with them, those of fewer axes by guess: Max, Min, Pow and Where of such are refused, and so are
    quotients and differences whose first operand is one.
Before: y = Div (c, x)               with x: float[2,3,4,5] and c: constant float[3,1,1]
After: y = Div (c2, x)              with c2: constant float[1,3,1,1]
When it refuses: A rank is unknown; no constant has fewer axes than another operand.
Accuracy: Exact: broadcasting does the same.
References: https://onnx.ai/onnx/repo-docs/Broadcasting.html; measured on onnx2tf 1.29.24:
    graphfix/engines/tflite/facts/asked.json, constants-behind-conv
"""

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_OPS = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Where")


@rewrite(
    _OPS,
    removes=" ".join(f"shape:{op}.fewer-axes" for op in _OPS),
    emits=" ".join(_OPS),
    since=7,  # operands of another rank had an axis before
    claims="nan inf",
)
def constants_of_equal_rank(node: NodeView, build: Builder) -> Value:
    """Reshape the constants, see the module."""
    values = [node.need(index) for index in range(len(node.inputs))]
    ranks = [value.rank for value in values if value.rank is not None]
    if len(ranks) != len(values):
        raise Refuse("the ranks of all operands must be known")
    given = [_widened(value, max(ranks), build) for value in values]
    if all(one is other for one, other in zip(given, values, strict=True)):
        raise Refuse("a constant must have fewer axes than another operand; none has")
    result: Value = getattr(build, node.op)(*given)
    return result


def _widened(value: Value, rank: int, build: Builder) -> Value | Array:
    constant = build.const(value)
    if constant is None or constant.ndim == rank or constant.size == 1:
        return value
    return constant.reshape((1,) * (rank - constant.ndim) + constant.shape)
