"""TFLite: padding, pooling and resizing."""

from __future__ import annotations

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.operands import is_never_negative, only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.views import NodeView

_MODE = "coordinate_transformation_mode"
_CENTRES_SAID = 16  # the opset from which on RoiAlign says whether pixels have centres
_IMAGE = 4  # the rank


@rule(
    ("AveragePool", "Conv", "MaxPool"),
    feature="attr:{op}.auto_pad",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, pad-before-*; other modes and numbers are equal. onnxsim"
    " writes pads next to auto_pad, of which ops/Conv.py and ops/MaxPool.py read the latter alone",
)
def pads_of_a_pad_left_out(node: NodeView, target: Target) -> Answer:
    """onnx2tf drops a Pad before {op} with auto_pad."""
    return _is_after_zeros(node) if node.attr("auto_pad", "NOTSET") != "NOTSET" else None


@rule(
    "MaxPool",
    feature="form:MaxPool.padded-with-zeros",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, pad-of-numbers-before-conv; onnxsim makes pads of the"
    " pool of them, which are smaller than any number",
)
def zeros_beside_negative_numbers(node: NodeView, target: Target) -> Answer:
    """onnx2tf folds a Pad of zeros into MaxPool, which changes maxima below 0."""
    pad = _pad_before(node)
    return None if pad is None or is_never_negative(pad.input(0)) else _is_after_zeros(node)


def _is_after_zeros(node: NodeView) -> bool | Unknown:
    """Say whether a Pad puts zeros before and after, which onnxsim knows or computes."""
    pad = _pad_before(node)
    if pad is None or pad.attr("mode", "constant") != "constant" or known_with_sizes(node.need(0)):
        return False
    sizes, number = pad.input(1), pad.input(2)
    pads = pad.attr("pads", None) if sizes is None else sizes.array()
    filled = pad.attr("value", 0.0) if number is None else number.array()
    for value, array in ((sizes, pads), (number, filled)):
        if value is not None and array is None:
            return Unknown(f"values of {value.name}") if known_with_sizes(value) else False
    if np.any(np.asarray(filled)):
        return False
    return bool(np.all(np.asarray(pads) >= 0) and np.any(np.asarray(pads)))


def _pad_before(node: NodeView) -> NodeView | None:
    """Return the Pad whose result a node alone reads; None for another one."""
    x = node.input(0)
    pad = None if x is None else x.producer
    alone = only_reader(x) is not None
    return pad if alone and pad is not None and pad.op == "Pad" else None


@rule(
    "Conv",
    feature="attr:Conv.dilations",
    severity=REJECT,
    text="`strides > 1` not supported in conjunction with `dilation_rate > 1`",
    source=f"{MEASURED}: facts/asked.json, conv-strided-dilated; of images whose channels are"
    " groups of their own it is equal",
)
def dilated_in_strides(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support Conv with both strides and dilations."""
    strides, dilations = node.attr("strides", [1]), node.attr("dilations", [1])
    weights = node.input(1)
    if max(strides) == 1 or max(dilations) == 1 or weights is None:
        return False
    alone = int(node.attr("group", 1)) > 1 and weights.dim(1) == 1
    return not (alone and weights.rank == _IMAGE and len({*strides}) == 1)


@rule(
    "RoiAlign",
    feature="op:RoiAlign",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, roi-align*; averages of output_half_pixel are equal",
)
def other_samples(node: NodeView, target: Target) -> Answer:
    """onnx2tf supports RoiAlign with a given sampling_ratio and output_half_pixel only."""
    old = node.opset < _CENTRES_SAID
    way = node.attr(_MODE, "output_half_pixel" if old else "half_pixel")
    averaged = node.attr("mode", "avg") == "avg"
    return not averaged or way == "half_pixel" or not node.attr("sampling_ratio", 0)
