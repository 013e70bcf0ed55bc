"""Write the steps of an LSTM, a GRU or an RNN one after the other.

What it does:
    Multiplies the input by the weights of each gate once for all steps, and writes for each step
    what the gates make of that and of the last state. Weights that are constants are cut and
    transposed at once.

Why engines need it:
    TVM has neither of the three; others have some.

Before:
    y, h = GRU <hidden_size = 8> (x, w, r)      with x [2, 1, 4]

After:
    y, h = MatMul, Add, Sigmoid, Tanh, Mul, Sub for each of the two steps; Concat of the states

When it refuses:
    The number of steps or the batch are not known, there are more steps than max_steps, the
    activations are not the usual ones, values are clipped, the batch stands first (layout), or
    there are lengths of sequences, peepholes or coupled gates.

Accuracy:
    Exact: the equations of the operator, in their order.

References:
    https://onnx.ai/onnx/operators/onnx__LSTM.html, onnx__GRU.html, onnx__RNN.html; measured on
    apache-tvm 0.27
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Option, Refuse, Value, need_type, rewrite

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_FLOATS = (TensorProto.FLOAT, TensorProto.DOUBLE)
_LENGTHS, _PEEPHOLES = 4, 7


@dataclass(frozen=True)
class _Cell:
    """One direction of a node, whose weights are known gate by gate.

    Attributes:
        build: What nodes are made with.
        given: What the weights of a gate make of the input, for all steps.
        recurrent: The transposed weights of the state, by gate.
        bias: What is added to their product; None where the node has no bias.
        linear: Whether GRU multiplies before it resets.
    """

    build: Builder
    given: list[Value]
    recurrent: list[Value]
    bias: list[Value] | None
    linear: bool

    def of_input(self, gate: int, step: int) -> Value:
        """Return what the input gives to a gate in a step."""
        return self.build.Gather(self.given[gate], np.array(step, np.int64), axis=0)

    def of_state(self, gate: int, state: Value) -> Value:
        """Return what a state gives to a gate."""
        product = self.build.MatMul(state, self.recurrent[gate])
        return product if self.bias is None else self.build.Add(product, self.bias[gate])

    def summed(self, gate: int, step: int, state: Value) -> Value:
        """Return what a gate gets."""
        return self.build.Add(self.of_input(gate, step), self.of_state(gate, state))

    def next(self, op: str, step: int, kept: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the states after a step: one, or two of an LSTM."""
        if op == "LSTM":
            return self.lstm(step, *kept)
        return (self.gru(step, *kept) if op == "GRU" else self.rnn(step, *kept),)

    def rnn(self, step: int, state: Value) -> Value:
        """Return the next state of an RNN."""
        return self.build.Tanh(self.summed(0, step, state))

    def gru(self, step: int, state: Value) -> Value:
        """Return the next state of a GRU: of the gates z, r and h."""
        build = self.build
        update, reset = (build.Sigmoid(self.summed(gate, step, state)) for gate in (0, 1))
        if self.linear:
            kept = build.Mul(reset, self.of_state(2, state))
        else:
            kept = self.of_state(2, build.Mul(reset, state))
        hidden = build.Tanh(build.Add(self.of_input(2, step), kept))
        return build.Add(
            build.Mul(build.Sub(1.0, update), hidden),
            build.Mul(update, state),
        )

    def lstm(self, step: int, state: Value, cell: Value) -> tuple[Value, Value]:
        """Return the next states of an LSTM: of the gates i, o, f and c."""
        build = self.build
        take, give, keep = (build.Sigmoid(self.summed(gate, step, state)) for gate in (0, 1, 2))
        new = build.Tanh(self.summed(3, step, state))
        cell = build.Add(build.Mul(keep, cell), build.Mul(take, new))
        return build.Mul(give, build.Tanh(cell)), cell


@rewrite(
    ("GRU", "LSTM", "RNN"),
    removes="op:GRU op:LSTM op:RNN",
    emits="Add Concat Gather MatMul Mul Sigmoid Sub Tanh Transpose Unsqueeze",
    options={"max_steps": Option(int, 128, "Steps that are written out at most.")},
)
def recurrent_unrolling(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the steps out, see the module."""
    x = node.need(0)
    need_type(x, _FLOATS)
    directions = _directions(node)
    steps, batch, hidden = _sizes(node, len(directions))
    most = int(build.option("max_steps"))
    if steps > most:
        raise Refuse(f"there must be at most {most} steps; there are {steps}")
    states: list[list[Value]] = []
    last: list[tuple[Value, ...]] = []
    for place, backward in enumerate(directions):
        cell = _cell(node, build, place, hidden)
        kept = tuple(
            _start(node, build, index, place, (batch, hidden))
            for index in ((5, 6) if node.op == "LSTM" else (5,))
        )
        made: dict[int, Value] = {}
        for step in range(steps)[:: -1 if backward else 1]:
            kept = cell.next(node.op, step, kept)
            made[step] = kept[0]
        states.append([made[step] for step in range(steps)])
        last.append(kept)
    return _results(node, build, states, last)


def _directions(node: NodeView) -> tuple[bool, ...]:
    """Say of each direction whether it runs backward; refuse what is not written out."""
    named = str(node.attr("direction", "forward"))
    if named not in _DIRECTIONS:
        raise Refuse(f"the direction must be one of ONNX; it is {named}")
    usual = [name.lower() for name in _USUAL[node.op]] * len(_DIRECTIONS[named])
    given = [str(name).lower() for name in node.attr("activations", ())]
    if given and given != usual:
        raise Refuse(f"the activations must be the usual ones; they are {', '.join(given)}")
    for name in ("activation_alpha", "activation_beta", "clip", "input_forget", "layout"):
        if node.has(name) and node.attr(name):
            raise Refuse(f"{name} must not be given; it is")
    if node.input(_LENGTHS) is not None:
        raise Refuse("all sequences must be of one length; their lengths are given")
    if node.op == "LSTM" and node.input(_PEEPHOLES) is not None:
        raise Refuse("there must be no peepholes; there are")
    return _DIRECTIONS[named]


def _sizes(node: NodeView, directions: int) -> tuple[int, int, int]:
    """Return the numbers of steps, of sequences and of what a state holds."""
    x, recurrence = node.need(0), node.need(2)
    if x.rank != 3 or recurrence.static_shape is None or len(recurrence.static_shape) != 3:
        raise Refuse(f"the sizes of {recurrence.name} and the rank of {x.name} must be known")
    steps, batch = x.dim(0), x.dim(1)
    if steps is None or batch is None:
        raise Refuse(f"the steps and the batch of {x.name} must be known; fix them with --shape")
    ways, rows, hidden = recurrence.static_shape
    if ways != directions or rows != _GATES[node.op] * hidden or not steps or not hidden:
        raise Refuse(f"{recurrence.name} must be of the shape that ONNX wants; it is not")
    return steps, batch, hidden


def _cell(node: NodeView, build: Builder, place: int, hidden: int) -> _Cell:
    """Cut the weights of one direction into those of its gates."""
    gates = _GATES[node.op]
    way = np.array(place, np.int64)

    def cut(value: Value, first: int) -> Value:
        rows = np.arange(first * hidden, (first + 1) * hidden, dtype=np.int64)
        return build.Gather(build.Gather(value, way, axis=0), rows, axis=0)

    weights, recurrence, bias = node.need(1), node.need(2), node.input(3)
    given: list[Value] = []
    for gate in range(gates):
        product = build.MatMul(node.need(0), build.Transpose(cut(weights, gate), perm=[1, 0]))
        given.append(product if bias is None else build.Add(product, cut(bias, gate)))
    recurrent = [build.Transpose(cut(recurrence, gate), perm=[1, 0]) for gate in range(gates)]
    biases = None if bias is None else [cut(bias, gates + gate) for gate in range(gates)]
    return _Cell(build, given, recurrent, biases, bool(node.attr("linear_before_reset", 0)))


def _start(node: NodeView, build: Builder, index: int, place: int, shape: tuple[int, int]) -> Value:
    """Return the state of one direction before the first step."""
    given = node.input(index)
    if given is None:
        return build.constant(np.zeros(shape, node.need(0).dtype))
    return build.Gather(given, np.array(place, np.int64), axis=0)


def _results(
    node: NodeView,
    build: Builder,
    states: list[list[Value]],
    last: list[tuple[Value, ...]],
) -> tuple[Value | None, ...]:
    """Return all states [steps, directions, batch, hidden] and the last ones."""
    wanted = [value is not None for value in node.outputs]

    def stacked(values: list[Value]) -> Value:
        raised = [build.Unsqueeze(value, axes=[0]) for value in values]
        return raised[0] if len(raised) == 1 else build.Concat(*raised, axis=0)

    found: list[Value | None] = [None] * len(wanted)
    if wanted and wanted[0]:
        each = [stacked(list(together)) for together in zip(*states, strict=True)]
        found[0] = stacked(each)
    for place in range(1, len(wanted)):
        if wanted[place]:
            found[place] = stacked([kept[place - 1] for kept in last])
    return tuple(found)
