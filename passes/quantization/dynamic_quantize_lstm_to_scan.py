"""Take DynamicQuantizeLSTM apart.

What it does: Quantizes the whole sequence by the range of its values and multiplies it by the
    weights of the input; then a Scan quantizes the state of each step by its own range, multiplies
    it by the weights of the recurrence, and computes gates, cell and the next state. Products are
    of float32 numbers that hold the same integers.
Why engines need it: It is an operator of onnxruntime's dynamic quantization; other engines do not
    know it.
Before: y, h, c = com.microsoft.DynamicQuantizeLSTM <hidden_size = 8> (x, w, r, b, , h0, c0, , ...)
After:
    g = Mul (MatMul (x in steps, w less its zero point), both scales)          # [T, B, 32]
    h, c, s = Scan <body = ...> (h0, c0, g)                                    # s: [T, B, 8]
    y = Unsqueeze (s, {1})
When it refuses: The input is not float32, weights or their scales are computed, lengths of
    sequences, peepholes, other activations, clip or input_forget are given, or a sum over a single
    place may be 2**24, up to which float32 holds every integer.
Accuracy: Exact up to rounding for a batch of 1: the sums are whole, whatever their order, and a
    number next to the middle between two steps may be taken to the other one. Else approximate:
    onnxruntime gives the sequences of a batch to several threads where it has them, and quantizes
    the states of those of a thread together, this pass those of the batch.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.DynamicQuantizeLSTM;
    onnxruntime/contrib_ops/cpu/quantization/dynamic_quantize_lstm.cc,
    onnxruntime/core/providers/cpu/rnn/uni_directional_lstm.cc, rnn_helpers.cc (ComputeGemm)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    FAR,
    Array,
    Builder,
    Graph,
    InferredType,
    NodeView,
    Refuse,
    Value,
    needed,
    rewrite,
)

from ._products import Operand
from ._qproducts import multiplied
from ._ranging import RANGING_EMITS, ranged
from ._reading import RANGES

_NAME = "com.microsoft::DynamicQuantizeLSTM"
_BIAS, _LENGTHS, _HIDDEN, _CELL, _PEEPHOLES = 3, 4, 5, 6, 7
_OF_INPUT, _OF_STATE = (1, 8, 9), (2, 10, 11)  # the places of weights, scale and zero point
_LARGEST = 255
_WAYS = {"forward": (0,), "reverse": (1,), "bidirectional": (0, 1)}
_PLAIN = ["sigmoid", "tanh", "tanh"]
_THREADS = "exact where one thread has the whole batch; several quantize the states of theirs alone"


class _Weights(Struct, frozen=True):
    """The weights of one direction: less their zero point, and their scales.

    Attributes:
        operand: [in, 4 * hidden].
        scale: float32 of one element, or of one for each column.
    """

    operand: Operand
    scale: Array


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """Say the sizes, which no type inference finds in a Scan."""
    x = node.input(0)
    hidden = int(node.attr("hidden_size", 0)) or None
    ways = len(_WAYS.get(str(node.attr("direction", "forward")), ()))
    if x is None or not x.elem_type or x.shape is None or len(x.shape) != 3 or not ways:
        raise Refuse("the input must be of rank 3; it is not known to be")
    steps, batch, _ = x.shape
    last = InferredType(x.elem_type, (ways, batch, hidden))
    return (InferredType(x.elem_type, (steps, ways, batch, hidden)), last, last)


@rewrite(
    _NAME,
    emits=(
        *RANGING_EMITS,
        "Concat ConstantOfShape Gather MatMul Pad Scan Shape Sigmoid Slice Tanh Unsqueeze",
    ),
    since=9,
    infer=infer,
)
def dynamic_quantize_lstm_to_scan(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Multiply the sequence, then walk along it, see the module."""
    x = node.need(0)
    if x.elem_type != TensorProto.FLOAT or x.rank != 3:
        raise Refuse(f"{x.name} must be float32 of rank 3; it is {x.type_name} of rank {x.rank}")
    _check_plain(node)
    hidden = int(node.attr("hidden_size", 0))
    way = str(node.attr("direction", "forward"))
    ways = needed(_WAYS.get(way), f"the direction must be known; it is {way}")
    bias = node.input(_BIAS)
    biases = None if bias is None else build.need_const(bias, "the bias")
    steps, scale, zero = ranged(build, x)
    left = Operand(build.Sub(steps, zero), None, _LARGEST)
    found: list[tuple[Value, ...]] = []
    for place, backwards in enumerate(ways):
        given = _weights(node, build, _OF_INPUT, place, hidden)
        gates = build.Mul(_product(build, left, given), build.Mul(scale, given.scale))
        recurring = _weights(node, build, _OF_STATE, place, hidden)
        added = None if biases is None else biases[place].reshape(2, 4 * hidden).sum(axis=0)
        starts = [_start(node, build, at, place, hidden) for at in (_HIDDEN, _CELL)]
        found.append(_walked(build, starts, gates, recurring, added, backwards, hidden))
    if x.dim(1) != 1:
        build.declare(APPROXIMATE, _THREADS)
    states, cells, sequences = zip(*found, strict=True)
    wide = [build.Unsqueeze(sequence, axes=[1]) for sequence in sequences]
    results = [
        _together(build, parts, axis) for parts, axis in ((wide, 1), (states, 0), (cells, 0))
    ]
    return tuple(
        results[place] if node.output(place) is not None else None
        for place in range(len(node.outputs))
    )


def _check_plain(node: NodeView) -> None:
    """Refuse what the step does not have."""
    if node.input(_LENGTHS) is not None or node.input(_PEEPHOLES) is not None:
        raise Refuse("lengths of sequences and peepholes must be left out; they are given")
    named = [str(name).lower() for name in node.attr("activations", ())]
    if any(named[at : at + 3] != _PLAIN for at in range(0, len(named), 3)):
        raise Refuse(f"the activations must be those of ONNX; they are {named}")
    node.waive(("activation_alpha", "activation_beta"))  # those of ONNX have no parameters
    if float(node.attr("clip", 0.0)) or int(node.attr("input_forget", 0)):
        raise Refuse("clip and input_forget must be left out; they are given")


def _weights(
    node: NodeView, build: Builder, places: tuple[int, int, int], way: int, hidden: int
) -> _Weights:
    """Return the weights of one direction; the first zero point of a row holds for all of it."""
    value, scales, zeros = (node.need(place) for place in places)
    weights = build.need_const(value, f"the weights {value.name}")
    scale = build.need_const(scales, f"the scale {scales.name}")[way]
    zero = int(np.reshape(build.need_const(zeros, f"the zero point {zeros.name}")[way], -1)[0])
    if weights.ndim != 3 or weights.shape[2] != 4 * hidden:
        raise Refuse(f"{value.name} must be of 4 x {hidden} columns; its shape is {weights.shape}")
    whole = weights[way].astype(np.int64) - zero
    low, high = RANGES[value.elem_type]
    known = Operand(
        build.constant(whole.astype(np.float32)), whole, max(high - zero, zero - low, 0)
    )
    return _Weights(known, np.asarray(scale, np.float32))


def _product(build: Builder, left: Operand, right: _Weights) -> Value:
    assert right.operand.known is not None  # they are constants
    return multiplied(build, left, right.operand, right.operand.known.shape[0], None)


def _start(node: NodeView, build: Builder, place: int, way: int, hidden: int) -> Value:
    """Return the state that a direction begins with: [batch, hidden]."""
    given = node.input(place)
    if given is not None:
        return build.Gather(given, np.array(way, np.int64), axis=0)
    x = node.need(0)
    size = x.dim(1)
    if size is not None:
        return build.constant(np.zeros((size, hidden), np.float32))
    batch = build.Gather(build.Shape(x), np.array([1], np.int64), axis=0)
    sizes = build.Concat(batch, np.array([hidden], np.int64), axis=0)
    return build.ConstantOfShape(sizes, value=np.zeros(1, np.float32))


def _walked(
    build: Builder,
    starts: Sequence[Value],
    gates: Value,
    recurring: _Weights,
    bias: Array | None,
    backwards: int,
    hidden: int,
) -> tuple[Value, Value, Value]:
    """Return the last state and cell, [1, batch, hidden], and the states of all steps.

    Where there may be no step, one more is done after the last and left out: a Scan needs one. The
    last state of no steps is zero in onnxruntime, or what its memory holds.
    """
    late = gates.dim(0) is None
    if late:
        gates = build.Pad(gates, np.array([backwards, 0, 0, 1 - backwards, 0, 0], np.int64))
    body = _body(build, gates, recurring, bias, hidden)
    ways: dict[str, Any] = {"scan_input_directions": [1]} if backwards else {}
    outputs = 4 if late else 3
    if backwards:
        ways["scan_output_directions"] = [1] * (outputs - 2)
    state, cell, *sequences = build.multi(
        "Scan", *starts, gates, outputs=outputs, body=body, num_scan_inputs=1, **ways
    )
    if not late:
        return build.Unsqueeze(state, axes=[0]), build.Unsqueeze(cell, axes=[0]), sequences[0]
    zeros = build.Unsqueeze(build.Mul(starts[0], 0.0), axes=[0])
    ends = ([1], [FAR]) if backwards else ([0], [-1])
    kept = [build.Slice(one, starts=ends[0], ends=ends[1], axes=[0]) for one in sequences]
    last = ([0], [1]) if backwards else ([-1], [FAR])
    state, cell = (
        build.Slice(
            build.Concat(*((one, zeros) if backwards else (zeros, one)), axis=0),
            starts=last[0],
            ends=last[1],
            axes=[0],
        )
        for one in kept
    )
    return state, cell, kept[0]


def _body(
    build: Builder, gates: Value, recurring: _Weights, bias: Array | None, hidden: int
) -> Graph:
    """Return one step, which outputs the cells too where a step is left out."""

    def step(inner: Builder, *given: Value) -> Sequence[Value]:
        state, cell, whole = given
        steps, scale, zero = ranged(inner, state)
        left = Operand(inner.Sub(steps, zero), None, _LARGEST)
        moved = inner.Mul(_product(inner, left, recurring), inner.Mul(scale, recurring.scale))
        whole = inner.Add(whole, moved)
        if bias is not None:
            whole = inner.Add(whole, np.asarray(bias, np.float32))
        inward, outward, forget, fresh = (
            inner.Slice(whole, starts=[at * hidden], ends=[(at + 1) * hidden], axes=[1])
            for at in range(4)
        )
        kept = inner.Mul(inner.Sigmoid(forget), cell)
        cell = inner.Add(kept, inner.Mul(inner.Sigmoid(inward), inner.Tanh(fresh)))
        state = inner.Mul(inner.Sigmoid(outward), inner.Tanh(cell))
        cells = () if gates.dim(0) is not None else (inner.Identity(cell),)
        return state, cell, inner.Identity(state), *cells

    batch = (gates.shape or (None, None))[1]
    kind = TensorProto.FLOAT
    return build.body(
        [
            ("state", kind, (batch, hidden)),
            ("cell", kind, (batch, hidden)),
            ("gates", kind, (batch, 4 * hidden)),
        ],
        step,
    )


def _together(build: Builder, parts: Sequence[Value], axis: int) -> Value:
    return parts[0] if len(parts) == 1 else build.Concat(*parts, axis=axis)
