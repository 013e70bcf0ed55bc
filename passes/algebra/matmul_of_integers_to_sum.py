"""Multiply matrices of integers element by element and sum.

What it does: Puts the rows of the first operand against the columns of the second, multiplies, and
    sums over the axis that both have: int32 by ReduceSum of int64, int64 by adding one half to the
    other until one is left. Where the number of terms is unknown, 16 bits are summed at a time. A
    vector is a matrix of one row or column, whose axis goes again.
Why engines need it: TensorRT from 7.1 on multiplies no matrices of integers ("Found invalid input
    type of INT32").
Before: y = MatMul (a, b)                  a: int32[2, 3], b: int32[3, 4]
After: y = Cast <to = int32> (ReduceSum <axes = {1}> (Cast <to = int64> (Mul (Unsqueeze (a), b))))
When it refuses: A rank is unknown, an operand has none, the elements are no integers of 32 or 64
    bits, or the sizes that are known give more than 2**24 products.
Accuracy: Exact: what does not fit wraps around as it does in MatMul. ReduceSum of onnxruntime adds
    integers through float64 and saturates, so that it gets no sum that may be beyond 2**53.
References: builtin_op_importers.cpp:2895 of onnx-tensorrt, release 8.6;
    https://onnx.ai/onnx/operators/onnx__MatMul.html
"""

from math import prod

from onnx import TensorProto

from graphfix.authoring import (
    MOST_TERMS,
    Builder,
    NodeView,
    Refuse,
    Value,
    combined,
    in_halves,
    in_quarters,
    need_rank,
    rewrite,
)

_MOST = 1 << 24


@rewrite(
    "MatMul",
    removes="dtype:MatMul.int32 dtype:MatMul.int64",
    emits="Add Cast Concat Div Mul ReduceSum Slice Squeeze Sub Unsqueeze",
    since=9,
)
def matmul_of_integers_to_sum(node: NodeView, build: Builder) -> Value:
    """Multiply all pairs and sum, see the module."""
    first, second = node.need(0), node.need(1)
    if first.type_name not in ("int32", "int64"):
        raise Refuse(f"the elements must be int32 or int64; they are {first.type_name}")
    row, column = need_rank(first, 1) == 1, need_rank(second, 1) == 1
    first = build.Unsqueeze(first, axes=[0]) if row else first
    second = build.Unsqueeze(second, axes=[1]) if column else second
    found = _multiplied(first, second, build)
    if not row and not column:
        return found
    return build.Squeeze(found, axes=[need_rank(found) - 2] * row + [need_rank(found) - 1] * column)


def _multiplied(first: Value, second: Value, build: Builder) -> Value:
    ranks = need_rank(first), need_rank(second)
    rank = max(ranks)
    common = first.dim(-1) or second.dim(-2) or 1
    known = [first.dim(-2), second.dim(-1)]
    for axis in range(3, rank + 1):
        known.append(max(first.dim(-axis) or 1, second.dim(-axis) or 1))
    products = common * prod(size or 1 for size in known)
    if products > _MOST:
        raise Refuse(f"there must be at most {_MOST} products; there would be {products}")
    # [..., m, k, 1] by [..., 1, k, n]; leading axes of size 1 are added where ranks differ.
    rows = build.Unsqueeze(first, axes=[ranks[0]])
    columns = build.Unsqueeze(second, axes=[ranks[1] - 2]) if ranks[1] > 2 else second
    return _sum(build.Mul(rows, columns), rank - 1, first.dim(-1) or second.dim(-2), build)


def _sum(products: Value, axis: int, size: int | None, build: Builder) -> Value:
    """Sum over an axis; what does not fit wraps around as in MatMul."""
    if products.type_name == "int32" and (size is None or size <= MOST_TERMS):
        wide = build.Cast(products, to=TensorProto.INT64)

        def add_up(x: Value) -> Value:
            return build.ReduceSum(x, axes=[axis], keepdims=0)

        total = add_up(wide) if size is not None else in_halves(wide, add_up, build)
        return build.Cast(total, to=TensorProto.INT32)
    if not size:
        return in_quarters(products, lambda x: build.ReduceSum(x, axes=[axis], keepdims=0), build)
    return combined("Add", products, axis, size, build)
