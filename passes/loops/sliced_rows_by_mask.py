"""Reduce the rows between two bounds by a mask over all rows.

What it does: Where a Slice takes rows from a computed start to a computed end, and all that is read
    of them, or of the rows of a table that they name, is their sum or mean, the whole is summed
    with 0 for each row outside of the bounds.
Why engines need it: TensorRT refuses a Slice whose bounds change between the rounds of a loop ("an
    IRecurrenceLayer cannot be used to compute a shape tensor"). torch.onnx writes EmbeddingBag so.
Before: y = ReduceMean <axes = [0]> (Gather (table, Slice (ids, start, end, [0])))
After:
    places = Range (0, n, 1)
    kept = And (Not (Less (places, start)), Less (places, end))
    rows = Gather (table, Where (kept, ids, 0))
    y = Div (ReduceSum (Where (kept, rows, 0), [0]), Max (count of kept, 1))
When it refuses: The Slice has steps or other axes than the first, a bound is not one number, or
    what is reduced is not of floats, along the first axis alone.
Accuracy: Exact up to the order of summation; the mean of no rows, which ONNX leaves open, is 0, as
    in onnxruntime and in EmbeddingBag.
References: https://onnx.ai/onnx/operators/onnx__Slice.html; pytorch/pytorch
    torch/onnx/_internal/torchscript_exporter/symbolic_helper.py, embedding_bag
"""

from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    Editor,
    Graph,
    NodeView,
    Refuse,
    Value,
    axes_of,
    graph_pass,
    need_rank,
)

_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16)


@graph_pass(
    removes="shape:Slice.loop-variable",
    emits="Add And Cast Div Gather Less Max Not Range ReduceSum Reshape Shape Where",
)
def sliced_rows_by_mask(editor: Editor) -> None:
    """Sum with zeros inside of Loop and Scan, see the module."""
    for graph in editor.graphs():
        if _is_repeated(graph):
            for view in editor.nodes(graph, "ReduceMean", "ReduceSum"):
                if _cut_of(view) is not None:
                    editor.replace(view, partial(_summed, view))


def _is_repeated(graph: Graph | None) -> bool:
    while graph is not None and graph.parent is not None:
        if graph.parent.op in ("Loop", "Scan"):
            return True
        graph = graph.parent.graph
    return False


def _cut_of(reduction: NodeView) -> NodeView | None:
    """Return the Slice whose rows are reduced, or which says the rows of a table that are."""
    maker = reduction.need(0).producer
    if maker is not None and maker.op == "Gather" and maker.attr("axis", 0) == 0:
        maker = maker.need(1).producer
    return maker if maker is not None and maker.op == "Slice" else None


def _summed(reduction: NodeView, build: Builder) -> Value:
    taken, cut = reduction.need(0), _cut_of(reduction)
    assert cut is not None  # the caller has looked
    gather = (
        taken.producer if taken.producer is not None and taken.producer.op == "Gather" else None
    )
    axes = list(reduction.attr("axes", ())) or axes_of(reduction.input(1), "the axes", build)
    steps, cut_axes = axes_of(cut.input(4), "steps", build), axes_of(cut.input(3), "axes", build)
    if axes != [0] or (cut_axes or [0]) != [0] or (steps or [1]) != [1]:
        raise Refuse("rows must be cut, without steps, and reduced along the first axis alone")
    rows, table = cut.need(0), None if gather is None else gather.need(0)
    if table is not None and rows.rank != 1:
        raise Refuse(f"{rows.name} must be of one axis; its rank is {rows.rank}")
    for bound in (cut.need(1), cut.need(2)):
        if bound.static_shape != (1,):
            raise Refuse(f"{bound.name} must be one number; its shape is {bound.shape}")
    floats = rows if table is None else table
    if floats.elem_type not in _FLOATS:
        raise Refuse(f"{floats.name} must be floats; it is {floats.type_name}")
    count = build.Shape(rows)
    if need_rank(rows) > 1:
        count = build.Gather(count, np.array([0]), axis=0)
    zero, one = np.array(0, np.int64), np.array(1, np.int64)
    places = build.Range(zero, build.Reshape(count, np.zeros(0, np.int64)), one)
    start, end = (_from_front(cut.need(place), count, build) for place in (1, 2))
    inside = build.And(build.Not(build.Less(places, start)), build.Less(places, end))
    if table is None:
        taken = rows
    else:  # what is outside of the bounds need not name a row
        named = build.Where(inside, rows, np.array(0, rows.dtype))
        taken = build.Gather(table, named, axis=0)
    shown = build.Reshape(inside, [-1] + [1] * (need_rank(floats) - 1))
    kept = int(reduction.attr("keepdims", 1))
    nothing = np.array(0, floats.dtype)
    total = build.ReduceSum(build.Where(shown, taken, nothing), axes=[0], keepdims=kept)
    if reduction.op == "ReduceSum":
        return total
    number = build.ReduceSum(build.Cast(inside, to=floats.elem_type), axes=[0], keepdims=0)
    return build.Div(total, build.Max(number, np.array(1, floats.dtype)))


def _from_front(bound: Value, count: Value, build: Builder) -> Value:
    whole = bound if bound.type_name == "int64" else build.Cast(bound, to=TensorProto.INT64)
    return build.Where(build.Less(whole, 0), build.Add(whole, count), whole)
