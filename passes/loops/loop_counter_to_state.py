"""Carry the number of the round along, where an engine misreads the counter of a Loop.

What it does: A Loop whose body reads the number of the round carries a number of its own: it is 0
    at first, one more after each round, and has the shape that the body declares for the counter,
    which nothing reads any more.
Why engines need it: TensorRT 7.0 gives the body the trip count for it, 7.1 gives it none, 7.2 to
    8.5 a vector of one element where ONNX has a scalar, and later ones a scalar where a file
    declares such a vector.
Before: y = Loop (n, c, x) <body (i, c, s) => (c, r) { row = Gather (t, i) r = Add (s, row) }>
After:
    y, last = Loop (n, c, x, 0) <body (i, c, s, k) => (c, r, m)
        { row = Gather (t, k) r = Add (s, row) m = Add (k, 1) }>
When it refuses: An initial value is missing, or the counter is no int64 scalar or vector of one
    number.
Accuracy: Exact: the number is the same in each round.
References: https://onnx.ai/onnx/operators/onnx__Loop.html; onnx-tensorrt
    builtin_op_importers.cpp:1709 (7.0), :1712 (7.1), LoopHelpers.cpp:13 (7.2 to 8.6),
    builtin_op_importers.cpp:2375 (8.6)
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    Graph,
    NodeView,
    Refuse,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    rewrite,
    value_of,
)


@rewrite("Loop", removes="form:Loop.counter", emits="*::*")
def loop_counter_to_state(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Carry the number of the round along, see the module."""
    body = node.attr("body")
    assert isinstance(body, Graph)  # the checker wants one
    counter = body.inputs[0]
    if not Value(counter).is_used:
        raise Refuse("the body must read the iteration number; it does not")
    shape = counter.shape or ()
    if counter.elem_type != TensorProto.INT64 or shape not in ((), (1,)):
        raise Refuse(
            "the iteration number must be int64 and a scalar or a vector of one element;"
            f" its shape is {list(shape)}"
        )
    sizes: tuple[int, ...] = (1,) if shape else ()
    carried = [node.need(place) for place in range(2, len(node.inputs))]
    states = len(carried)

    def make(inner: Builder, *given: Value) -> list[Value]:
        _, going, *before, number = given
        values: Values = {}
        copy_constants(inner, body, values)
        for tensor, value in zip(body.inputs, (number, going, *before), strict=True):
            values[id(tensor)] = value
        copy_nodes(inner, body.nodes, values)
        results = [value_of(tensor, values) for tensor in body.outputs]
        following = inner.Add(number, np.ones(sizes, np.int64))
        return [*results[: 1 + states], following, *results[1 + states :]]

    inputs = [(tensor.name, tensor.elem_type, tensor.shape) for tensor in body.inputs]
    inputs[0] = ("round", TensorProto.INT64, ())
    graph = build.body([*inputs, ("number", TensorProto.INT64, shape)], make)
    first = build.constant(np.zeros(sizes, np.int64))
    operands = (node.input(0), node.input(1), *carried, first)
    results = build.multi("Loop", *operands, outputs=len(body.outputs), body=graph)
    kept = [*results[:states], *results[1 + states :]][: len(node.outputs)]
    return tuple(None if old is None else new for old, new in zip(node.outputs, kept, strict=True))
