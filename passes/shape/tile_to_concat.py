"""Repeat a tensor by joining copies of it.

What it does: Joins as many copies along each axis as Tile repeats it there.
Why engines need it: OpenCV 4 repeats each element in its place where Tile repeats the axis, without
    a word.
Before: y = Tile (x, [1, 2])
After: y = Concat <axis = 1> (x, x)
When it refuses: The repeats are computed, one of them is 0, or there are more than 64 copies in
    all.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Tile.html, onnx__Concat.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_MOST = 64


@rewrite("Tile", removes="op:Tile", emits="Concat Identity", claims="nan inf")
def tile_to_concat(node: NodeView, build: Builder) -> Value:
    """Join copies, see the module."""
    value = node.need(0)
    repeats = [int(count) for count in build.need_const(node.need(1), "the repeats")]
    if 0 in repeats:
        raise Refuse(f"repeats must be above 0; they are {repeats}")
    if sum(count for count in repeats if count > 1) > _MOST:
        raise Refuse(f"there must be {_MOST} copies at most; there are {sum(repeats)}")
    if all(count == 1 for count in repeats):
        return build.Identity(value)
    for axis, count in enumerate(repeats):
        if count > 1:
            value = build.Concat(*[value] * count, axis=axis)
    return value
