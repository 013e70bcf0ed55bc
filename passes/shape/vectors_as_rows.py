"""Compute with vectors as rows of a matrix.

What it does: Gives each vector that meets another operand a first axis, so that both have one rank,
    and drops it from a result that is a vector itself. The vector of indices of a Gather, a vector
    that is expanded, and vectors that are joined get one in the same way.
Why engines need it: OpenCV 4 has no tensor of less than two dimensions and takes a vector for a
    column: [5] - [5] gives [5,5] without a word.
Before: z = Sub (x, y)               with x: float[5] and y: constant float[5]
After:
    r = Unsqueeze (x, [0])
    t = Sub (r, y2)              with y2: constant float[1,5]
    z = Squeeze (t, [0])
When it refuses: A rank is unknown; no operand is a vector; a shape that is expanded to is computed.
Accuracy: Exact.
References: https://onnx.ai/onnx/repo-docs/Broadcasting.html
"""

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank, rewrite

_OPS = (
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean",
    "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Where", "Xor",
)  # fmt: skip


_MOVED = ("Concat", "Expand", "Gather")


@rewrite(
    (*_OPS, *_MOVED),
    removes=" ".join(f"rank:{op}.1" for op in (*_OPS, *_MOVED)),
    emits=" ".join((*_OPS, *_MOVED, "Squeeze", "Unsqueeze")),
    since=7,  # operands of another rank had an axis before
    claims="nan inf",
)
def vectors_as_rows(node: NodeView, build: Builder) -> Value:
    """Give the vectors an axis, see the module."""
    if node.op == "Gather":
        return _gathered(node, build)
    if node.op == "Expand":
        return _expanded(node, build)
    values = [node.need(index) for index in range(len(node.inputs))]
    known = [value.rank for value in values if value.rank is not None]
    if len(known) != len(values):
        raise Refuse("the ranks of all operands must be known")
    if node.op == "Concat":
        return _joined(values, build)
    if 1 not in known:
        raise Refuse("an operand must be a vector; none is")
    wanted = max(2, *known)
    given = [_as_row(value, wanted, build) if value.rank == 1 else value for value in values]
    attributes = {name: node.attr(name) for name in node.attributes}
    result: Value = getattr(build, node.op)(*given, **attributes)
    return build.Squeeze(result, axes=[0]) if max(known) == 1 else result


def _as_row(value: Value, rank: int, build: Builder) -> Value | Array:
    constant = build.const(value)
    if constant is not None:
        return constant.reshape((1,) * (rank - 1) + constant.shape)
    for _ in range(rank - 1):
        value = build.Unsqueeze(value, axes=[0])
    return value


def _joined(values: list[Value], build: Builder) -> Value:
    if any(value.rank != 1 for value in values):
        raise Refuse(
            f"all operands must have rank 1; the ranks are {[value.rank for value in values]}"
        )
    rows = [_as_row(value, 2, build) for value in values]
    return build.Squeeze(build.Concat(*rows, axis=1), axes=[0])


def _gathered(node: NodeView, build: Builder) -> Value:
    data, indices = node.need(0), node.need(1)
    if indices.rank != 1:
        raise Refuse(f"{indices.name} must have rank 1; it has {indices.rank}")
    rank = need_rank(data)
    axis = node.attr("axis", 0) % rank
    taken = build.Gather(data, build.Unsqueeze(indices, axes=[0]), axis=axis)
    return build.Squeeze(taken, axes=[axis])


def _expanded(node: NodeView, build: Builder) -> Value:
    data = node.need(0)
    shape = [int(size) for size in build.need_const(node.need(1), "the shape")]
    if data.rank != 1:
        raise Refuse(f"{data.name} must have rank 1; it has {data.rank}")
    if len(shape) > 1:
        return build.Expand(_as_row(data, len(shape), build), shape)
    return build.Squeeze(build.Expand(_as_row(data, 2, build), [1, *shape]), axes=[0])
