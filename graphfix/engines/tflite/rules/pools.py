"""TFLite: pools of volumes and of powers."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.ir.views import NodeView, Value

_LINES, _IMAGE, _VOLUME = 3, 4, 5
_PADS = 2 * _VOLUME
_ASKED = f"{MEASURED}: facts/asked.json"


@rule(
    "AveragePool",
    feature="rank:AveragePool.5",
    severity=REJECT,
    text="Index out of range using input dim 5; input has only 5 dims",
    source=f"{_ASKED}, average-pool-volume; ops/AveragePool.py: average_multiplier",
)
def averages_of_volumes(node: NodeView, target: Target) -> Answer:
    """onnx2tf does not support this padding of a 3D AveragePool."""
    x = node.input(0)
    kernel = [int(size) for size in node.attr("kernel_shape")]
    if x is None or len(kernel) != _VOLUME - 2:
        return None
    pads = [int(pad) for pad in node.attr("pads", [0] * 2 * len(kernel))]
    automatic = str(node.attr("auto_pad", "NOTSET"))
    counted = bool(node.attr("count_include_pad", 0))
    # The window of each axis is taken to hold as many elements as that of the next.
    before = _pad_in_front(x) if counted and automatic == "NOTSET" else None
    if before is not None:
        pads = [one + two for one, two in zip(pads, _spatial(before), strict=True)]
        x = before.need(0)
    uneven = len({*kernel}) > 1 or (automatic == "NOTSET" and any(pads))
    if not uneven:
        return None
    if automatic != "NOTSET":
        return counted
    if not any(pads):
        return not counted
    sizes = x.shape
    if sizes is None or not all(isinstance(size, int) for size in sizes[2:]):
        return Unknown(f"sizes of {x.name}")
    strides = [int(step) for step in node.attr("strides", [1] * len(kernel))]
    given = [int(size) for size in sizes[2:] if isinstance(size, int)]
    return (pads == _same_pads(given, kernel, strides)) == counted


def _pad_in_front(x: Value) -> NodeView | None:
    """Return the Pad of zeros that onnxsim makes one with a pool that counts its padding."""
    maker = x.producer
    if maker is None or maker.op != "Pad" or maker.attr("mode", "constant") != "constant":
        return None
    if len(x.consumers) != 1 or x.is_graph_output or maker.input(3) is not None:
        return None
    value, pads = maker.input(2), maker.attr("pads", None)
    filled = maker.attr("value", 0.0) if value is None else value.array()
    if maker.input(1) is not None:
        pads = maker.need(1).array()
    if filled is None or pads is None or np.any(np.asarray(filled) != 0) or len(pads) != _PADS:
        return None
    outside = [int(pads[place]) for place in (0, 1, _VOLUME, _VOLUME + 1)]
    return None if any(outside) or min(int(pad) for pad in pads) < 0 else maker


def _spatial(pad: NodeView) -> list[int]:
    """Return the pads of the spatial axes, those of all beginnings first."""
    given = pad.attr("pads", ()) if pad.input(1) is None else pad.need(1).array()
    pads = [] if given is None else [int(number) for number in given]
    return pads[2:_VOLUME] + pads[_VOLUME + 2 :]


def _same_pads(sizes: list[int], kernel: list[int], strides: list[int]) -> list[int]:
    """Return the pads of TensorFlow's SAME, those of all beginnings first."""
    totals = [
        max((-(-size // step) - 1) * step + width - size, 0)
        for size, width, step in zip(sizes, kernel, strides, strict=True)
    ]
    return [total // 2 for total in totals] + [total - total // 2 for total in totals]


@rule(
    "LpPool",
    feature="op:LpPool",
    severity=WRONG,
    source=f"{_ASKED}, lp-pool and pool-auto: images with pads that are given are equal",
)
def padded_powers(node: NodeView, target: Target) -> Answer:
    """onnx2tf computes LpPool with auto_pad, or a padded 1D LpPool, wrongly."""
    if str(node.attr("auto_pad", "NOTSET")).startswith("SAME"):
        return True
    lines = len(node.attr("kernel_shape")) == _LINES - 2
    return lines and any(node.attr("pads", (0,)))


@rule(
    "GlobalLpPool",
    feature="form:GlobalLpPool.equal-sizes",
    severity=WRONG,
    source=f"{_ASKED}, global-pool",
)
def global_powers_of_equal_sizes(node: NodeView, target: Target) -> Answer:
    """onnx2tf reduces the wrong axes of GlobalLpPool if sizes after the first are equal."""
    x = node.input(0)
    sizes = None if x is None else x.shape
    return sizes is not None and len(sizes) == _IMAGE and len({*sizes[1:]}) == 1
