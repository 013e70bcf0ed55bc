"""TFLite: what becomes an image after nodes of which none is an operator of images.

onnx2tf puts the channels of inputs last, as it does those of images, but does not note that it
has: Unsqueeze counts its axes as if they were first, and QLinearConv takes what it reads for last.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice

import numpy as np

from graphfix.analysis.memo import kept_stepwise, operands, walk
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.engines.tflite.rules.layouts import PICTURES, is_laid_out_as_image
from graphfix.engines.tflite.rules.quantized import is_turned
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE, REDUCTIONS

_SOURCE = f"{MEASURED}: facts/asked.json, unsqueeze-before-* and qlinear-conv*"
_LINE, _PLANE = 3, 4  # the ranks
_SPACE = 2  # the first axis after the channels
_MOST = 200  # nodes that are looked at
# What leaves a tensor as its input lies, and is not noted either.
_LEAVING = frozenset({
    "Clip", "Concat", "DequantizeLinear", "Dropout", "LogSoftmax", "Pad", "QuantizeLinear", "Slice",
    "Softmax",
})  # fmt: skip
_HANDING = (ELEMENTWISE | _LEAVING) - PICTURES


@rule(
    "Unsqueeze",
    feature="form:Unsqueeze.before-image",
    severity=WRONG,
    text="Depth of input (1) is not a multiple of input depth of filter",
    source=f"{_SOURCE}: axes that count from the end, and Reshape in its place, are right",
)
def image_of_a_line(node: NodeView, target: Target) -> Answer:
    """onnx2tf inserts the axis of this Unsqueeze as if the channels were not moved last."""
    x, given = node.input(0), node.input(1)
    axes = node.attr("axes", None) if given is None else given.array()
    if x is None or x.rank not in (_LINE, _PLANE) or axes is None or len(axes) != 1:
        return False
    axis, rank = int(axes[0]), x.rank + 1
    turned = _is_laid_out_as_input(x)
    if turned and -rank + _SPACE <= axis < 0:
        return False
    if not turned and (is_laid_out_as_image(x) or axis != -_SPACE):
        return False
    readers = list(_pictures_after(node.output(0)))
    found = [said for said in (_said(reader, x, axis % rank) for reader in readers) if said]
    if not found:
        return False
    return Yes(severity=REJECT if REJECT in found or not turned else WRONG)


@rule(
    "QLinearConv",
    feature="op:QLinearConv",
    severity=REJECT,
    text="Depth of input is not a multiple of input depth of filter; axes don't match array",
    source=_SOURCE,
)
def convolution_of_bytes(node: NodeView, target: Target) -> Answer:
    """onnx2tf requires QLinearConv to read channels-last data and to have kernel_shape."""
    x = node.input(0)
    if x is None or (x.rank is not None and x.rank < _LINE):
        return False
    after_another = x.producer is not None and x.producer.op == node.op
    if not node.has("kernel_shape") or not (after_another or is_laid_out_as_image(x)):
        return True
    turned = any(is_turned(value) for value in node.inputs if value is not None)
    return turned and Yes(
        message="onnx2tf reorders the elements of a constant vector in QLinearConv", severity=WRONG
    )


@kept_stepwise(in_a_loop=False)
def _is_laid_out_as_input(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a tensor has the layout of a graph input, its channels put last by onnx2tf."""
    maker = value.producer
    if maker is None:
        return not value.is_constant and (value.rank or 0) >= _LINE
    given = operands(maker)
    computed = [v for v in given if not v.is_constant]
    same = maker.op == "Reshape" and maker.need(0).shape == value.shape
    keeps = maker.op in _LEAVING or (maker.op in REDUCTIONS and maker.attr("keepdims", 1))
    alone = maker.op in ELEMENTWISE and len(computed) == 1 and all(map(_is_number, given))
    if same or keeps or alone:
        for operand in computed if maker.op == "Concat" else computed[:1]:
            if (yield operand):
                return True
    return False


def _is_number(value: Value) -> bool:
    """Say whether a tensor is computed, or a constant of one element."""
    return not value.is_constant or int(np.prod(value.static_shape or ())) == 1


def _pictures_after(value: Value | None) -> Iterator[NodeView]:
    """Yield the operators of images that read a tensor, through pointwise operators too."""

    def handed_on(one: Value) -> Iterator[Value]:
        for reader in one.consumers:
            result = reader.output(0)
            if reader.op in _HANDING and result is not None:
                yield result

    for one in islice(walk([] if value is None else [value], handed_on), _MOST):
        yield from (reader for reader in one.consumers if reader.op in PICTURES)


def _said(reader: NodeView, x: Value, axis: int) -> object:
    """Return the severity of reading an axis; None where it makes no difference."""
    shape = [size if isinstance(size, int) else None for size in x.shape or ()]
    last = [shape[0], *shape[2:], shape[1]]
    seen = [*last[:axis], 1, *last[axis:]]
    whole = [*shape[:axis], 1, *shape[axis:]]
    wanted = [whole[0], *whole[2:], whole[1]]
    if None not in shape and seen == wanted:
        return None
    if reader.op in ("GlobalAveragePool", "GlobalMaxPool") and seen[-1] == wanted[-1]:
        return None
    if reader.op == "InstanceNormalization" and seen[-1] != wanted[-1]:
        return None
    if reader.op == "Conv" and seen[-1] != wanted[-1]:
        return REJECT
    larger = reader.op != "ConvTranspose" and any(
        size is not None and width > size + padding
        for size, (width, padding) in zip(seen[1:-1], _window(reader), strict=False)
    )
    return REJECT if larger else WRONG


def _window(reader: NodeView) -> list[tuple[int, int]]:
    """Return the width of a window along each axis, and how far is padded there."""
    weights = reader.input(1) if reader.op == "Conv" else None
    stored = None if weights is None else weights.static_shape
    widths = reader.attr("kernel_shape", (stored or ())[_SPACE:])
    pads = [int(size) for size in reader.attr("pads", [0] * 2 * len(widths))]
    half = len(pads) // 2
    return list(zip(widths, map(sum, zip(pads[:half], pads[half:], strict=True)), strict=True))
