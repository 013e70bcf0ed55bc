"""Take the last hidden state of GRU and RNN from what they give for each step.

What it does: Reads Y_h as the last step of Y: the first one where the direction is reverse, and one
    of each where there are both. LSTM keeps its states; all outputs before one that is read get a
    name.
Why engines need it: rknn-toolkit2 ends its process, or takes memory that is not there, where the
    last hidden state is read and what was given for each step is not, or has no name. Of LSTM it
    takes the hidden state alone where all have names.
Before: , Y_h = GRU (X, W, R)            # X [5, 1, 3], both unread or unnamed outputs before Y_h
After:
    Y, _ = GRU (X, W, R)
    Y_h = Gather <axis = 0> (Y, -1)
When it refuses: The number of steps is not known or 0, lengths of sequences are given, the batch
    comes first, the cell state of LSTM is read and the hidden state is not, or nothing is to be
    done.
Accuracy: Exact: the last hidden state is what the last step gives.
References: https://onnx.ai/onnx/operators/onnx__GRU.html; rknn-toolkit2 2.3.2, measured
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_HIDDEN, _CELL = 1, 2  # places of outputs
_LENGTHS = 4  # place of the input


@rewrite(
    ("GRU", "LSTM", "RNN"),
    removes="form:GRU.outputs form:LSTM.outputs form:RNN.outputs",
    emits="Concat GRU Gather LSTM RNN Slice",
    since=10,
    claims="nan inf",
)
def recurrent_state_from_outputs(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Name all outputs, and read the state from the first; see the module."""
    given = list(node.outputs)
    hidden, cell = (_is_read(given, place) for place in (_HIDDEN, _CELL))
    if node.op == "LSTM" and cell and not hidden:
        raise Refuse("the hidden state must be read where the cell state is; it is not")
    unread = not _is_read(given, 0) if node.op != "LSTM" else given[0] is None
    if not hidden or not unread:
        raise Refuse("a state must be read, and the output before it not; that is not so here")
    attributes = node.written()
    made = build.multi(node.op, *node.inputs, outputs=len(given), **attributes)
    state = made[_HIDDEN] if len(made) > _HIDDEN else None
    if node.op != "LSTM":
        state = _last(node, build, made[0])
    found = [state if place == _HIDDEN else value for place, value in enumerate(made)]
    return tuple(None if old is None else value for old, value in zip(given, found, strict=True))


def _is_read(outputs: list[Value | None], place: int) -> bool:
    value = outputs[place] if place < len(outputs) else None
    return value is not None and value.is_used


def _last(node: NodeView, build: Builder, steps: Value) -> Value:
    """Return what the last step of each direction gives."""
    if node.attr("layout", 0):
        raise Refuse("the sequence must come first; the batch does")
    if node.input(_LENGTHS) is not None:
        raise Refuse("all sequences must have all steps; their lengths are given")
    if not node.need(0).dim(0):
        raise Refuse("the number of steps must be known, and more than 0")
    direction = node.attr("direction", "forward")
    if direction == "forward":
        return build.Gather(steps, np.int64(-1), axis=0)
    first = build.Gather(steps, np.int64(0), axis=0)
    if direction == "reverse":
        return first
    last = build.Gather(steps, np.int64(-1), axis=0)
    one, two = np.array([1], np.int64), np.array([2], np.int64)
    zero = np.array([0], np.int64)
    forward = build.Slice(last, zero, one, zero)
    return build.Concat(forward, build.Slice(first, one, two, zero), axis=0)
