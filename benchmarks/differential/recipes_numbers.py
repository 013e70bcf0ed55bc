"""Recipes for quantisation, signals, detection, losses and sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto, helper

from benchmarks.differential.recipes import axis_of, numbers, recipe
from benchmarks.differential.recipes_layers import image, whole
from benchmarks.differential.scope import F32, FLOATS, I8, I32, I64, U8, Dim, Input, Known, Scope


@recipe("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
def quantise(s: Scope, op: str) -> None:
    """Quantise and back, by tensor or by axis."""
    if op == "DynamicQuantizeLinear":
        s.emit(op, [s.pick((F32,)).name], 3)
        return
    elem = s.rng.choice([U8, I8])
    a = s.pick(s.types_of(op), range(1, 5)) if op == "QuantizeLinear" else s.pick((elem, I32))
    axis = axis_of(s, a)
    size = a.dims[axis]
    extra = {}
    shape: tuple[int, ...] = ()
    if s.opset >= 13 and isinstance(size, int) and size and s.rng.random() < 0.5:
        shape, extra = (size,), {"axis": axis}
    floats = a.elem if op == "QuantizeLinear" and a.elem in FLOATS else F32
    scale = s.param(np.abs(numbers(s, shape, F32)) + 0.05, [], floats)
    inputs = [a.name, scale]
    zero = elem if op == "QuantizeLinear" else a.elem
    if s.rng.random() < 0.7 and not (op == "DequantizeLinear" and a.elem == I32):
        inputs.append(s.const(numbers(s, shape, zero)))
    s.emit(op, inputs, **extra)


@recipe("QLinearMatMul", "QLinearConv")
def quantised_product(s: Scope, op: str) -> None:
    """Add a product of quantised numbers."""
    elem = s.rng.choice([U8, I8])
    one, two = s.const(0.07, F32), s.const(0.11, F32)
    three = s.const(s.rng.choice([0.3, 0.05]), F32)
    zeros = [s.const(numbers(s, (), elem)) for _ in range(3)]
    if op == "QLinearMatMul":
        a = s.pick((elem,), range(2, 4), lambda t: isinstance(t.dims[-1], int))
        b = s.const(numbers(s, (whole(a, -1), 3), elem))
    else:
        a = image(s, (elem,))
        b = s.const(numbers(s, (2, whole(a), 2, 2), elem))
    s.emit(op, [a.name, one, zeros[0], b, two, zeros[1], three, zeros[2]])


@recipe("DFT", "STFT")
def fourier(s: Scope, op: str) -> None:
    """Transform signals."""
    if op == "STFT":
        a = s.new_input(F32, 3, shape=("B", s.rng.choice([16, 21]), 1))
        window = s.const(np.hanning(8), F32)
        s.emit(op, [a.name, s.param(s.rng.choice([2, 3, 5])), window, s.const(8, I64)],
               onesided=s.rng.choice([None, 0, 1]))  # fmt: skip
        return
    inverse = s.rng.choice([None, 0, 1])
    last = 2 if inverse else s.rng.choice([1, 2])
    middle: list[Dim] = [4, 5, "L"]
    dims: tuple[Dim, ...] = ("B", s.rng.choice(middle), s.rng.choice([3, 7]), last)
    a = s.new_input(F32, 4, shape=dims)
    axis = s.rng.choice([1, 2])
    inputs = [a.name]
    if s.rng.random() < 0.4:
        inputs.append(s.param(s.rng.choice([2, 4, 9]), [1, 3]))
    one = s.rng.choice([None, 0, 1]) if not inverse and last == 1 else None
    if s.opset >= 20:
        inputs += [""] * (2 - len(inputs)) + [s.param(axis - 4 if s.rng.random() < 0.4 else axis)]
        s.emit(op, inputs, inverse=inverse, onesided=one)
    else:
        s.emit(op, inputs, inverse=inverse, onesided=one, axis=axis)


@recipe("Col2Im", "MaxUnpool")
def unfold(s: Scope, op: str) -> None:
    """Put windows back where they came from."""
    if op == "MaxUnpool":
        a = s.new_input(F32, 4, shape=("B", 2, 4, 6))
        made = s.emit("MaxPool", [a.name], 2, kernel_shape=[2, 2], strides=[2, 2])
        s.emit(op, [made[0].name, made[1].name], kernel_shape=[2, 2], strides=[2, 2])
        return
    a = s.new_input(F32, 3, shape=("B", 8, 12))
    s.emit(op, [a.name, s.param([4, 5]), s.const([2, 2], I64)])


@recipe("RoiAlign", "NonMaxSuppression")
def detection(s: Scope, op: str) -> None:
    """Cut boxes from images, or choose among boxes."""
    if op == "RoiAlign":
        a = image(s, (F32,))
        rois = s.new_input(F32, 2, shape=(3, 4))
        s.emit(op, [a.name, rois.name, s.const([0, 1, 0], I64)],
               mode=s.rng.choice([None, "max", "avg"]), output_height=2, output_width=3,
               sampling_ratio=s.rng.choice([None, 1, 2]), spatial_scale=s.rng.choice([None, 0.5]),
               coordinate_transformation_mode=None if s.opset < 16 else s.rng.choice(
                   [None, "output_half_pixel"]))  # fmt: skip
        return
    boxes = s.new_input(F32, 3, shape=("B", 6, 4))
    scores = s.new_input(F32, 3, shape=("B", 2, 6))
    inputs = [boxes.name, scores.name, s.param([2], [[0], [9]]), s.param([0.5], [[0], [1]], F32)]
    if s.rng.random() < 0.6:
        inputs.append(s.param([0.1], [[0.0], [2.0]], F32))
    s.emit(op, inputs, center_point_box=s.rng.choice([None, 1]))


@recipe("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(s: Scope, op: str) -> None:
    """Add a loss of scores by class, some classes ignored."""
    space = s.rng.choice([(), ("L",)])
    scores = s.new_input(F32, 2 + len(space), shape=("B", 3, *space))
    name = s.root.name("i")
    s.root.inputs.append(Input(name, I64, ("B", *space), low=0, high=2))
    inputs = [scores.name, name]
    if s.rng.random() < 0.5:
        inputs.append(s.const(np.abs(numbers(s, (3,), F32)) + 0.1, F32))
    outputs = s.rng.choice([1, 2]) if op == "SoftmaxCrossEntropyLoss" else 1
    s.emit(op, inputs, outputs, reduction=s.rng.choice([None, "none", "sum", "mean"]),
           ignore_index=s.rng.choice([None, 1]))  # fmt: skip


@recipe("SequenceAt", "ConcatFromSequence", "SequenceLength")
def sequence(s: Scope, op: str) -> None:
    """Make a sequence and read it."""
    s.schema(op)
    a = s.pick((F32, I64), range(1, 4))
    made = s.root.name("seq")
    known = s.tensors
    s.nodes.append(_node("SequenceConstruct", [a.name, a.name, a.name], made))
    out = s.root.name()
    if op == "SequenceAt":
        place = s.param(s.rng.choice([0, -1, 2]), [1, -3])
        s.nodes.append(_node(op, [made, place], out))
        known.append(Known(out, a.elem, a.dims))
    elif op == "SequenceLength":
        s.nodes.append(_node(op, [made], out))
        known.append(Known(out, I64, ()))
    else:
        new = s.rng.choice([0, 1])
        axis = s.rng.randrange(a.rank + new)
        s.nodes.append(_node(op, [made], out, axis=axis, new_axis=new))
        dims = (*a.dims[:axis], *([3] if new else [None]), *a.dims[axis + 1 - new :])
        known.append(Known(out, a.elem, dims))


def _node(op: str, inputs: list[str], output: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs, [output], name=f"n_{output}", **attributes)


@recipe("TensorScatter")
def cache(s: Scope, op: str) -> None:
    """Write new rows into a cache."""
    a = s.new_input(F32, 4, shape=("B", 2, 5, 3))
    update = s.new_input(F32, 4, shape=("B", 2, 2, 3))
    s.emit(op, [a.name, update.name], axis=-2, mode=s.rng.choice([None, "linear"]))
