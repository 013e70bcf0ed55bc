"""Run a reverse LSTM, GRU or RNN forward over the steps in reverse order.

What it does: Reverses the input along time, runs the same cell forward, and reverses the steps of
    the output; the last states are what they were.
Why engines need it: tract runs a cell of direction "reverse" forward, without a word; it reads
    "bidirectional".
Before: y, h = GRU <direction = "reverse"> (x, w, r, b)
After:
    z, h = GRU <direction = "forward"> (Slice (x, [-1], [-2^63], [0], [-1]), w, r, b)
    y = Slice (z, [-1], [-2^63], [0], [-1])
When it refuses: There are lengths of sequences, by which each is reversed on its own, the batch
    is first (layout), or another direction is written.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__GRU.html; measured on tract 0.23.9
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, is_empty, rewrite

_LENGTHS = 4


@rewrite(
    ("GRU", "LSTM", "RNN"),
    removes="attr:GRU.direction=reverse attr:LSTM.direction=reverse attr:RNN.direction=reverse",
    emits="GRU LSTM RNN Slice",
    since=10,
)
def rnn_reverse_by_flipping(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Flip, run and flip back, see the module."""
    direction = node.attr("direction", "forward")
    if direction != "reverse":
        raise Refuse(f"the direction must be reverse; it is {direction}")
    if node.attr("layout", 0):
        raise Refuse("time must be first; the batch does (layout)")
    if node.input(_LENGTHS) is not None:
        raise Refuse("all sequences must be of one length; their lengths are given")
    attributes = {**node.written(), "direction": "forward"}
    inputs = [_flipped(build, node.need(0)), *node.inputs[1:]]
    found = build.multi(node.op, *inputs, outputs=len(node.outputs), **attributes)
    wanted = [not is_empty(tensor) for tensor in node.node.outputs]
    first = _flipped(build, found[0]) if wanted and wanted[0] else None
    return (first, *(v if want else None for v, want in zip(found[1:], wanted[1:], strict=True)))


def _flipped(build: Builder, value: Value) -> Value:
    last, before_all = np.array([-1], np.int64), np.array([np.iinfo(np.int64).min], np.int64)
    return build.Slice(value, last, before_all, np.array([0], np.int64), last)
