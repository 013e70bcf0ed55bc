"""Write a Loop that counts as a Scan over the values of its rounds.

What it does: Where a Loop ends after its trip count alone, the same body runs as a Scan along Range
    (0, trip count): what is carried is the state, the number of the round is the element that is
    scanned. Where there may be no round, an If gives what comes in instead.
Why engines need it: tract has Scan, whose number of rounds is a size, and no Loop.
Before: h, y = Loop (n, true, h0) <body (i, c, h) => (c, h_new, row) { ... }>
After: h, y = Scan <num_scan_inputs = 1, body (h, i) => (h_new, row) { ... }> (h0, Range (0, n, 1))
When it refuses: The body may end the loop by its condition, there is no trip count, what is carried
    is no tensor, or its shape is not known to be the same before and after a round, as a Scan has
    it.
Accuracy: Exact: the same operators on the same values.
References: https://onnx.ai/onnx/operators/onnx__Scan.html,
    https://onnx.ai/onnx/operators/onnx__Loop.html; measured on tract 0.23.9: Translating node ...
    Unimplemented(Loop)
"""

from collections.abc import Callable, Sequence

import numpy as np
from onnx import TensorProto

from graphfix.analysis.folding.lower_bounds import lower_bound
from graphfix.authoring import (
    Builder,
    Graph,
    NodeView,
    Refuse,
    Tensor,
    Value,
    Values,
    copy_constants,
    copy_nodes,
    rewrite,
    value_of,
)


@rewrite("Loop", removes="op:Loop", emits="*::*", since=11)
def loop_to_scan(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Scan the values of the rounds, see the module."""
    body = node.attr("body")
    assert isinstance(body, Graph)  # the checker wants one
    count = node.input(0)
    if count is None or not (node.input(1) is None or _is_true(node.input(1), body)):
        raise Refuse("the loop must end after a trip count; it may end by its condition")
    if not _is_true(Value(body.outputs[0]), body):
        raise Refuse("the loop must end after a trip count; its body has a condition")
    carried = [node.need(place) for place in range(2, len(node.inputs))]
    for value in carried:
        if value.tensor.opaque is not None or value.shape is None:
            raise Refuse(f"the rank of the loop-carried {value.name} must be known; it is not")
    if len(body.inputs[0].shape or ()) > 0:
        raise Refuse(f"the iteration number must be a scalar; its shape is {body.inputs[0].shape}")

    def make(inner: Builder, *given: Value) -> list[Value]:
        values: Values = {}
        copy_constants(inner, body, values)
        going = inner.constant(np.bool_(True))
        for tensor, value in zip(body.inputs, (given[-1], going, *given[:-1]), strict=True):
            values[id(tensor)] = value
        copy_nodes(inner, body.nodes, values)
        results = [value_of(tensor, values) for tensor in body.outputs[1:]]
        for before, after in zip(given[:-1], results, strict=False):
            _need_same_shape(before, after)
        return results

    inputs = [(f"state{i}", value.elem_type, value.shape) for i, value in enumerate(carried)]

    def scanned(place: Builder) -> tuple[Value, ...]:
        scan = place.body([*inputs, ("round", TensorProto.INT64, ())], make)
        numbers = place.Range(np.int64(0), _reshaped(place, count, []), np.int64(1))
        outputs = len(node.outputs)
        return place.multi("Scan", *carried, numbers, outputs=outputs, num_scan_inputs=1, body=scan)

    least = lower_bound(count)
    if least is not None and least > 0:
        return scanned(build)
    return _or_none(node, build, count, carried, scanned)


def _or_none(
    node: NodeView,
    build: Builder,
    count: Value,
    carried: Sequence[Value],
    scanned: Callable[[Builder], Sequence[Value]],
) -> tuple[Value, ...]:
    """Scan where there is a round, as onnxruntime asks, and give what comes in where there is none.

    Both branches give the same sizes, so that there is one row more than none.
    """
    rounds, one = _reshaped(build, count, [1]), np.array([1], np.int64)
    empty = build.Less(rounds, one)
    rows = node.outputs[len(carried) :]
    sizes = [_row_of(value) for value in rows]

    def none(inner: Builder) -> list[Value]:
        some = inner.Where(empty, one, rounds)
        filled = [
            inner.Expand(
                np.zeros((), value.dtype), inner.Concat(some, np.array(row, np.int64), axis=0)
            )
            for value, row in zip(rows, sizes, strict=True)
            if value is not None
        ]
        return [*(inner.Identity(value) for value in carried), *filled]

    found = build.multi(
        "If",
        _reshaped(build, empty, []),
        outputs=len(node.outputs),
        then_branch=build.body([], none),
        else_branch=build.body([], scanned),
    )
    start = np.array([0], np.int64)
    cut = [build.Slice(value, start, rounds, start) for value in found[len(carried) :]]
    return (*found[: len(carried)], *cut)


def _row_of(value: Value | None) -> list[int]:
    """Return the sizes of a row of a scan output."""
    if value is None:
        raise Refuse("every output must be used where there may be no round; one is left out")
    row = None if value.shape is None else value.shape[1:]
    if row is None or not all(isinstance(size, int) for size in row) or value.dtype is None:
        raise Refuse(
            f"the sizes of a row of {value.name} must be known where there may be no round"
        )
    return [size for size in row if isinstance(size, int)]


def _reshaped(build: Builder, value: Value, shape: list[int]) -> Value:
    if value.rank == len(shape):
        return value
    return build.Reshape(value, np.array(shape, np.int64))


def _is_true(value: Value | None, body: Graph) -> bool:
    """Say whether a condition holds in every round; the one that comes in does if all others do."""
    tensor: Tensor | None = value.tensor if value is not None else None
    while tensor is not None:
        if tensor is body.inputs[1]:
            return True
        array = Value(tensor).array()
        if array is not None:
            return array.size == 1 and bool(array.reshape(()))
        maker = next(iter(tensor.inputs), None)
        if maker is None or maker.op != "Identity" or maker.domain:
            return False
        tensor = maker.inputs[0]
    return False


def _need_same_shape(before: Value, after: Value) -> None:
    first: Sequence[object] | None = before.shape
    then: Sequence[object] | None = after.shape
    if first is None or then is None or first != then or None in first:
        raise Refuse(
            f"what is carried must keep its shape; {after.name} is {then} after a round and "
            f"{first} before it"
        )
