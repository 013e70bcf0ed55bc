"""QNN: edges that Pad repeats."""

from __future__ import annotations

from graphfix.analysis.memo import origin_through
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import PROVIDER
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_IMAGE = 4  # axes of what onnxruntime lays out with channels last
_OF_IMAGES = frozenset({"AveragePool", "Conv", "ConvTranspose", "MaxPool"})
_LAST = -1

_before_numbers = origin_through(
    lambda maker: (
        maker.op in ELEMENTWISE and len(maker.inputs) == 1 and maker.need(0).rank == _IMAGE
    )
)


@rule(
    "Pad",
    feature="attr:Pad.mode=edge",
    severity=WRONG,
    source=f"{PROVIDER}: what is read lies outside of the tensor; of ranks 1 to 4, right where the"
    " last axis is not padded, and after an operator of images, which has its channels there",
)
def repeated_edge(node: NodeView, target: Target) -> Answer:
    """QNN reads memory outside of the tensor for Pad with mode edge along the last axis."""
    x = node.input(0)
    if node.attr("mode", "constant") != "edge" or x is None:
        return False
    origin = _before_numbers(x)
    maker = origin.producer
    if maker is not None and maker.op in _OF_IMAGES and x.rank == _IMAGE == origin.rank:
        return False
    return _pads_the_last_axis(node, x)


def _pads_the_last_axis(node: NodeView, x: Value) -> bool:
    """Say whether the last axis is padded; it may be where the pads or the rank are not known."""
    given, axes = node.input(1), node.input(3)
    pads = node.attr("pads", None) if given is None else given.array()
    if pads is None:
        return True
    count = len(pads) // 2
    if axes is None:
        return bool(pads[count - 1] or pads[_LAST])
    named, rank = axes.array(), x.rank
    if named is None or rank is None:
        return True
    return any(
        int(axis) % rank == rank - 1 and (pads[place] or pads[place + count])
        for place, axis in enumerate(named)
    )
