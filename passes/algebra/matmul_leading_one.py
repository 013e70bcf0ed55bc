"""Drop the leading axis of one of an operand of MatMul, which is repeated along that of the other.

What it does: Squeezes the first axis, of size 1, of the operand that has as many dimensions as the
    other: MatMul puts it back.
Why engines need it: QNN's HTP ends the process (SIGSEGV) where two tensors of five dimensions
    differ in their first size; one of five by one of four it takes.
Before: y = MatMul (a, b)                    with a: float[2,2,2,3,4] and b: float[1,2,2,4,5]
After: y = MatMul (a, Squeeze (b, {0}))
When it refuses: The operands have not the same number of dimensions, at least three; the first size
    of neither is known to be 1, or that of both.
Accuracy: Exact: it is how MatMul is defined.
References: https://numpy.org/doc/stable/reference/generated/numpy.matmul.html; measured with
    onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_FEWEST = 3


@rewrite("MatMul", removes="shape:MatMul.batches", emits="MatMul Squeeze", claims="nan inf")
def matmul_leading_one(node: NodeView, build: Builder) -> Value:
    """Squeeze the axis, see the module."""
    first, second = node.need(0), node.need(1)
    if first.rank is None or first.rank != second.rank or first.rank < _FEWEST:
        raise Refuse(
            f"the operands must have equal ranks of at least {_FEWEST};"
            f" they are {first.rank} and {second.rank}"
        )
    ones = [value.dim(0) == 1 for value in (first, second)]
    if ones[0] == ones[1]:
        raise Refuse(
            "the first size of one operand must be 1, and that of the other must not;"
            f" they are {first.dim(0)} and {second.dim(0)}"
        )
    if ones[0]:
        return build.MatMul(build.Squeeze(first, axes=[0]), second)
    return build.MatMul(first, build.Squeeze(second, axes=[0]))
