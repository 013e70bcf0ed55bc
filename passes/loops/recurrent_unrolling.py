"""Write LSTM, GRU and RNN out, one step after the other.

What it does: Multiplies the whole sequence by the weights of the input at once, then computes the
    gates of each step from that and from the state of the step before, and joins the states.
Why engines need it: OpenCV 4 takes no GRU whose state is computed and has no RNN; TVM has none of
    the three. OpenVINO: "Unknown activation function: softsign"; tract takes the usual ones.
Before: y, h = GRU <hidden_size = 5> (x, w, r, b, , h0)             # x: [2, 1, 4]
After:
    g = Add (MatMul (x, w_transposed), bias)                    # [2, 1, 15]
    h1 = ...                                                    # of g[0] and h0
    h2 = ...                                                    # of g[1] and h1
    y = Unsqueeze (Concat (h1, h2), [1])
When it refuses: The sizes of the recurrence or the number of steps are not known, there are more
    steps than max_steps, or lengths of sequences, peepholes, activations with parameters, clip,
    input_forget or another layout are given.
Accuracy: Exact: the equations of the operator, up to the order of sums.
References: https://onnx.ai/onnx/operators/onnx__LSTM.html, onnx__GRU.html, onnx__RNN.html; measured
    on apache-tvm 0.27 and OpenCV 4.10.0
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Option, Refuse, Value, need_rank, rewrite

from ._activations import activations_of

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_STATES = {"LSTM": (5, 6), "GRU": (5,), "RNN": (5,)}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_PLAIN = {"clip": 0.0, "input_forget": 0, "layout": 0}
State = Sequence[Value | None]


Operand = Array | Value


@dataclass(frozen=True, slots=True)
class _Weights:
    """What one direction multiplies by and adds.

    Attributes:
        given: For the input, [I, G*H].
        recurring: For the state, [H, G*H].
        bias: For the input, [G*H]; None without one.
        recurring_bias: For the state.
        hidden: H.
        applied: The operators of its activations, in the order of ONNX.
    """

    given: Operand
    recurring: Operand
    bias: Operand | None
    recurring_bias: Operand | None
    hidden: int
    applied: Sequence[str]


@rewrite(
    ("LSTM", "GRU", "RNN"),
    removes="op:LSTM op:GRU op:RNN form:GRU.unset-input form:LSTM.unset-input form:RNN.unset-input",
    emits="Add Concat Gather HardSigmoid MatMul Mul Relu Sigmoid Slice Softplus Softsign Sub Tanh "
    "Transpose Unsqueeze",
    options={"max_steps": Option(int, 128, "Steps that are written out at most.")},
    since=7,
)
def recurrent_unrolling(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compute step by step, see the module."""
    x = node.need(0)
    steps = _steps(node, int(build.option("max_steps")))
    linear = bool(node.attr("linear_before_reset", 0))
    starts = [node.input(place) for place in _STATES[node.op]]
    sequences: list[Value] = []
    ends: list[list[Value]] = []
    ways = _DIRECTIONS[str(node.attr("direction", "forward"))]
    for place, backwards in enumerate(ways):
        weights = _weights(node, build, place)
        projected = _plus(build.MatMul(x, weights.given), weights.bias, build)
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


def _steps(node: NodeView, most: int) -> int:
    x = node.need(0)
    if node.input(4) is not None or node.input(7) is not None:
        raise Refuse("lengths of sequences and peepholes must be left out; they are given")
    for name, plain in _PLAIN.items():
        if node.attr(name, plain) != plain:
            raise Refuse(f"{name} must be left out; it is {node.attr(name)}")
    if str(node.attr("direction", "forward")) not in _DIRECTIONS:
        raise Refuse(f"the direction must be known; it is {node.attr('direction')}")
    steps = x.dim(0) if x.rank == 3 else None
    if not steps:
        raise Refuse(f"the steps of {x.name} must be known; fix them with --shape")
    if steps > most:
        raise Refuse(f"there must be at most {most} steps; there are {steps}")
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floats; it is {x.type_name}")
    return steps


def _weights(node: NodeView, build: Builder, place: int) -> _Weights:
    recurrence, bias = node.need(2), node.input(3)
    shape = recurrence.static_shape
    if shape is None or len(shape) != 3 or shape[1] != _GATES[node.op] * shape[2]:
        raise Refuse(f"the sizes of {recurrence.name} must be known, and those that ONNX wants")
    both = None if bias is None else _of_way(bias, place, build)
    return _Weights(
        _turned(node.need(1), place, build),
        _turned(recurrence, place, build),
        _columns(both, 0, shape[1], build),
        _columns(both, shape[1], 2 * shape[1], build),
        shape[2],
        activations_of(node, place),
    )


def _of_way(value: Value, place: int, build: Builder) -> Operand:
    """Return the weights of one direction."""
    array = build.const(value)
    if array is not None:
        return np.asarray(array[place])
    return build.Gather(value, np.array(place, np.int64), axis=0)


def _turned(value: Value, place: int, build: Builder) -> Operand:
    weights = _of_way(value, place, build)
    return build.Transpose(weights, perm=[1, 0]) if isinstance(weights, Value) else weights.T.copy()


def _columns(operand: Operand | None, first: int, last: int, build: Builder) -> Operand | None:
    if isinstance(operand, Value):
        return build.Slice(operand, starts=[first], ends=[last], axes=[need_rank(operand) - 1])
    return None if operand is None else operand[..., first:last]


def _plus(value: Value, other: Operand | None, build: Builder) -> Value:
    return value if other is None else build.Add(value, other)


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
    whole = given
    if hidden is not None:  # the first state is zero where none is given
        whole = build.Add(given, build.MatMul(hidden, weights.recurring))
    whole = _plus(whole, weights.recurring_bias, build)
    if op == "RNN":
        return (build.node(weights.applied[0], whole),)
    size = weights.hidden
    gate, new, out = weights.applied
    inward, outward, forget, fresh = (_part(whole, place, 2, build, size) for place in range(4))
    cell = build.Mul(build.node(gate, inward), build.node(new, fresh))
    if state[1] is not None:
        cell = build.Add(build.Mul(build.node(gate, forget), state[1]), cell)
    return build.Mul(build.node(gate, outward), build.node(out, cell)), cell


def _gru(
    given: Value, hidden: Value | None, weights: _Weights, linear: bool, build: Builder
) -> Value:
    size, gates = weights.hidden, 2 * weights.hidden
    gate_bias = _columns(weights.recurring_bias, 0, gates, build)
    bias = _columns(weights.recurring_bias, gates, 3 * size, build)
    before = build.Slice(given, starts=[0], ends=[gates], axes=[2])
    fresh = _part(given, 2, 2, build, size)
    if hidden is not None:
        rows = _columns(weights.recurring, 0, gates, build)
        before = build.Add(before, build.MatMul(hidden, rows))
    gate, last = weights.applied
    both = build.node(gate, _plus(before, gate_bias, build))
    update, reset = (_part(both, place, 2, build, size) for place in range(2))
    if hidden is not None:
        inner = _columns(weights.recurring, gates, 3 * size, build)
        kept = hidden if linear else build.Mul(reset, hidden)
        moved = _plus(build.MatMul(kept, inner), bias, build)
        fresh = build.Add(fresh, build.Mul(reset, moved) if linear else moved)
    elif bias is not None:
        fresh = build.Add(fresh, build.Mul(reset, bias) if linear else bias)
    new = build.Mul(build.Sub(1.0, update), build.node(last, fresh))
    return new if hidden is None else build.Add(new, build.Mul(update, hidden))
