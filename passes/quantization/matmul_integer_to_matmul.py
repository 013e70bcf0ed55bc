"""Replace MatMulInteger by MatMul of integers in float32.

What it does: Takes the zero points off, multiplies as float32, and casts the sums to int32. Where a
    sum may exceed what float32 holds, the second operand is split in its lower four bits and the
    rest, each part is multiplied by itself, and the sums are joined as int32; above 4,112 products
    they are summed in pieces of that many. Bytes that come through Reshape, Transpose and their
    like are cast before these.
Why engines need it: TensorRT has no importer for MatMulInteger, and no bytes inside of a graph.
Before: y = MatMulInteger (a, b, a_zero, b_zero)       a: uint8 [M, K], b: int8 [K, N]
After:
    p = Sub (Cast (a), Cast (a_zero))
    q = Sub (Cast (b), Cast (b_zero))
    h = Floor (Mul (q, 1 / 16))
    y = Add (Mul (Cast (MatMul (p, h)), 16), Cast (MatMul (p, Sub (q, Mul (h, 16)))))
When it refuses: The number K of products in a sum is unknown, or so large that int32 may not hold
    the sum: above 33,025.
Accuracy: Exact: every number is whole and below 2**24 in size, which float32 holds. With the option
    rounded one product sums all, and sums above that are rounded to 24 bits.
References: https://onnx.ai/onnx/operators/onnx__MatMulInteger.html
"""

from typing import Any

from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Builder,
    Motion,
    NodeView,
    Option,
    Refuse,
    Value,
    moving,
    need_rank,
    rewrite,
)

from ._parameters import whole
from ._products import ROUNDED, exact_in_halves, product_of_halves

_LARGEST = 255  # of an operand less its zero point
_INTEGERS = 1 << 24
_INT32 = 1 << 31
_PIECE = exact_in_halves(_LARGEST)
_OPTION = Option(bool, False, "Sum in one product, rounding sums above 2^24, which is cheaper.")
_MOVES = tuple(sorted(moving(Motion.SAME) | {"Transpose"}))


@rewrite(
    "MatMulInteger",
    removes="op:MatMulInteger dtype:MatMulInteger.int8",
    emits=(*_MOVES, "Add Cast Floor MatMul Mul Slice Sub"),
    since=10,
    options={"rounded": _OPTION},
)
def matmul_integer_to_matmul(node: NodeView, build: Builder) -> Value:
    """Multiply integers, see the module."""
    a, b = node.need(0), node.need(1)
    count = a.dim(-1) if a.dim(-1) is not None else b.dim(-2)
    if not a.rank or not b.rank:
        raise Refuse("the ranks of the operands must be known")
    rounded = bool(build.option("rounded"))
    if not count and not rounded:
        raise Refuse("the number of products in a sum must be known")
    left = _away(build, a, node.input(2), column=a.rank > 1)
    right = _away(build, b, node.input(3), column=False)
    if rounded:
        build.declare(APPROXIMATE, ROUNDED)
        return build.Cast(build.MatMul(left, right), to=TensorProto.INT32)
    assert count is not None
    if count * _LARGEST * _LARGEST >= _INT32:
        raise Refuse(f"the sums must fit int32; {count} products may exceed it")
    if count <= _PIECE:
        return _sum(build, left, right, count)
    sums: list[Value] = []
    for start in range(0, count, _PIECE):
        stop = min(start + _PIECE, count)
        ends: dict[str, Any] = {"starts": [start], "ends": [stop]}
        parts = (
            build.Slice(left, axes=[a.rank - 1], **ends),
            build.Slice(right, axes=[max(b.rank - 2, 0)], **ends),
        )
        sums.append(_sum(build, *parts, stop - start))
    total = sums[0]
    for further in sums[1:]:
        total = build.Add(total, further)
    return total


def _sum(build: Builder, left: Value, right: Value, count: int) -> Value:
    """Multiply integers; the second operand in two parts where the sums are large."""
    if count * _LARGEST * _LARGEST < _INTEGERS:
        return build.Cast(build.MatMul(left, right), to=TensorProto.INT32)
    return product_of_halves(build, left, right)


def _away(build: Builder, x: Value, zero: Value | None, *, column: bool) -> Value:
    """Return an operand less its zero point as float32; that of a row is in a column."""
    numbers = _early(build, x)
    if zero is None:
        return numbers
    known = build.const(zero)
    if known is not None and not known.any():
        return numbers
    rank = need_rank(zero)
    number = whole(build, zero)
    if rank == 1 and column and zero.dim(0) != 1:
        number = build.Unsqueeze(number, axes=[1])
    return build.Sub(numbers, number)


def _early(build: Builder, x: Value) -> Value:
    """Return a tensor as float32, cast before it is moved."""
    maker = x.producer
    if maker is None or maker.domain or maker.op not in _MOVES or x.is_graph_output:
        return whole(build, x)
    attributes = {name: maker.attr(name) for name in maker.attributes}
    operands = (_early(build, maker.need(0)), *maker.inputs[1:])
    return build.multi(maker.op, *operands, outputs=1, **attributes)[0]
