"""Replace GatherND by Gather over flattened axes.

What it does: The axes that the index tuples address are joined into one, and each tuple becomes the
    number of an element of it; negative entries count from the end of their axis. A batch is one
    more entry of each tuple, its own number. With tuples of one entry nothing is joined.
Why engines need it: TensorRT has an importer for GatherND from 8.2 on.
Before: y = GatherND (data, indices)       data: [3, 4, N], indices: [5, 2]
After:
    flat = Reshape (data)              # [12, N]
    y = Gather <axis = 0> (flat, Add (Mul (first entries, 4), second entries))
When it refuses: A rank or the length of the tuples is unknown, the tuples do not fit the data, or
    the data are strings.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__GatherND.html
"""

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    along,
    counted,
    from_front,
    offset,
    rewrite,
    rows_of,
    size_of,
    sum_of,
)


@rewrite(
    "GatherND",
    removes="op:GatherND dtype:GatherND.* attr:GatherND.* rank:GatherND.*",
    emits="Add Cast Gather Less Mul Range Reshape Shape Slice Squeeze Unsqueeze Where",
    since=11,
)
def gathernd_to_gather(node: NodeView, build: Builder) -> Value:
    """Gather from joined axes, see the module."""
    data, indices = node.need(0), node.need(1)
    if data.rank is None or indices.rank is None or indices.rank < 1:
        raise Refuse("the ranks of the operands must be known")
    if data.type_name == "string":
        # onnxruntime's Gather takes the first string of each row alone (seen: 1.31).
        raise Refuse(f"{data.name} must not hold strings; it does")
    length = indices.dim(-1)
    if not length:
        raise Refuse("the length of the index tuples must be known")
    batch = int(node.attr("batch_dims", 0))
    if batch + length > data.rank or batch >= indices.rank:
        raise Refuse(
            f"batch_dims and index tuples must fit the rank {data.rank} of the data;"
            f" they are {batch} and {length}"
        )
    rows: Value | None = None
    for axis in range(batch + length):
        if axis < batch:
            entries = along(counted(data, axis, build), axis, indices.rank - 1, build)
        else:
            part = _entries(indices, axis - batch, length, build)
            entries = from_front(part, data, axis, build)
        if rows is not None:
            rows = offset(rows, size_of(data, axis, build), build)
        rows = sum_of(rows, entries, build)
    assert rows is not None
    return rows_of(data, batch + length, rows, build)


def _entries(indices: Value, place: int, length: int, build: Builder) -> Value:
    known = build.const(indices)
    if known is not None:
        return build.constant(known[..., place])
    last = (indices.rank or 1) - 1
    if length > 1:
        indices = build.Slice(indices, starts=[place], ends=[place + 1], axes=[last])
    return build.Squeeze(indices, axes=[last])
