"""Replace ReverseSequence by Gather.

What it does: Joins the batch and the time into one axis and takes, for each sequence, its elements
    from the last to the first and what is beyond its length as it is. Where the lengths and sizes
    are known the places are a constant.
Why engines need it: TensorRT has an importer for ReverseSequence from 8.0 on, which up to 8.5 takes
    a known number of sequences only.
Before: y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, lengths)       x: [B, T, C]
After:
    t = 0, 1, ... T - 1
    places = Where (Less (t, lengths), lengths - 1 - t, t) + (0, T, 2 T, ...)
    y = Gather (Reshape (x, {B * T, C}), places)
When it refuses: The rank of the data is unknown.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__ReverseSequence.html; builtin_op_importers.cpp:
    importReverseSequence of onnx-tensorrt, releases 7.2 to 8.5
"""

import numpy as np

from graphfix.authoring import (
    Builder,
    NodeView,
    Refuse,
    Value,
    along,
    counted,
    need_rank,
    rewrite,
    rows_of,
    size_of,
)


@rewrite(
    "ReverseSequence",
    removes="op:ReverseSequence shape:ReverseSequence.* dtype:ReverseSequence.*",
    emits="Add Gather Less Mul Range Reshape Shape Sub Transpose Unsqueeze Where",
    since=10,
)
def reverse_sequence_to_gather(node: NodeView, build: Builder) -> Value:
    """Take the elements of each sequence backwards, see the module."""
    x, lengths = node.need(0), node.need(1)
    rank = need_rank(x, 2)
    if x.type_name == "string":
        raise Refuse(f"{x.name} must not hold strings; it does")
    swap = [1, 0, *range(2, rank)]
    by_time = int(node.attr("time_axis", 0)) % rank == 0
    rows = build.Transpose(x, perm=swap) if by_time else x
    taken = rows_of(rows, 2, _places(rows, lengths, build), build)
    return build.Transpose(taken, perm=swap) if by_time else taken


def _places(rows: Value, lengths: Value, build: Builder) -> Value:
    """Return [batch, time]: the row of each element of the result."""
    batch, time = counted(rows, 0, build), counted(rows, 1, build)
    known, batches, steps = build.const(lengths), build.const(batch), build.const(time)
    if known is not None and batches is not None and steps is not None:
        ends = known.reshape(-1, 1)
        places = np.where(steps < ends, ends - 1 - steps, steps)
        return build.constant(places + batches[:, None] * len(steps))
    at, ends_at_run_time = along(time, 1, 2, build), build.Reshape(lengths, [-1, 1])
    backwards = build.Sub(build.Sub(ends_at_run_time, 1), at)
    places_at_run_time = build.Where(build.Less(at, ends_at_run_time), backwards, at)
    first = build.Mul(along(batch, 0, 2, build), size_of(rows, 1, build))
    return build.Add(places_at_run_time, first)
