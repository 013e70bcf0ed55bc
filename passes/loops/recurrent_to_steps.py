"""Write LSTM, GRU and RNN out, one step after the other.

What it does:
    Multiplies the whole sequence by the weights of the input at once, then computes the gates of
    each step from that and from the state of the step before, and joins the states.

Why engines need it:
    OpenCV 4 takes no GRU whose state is computed and has no RNN; others have none of the three.

Before:
    y, h = GRU <hidden_size = 5> (x, w, r, b, , h0)             # x: [2, 1, 4]

After:
    g = Add (MatMul (x, w_transposed), bias)                    # [2, 1, 15]
    h1 = ...                                                    # of g[0] and h0
    h2 = ...                                                    # of g[1] and h1
    y = Unsqueeze (Concat (h1, h2), [1])

When it refuses:
    Weights or bias are computed, the length of the sequence is not known or above 64, lengths of
    sequences, peepholes, other activations, clip, input_forget or another layout are given.

Accuracy:
    Exact up to rounding.

References:
    https://onnx.ai/onnx/operators/onnx__LSTM.html, onnx__GRU.html, onnx__RNN.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_MOST_STEPS = 64
_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_STATES = {"LSTM": (5, 6), "GRU": (5,), "RNN": (5,)}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_PLAIN = {"clip": 0.0, "input_forget": 0, "layout": 0}
State = Sequence[Value | None]


@dataclass(frozen=True, slots=True)
class _Weights:
    """What one direction multiplies by: input [I, G*H], recurrence [H, G*H], and both biases."""

    given: Array
    recurring: Array
    bias: Array
    recurring_bias: Array

    @property
    def hidden(self) -> int:
        return int(self.recurring.shape[0])


@rewrite(
    ("LSTM", "GRU", "RNN"),
    removes="op:LSTM op:GRU op:RNN form:GRU.unset-input form:LSTM.unset-input form:RNN.unset-input",
    emits="Add Concat MatMul Mul Sigmoid Slice Sub Tanh Unsqueeze",
    since=7,
)
def recurrent_to_steps(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compute step by step, see the module."""
    x = node.need(0)
    steps = _steps(node)
    linear = bool(node.attr("linear_before_reset", 0))
    starts = [node.input(place) for place in _STATES[node.op]]
    sequences: list[Value] = []
    ends: list[list[Value]] = []
    ways = _DIRECTIONS[str(node.attr("direction", "forward"))]
    for place, backwards in enumerate(ways):
        weights = _weights(node, build, place)
        projected = build.Add(build.MatMul(x, weights.given), weights.bias)
        state: State = [
            None if start is None else _part(start, place, 0, build) for start in starts
        ]
        found: list[Value] = []
        for step in reversed(range(steps)) if backwards else range(steps):
            gates = _part(projected, step, 0, build)
            made = _stepped(node.op, gates, state, weights, linear, build)
            found.append(made[0])
            state = made
        found = found[::-1] if backwards else found
        joined = build.Concat(*found, axis=0) if len(found) > 1 else found[0]
        sequences.append(build.Unsqueeze(joined, axes=[1]))
        ends.append([value for value in state if value is not None])
    whole = build.Concat(*sequences, axis=1) if len(sequences) > 1 else sequences[0]
    results = [whole]
    for place in range(len(ends[0])):
        several = [end[place] for end in ends]
        results.append(build.Concat(*several, axis=0) if len(several) > 1 else several[0])
    return tuple(
        results[place] if node.output(place) is not None else None
        for place in range(len(node.outputs))
    )


def _steps(node: NodeView) -> int:
    x = node.need(0)
    if node.input(4) is not None or node.input(7) is not None:
        raise Refuse("lengths of sequences and peepholes must be left out; they are given")
    if node.has("activations") and not _plain_activations(node):
        raise Refuse("the activations must be those of ONNX; others are named")
    for name, plain in _PLAIN.items():
        if node.attr(name, plain) != plain:
            raise Refuse(f"{name} must be left out; it is {node.attr(name)}")
    if str(node.attr("direction", "forward")) not in _DIRECTIONS:
        raise Refuse(f"the direction must be known; it is {node.attr('direction')}")
    steps = x.dim(0) if x.rank == 3 else None
    if steps is None or not 0 < steps <= _MOST_STEPS:
        raise Refuse(f"the length of the sequence must be known, from 1 to {_MOST_STEPS}")
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floats; it is {x.type_name}")
    return steps


def _plain_activations(node: NodeView) -> bool:
    plain = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}
    named = [str(name).lower() for name in node.attr("activations")]
    once = plain[node.op]
    return named in (once, once * 2)


def _weights(node: NodeView, build: Builder, place: int) -> _Weights:
    given = build.need_const(node.need(1), "the weights of the input")[place]
    recurring = build.need_const(node.need(2), "the weights of the recurrence")[place]
    width = _GATES[node.op] * recurring.shape[1]
    value = node.input(3)
    both = np.zeros(2 * width, given.dtype)
    if value is not None:
        both = build.need_const(value, "the bias")[place]
    return _Weights(given.T.copy(), recurring.T.copy(), both[:width], both[width:])


def _part(value: Value, place: int, axis: int, build: Builder, count: int = 1) -> Value:
    first = place * count
    return build.Slice(value, starts=[first], ends=[first + count], axes=[axis])


def _stepped(
    op: str, given: Value, state: State, weights: _Weights, linear: bool, build: Builder
) -> Sequence[Value]:
    """Return the state after one step: [1, B, H], and for an LSTM the cell too."""
    hidden = state[0]
    if op == "GRU":
        return (_gru(given, hidden, weights, linear, build),)
    whole = build.Add(_recurred(hidden, weights, given, build), weights.recurring_bias)
    if op == "RNN":
        return (build.Tanh(whole),)
    size = weights.hidden
    inward, outward, forget, fresh = (_part(whole, gate, 2, build, size) for gate in range(4))
    cell = build.Mul(build.Sigmoid(inward), build.Tanh(fresh))
    if state[1] is not None:
        cell = build.Add(build.Mul(build.Sigmoid(forget), state[1]), cell)
    return build.Mul(build.Sigmoid(outward), build.Tanh(cell)), cell


def _recurred(hidden: Value | None, weights: _Weights, given: Value, build: Builder) -> Value:
    """Return the gates before their bias; the first state is zero where none is given."""
    return given if hidden is None else build.Add(given, build.MatMul(hidden, weights.recurring))


def _gru(
    given: Value, hidden: Value | None, weights: _Weights, linear: bool, build: Builder
) -> Value:
    size = weights.hidden
    gates = 2 * size
    bias = weights.recurring_bias
    before = build.Slice(given, starts=[0], ends=[gates], axes=[2])
    if hidden is not None:
        before = build.Add(before, build.MatMul(hidden, weights.recurring[:, :gates]))
    both = build.Sigmoid(build.Add(before, bias[:gates]))
    update, reset = (_part(both, gate, 2, build, size) for gate in range(2))
    fresh = _part(given, 2, 2, build, size)
    inner = weights.recurring[:, gates:]
    if hidden is None:
        behind: Value | Array = bias[gates:]
        fresh = build.Add(fresh, build.Mul(reset, behind) if linear else behind)
    elif linear:
        fresh = build.Add(
            fresh, build.Mul(reset, build.Add(build.MatMul(hidden, inner), bias[gates:]))
        )
    else:
        moved = build.MatMul(build.Mul(reset, hidden), inner)
        fresh = build.Add(build.Add(fresh, moved), bias[gates:])
    new = build.Mul(build.Sub(np.ones(1, bias.dtype), update), build.Tanh(fresh))
    return new if hidden is None else build.Add(new, build.Mul(update, hidden))
