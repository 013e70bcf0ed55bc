"""Expand an operand before it is compared with one that is broadcast against it.

What it does: Brings the first operand to the sizes of both, so that the second alone is broadcast.
Why engines need it: MNN compares floats wrongly where each of two operands is broadcast along an
    axis of the other, without a word.
Before: y = Greater (x, z)                      x: [6, 1], z: [1, 4]
After:
    a = Expand (x, [1, 4])
    y = Greater (a, z)
When it refuses: The shapes are not known, or one operand alone is broadcast.
Accuracy: Exact: no number changes.
References: https://onnx.ai/onnx/repo-docs/Broadcasting.html; measured on MNN 3.6.1
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

OPS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")


@rewrite(
    OPS, removes=tuple(f"shape:{op}.broadcast" for op in OPS), emits=("Expand Shape", *OPS), since=8
)
def comparison_of_expanded(node: NodeView, build: Builder) -> Value:
    """Expand the first operand, see the module."""
    x, z = node.need(0), node.need(1)
    if not _is_spread(x, z) or not _is_spread(z, x):
        raise Refuse("each operand must be broadcast along an axis of the other; that is not so")
    sizes = z.static_shape
    by = build.Shape(z) if sizes is None else build.constant(np.array(sizes, np.int64))
    return build.multi(node.op, build.Expand(x, by), z, outputs=1)[0]


def _is_spread(x: Value, z: Value) -> bool:
    """Say whether the first is broadcast along an axis of the second."""
    if x.rank is None or z.rank is None:
        raise Refuse(f"the ranks of {x.name} and {z.name} must be known")
    pairs = zip(_aligned(x, z.rank), _aligned(z, x.rank), strict=True)
    return any(one == 1 and other != 1 for one, other in pairs)


def _aligned(value: Value, rank: int) -> list[int | str | None]:
    shape = list(value.shape or ())
    return [1] * (rank - len(shape)) + shape
