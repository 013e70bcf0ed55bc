"""MNN: pads that convolutions and pools leave to be computed, and those after what they count."""

from __future__ import annotations

from graphfix.authoring.automatic_pads import SAME, automatic_pads
from graphfix.authoring.declaring import Unknown
from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Yes, rule
from graphfix.engines.rule_makers import adds_a_window
from graphfix.ir.views import NodeView

_VOLUME = 5

WINDOW_PAST_THE_END = adds_a_window(
    versions="mnn",
    source=f"{WHEEL}, opsets 11, 18 and 22: [9,9] by windows of 2 and strides of 3, and [23,23] by"
    " windows and strides of 2 with pads of 1",
)


@rule(
    "ConvTranspose",
    feature="attr:ConvTranspose.output_shape",
    severity=WRONG,
    source=f"{WHEEL}: of volumes it is not read; of others the odd pad is put at the end",
)
def shape_of_the_output(node: NodeView, target: Target) -> Answer:
    """MNN pads ConvTranspose differently from what output_shape requires."""
    return _misplaced(node) if node.has("output_shape") else None


@rule(
    ("AveragePool", "Conv", "ConvTranspose", "LpPool", "MaxPool"),
    feature="attr:{op}.auto_pad",
    severity=WRONG,
    source=f"{WHEEL}: of volumes it is not read; with SAME_LOWER the odd pad is put at the end;"
    " averages that count pads do not count these",
)
def automatic_padding(node: NodeView, target: Target) -> Answer:
    """MNN pads {op} differently from what auto_pad requires."""
    if node.attr("auto_pad", "NOTSET") not in SAME or node.has("output_shape"):
        return None
    return _misplaced(node)


@rule(
    ("AveragePool", "LpPool"),
    feature="shape:AveragePool.pads",
    severity=WRONG,
    source=f"{WHEEL}: [0, 0, 0, 1]; [1, 0, 0, 0] and [1, 1, 1, 1] are equal",
)
def counted_behind(node: NodeView, target: Target) -> Answer:
    """MNN's {op} does not count pads that are larger at the end than at the beginning."""
    pads = [int(pad) for pad in node.attr("pads", ())]
    half = len(pads) // 2
    counts = node.op == "LpPool" or node.attr("count_include_pad", 0)
    after = any(end > begin for begin, end in zip(pads[:half], pads[half:], strict=True))
    if not (counts and after):
        return None
    return Yes(feature="attr:LpPool.pads") if node.op == "LpPool" else True


def _misplaced(node: NodeView) -> bool | Unknown | None:
    """Say whether automatic pads come to lie elsewhere, or do not count."""
    sums, x = automatic_pads(node), node.input(0)
    if sums is None or x is None:
        return None
    upper = node.attr("auto_pad", "NOTSET") == "SAME_UPPER"
    counted = node.op == "LpPool" or bool(node.attr("count_include_pad", 0))
    if upper and not counted and x.rank is not None and x.rank != _VOLUME:
        return None
    known = [total for total in sums if total is not None]
    if len(known) < len(sums) or x.rank is None:
        return Unknown(f"sizes of {x.name}")
    if x.rank == _VOLUME:
        return any(total > 0 for total in known)
    return any(total > 0 and total % 2 for total in known)
