"""MNN: normalizations whose parameters are computed."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.engines.rule_makers import joins_no_axes
from graphfix.ir.views import NodeView

JOINED_AXES = joins_no_axes(
    ops="LogSoftmax",
    opsets=range(1, 13),
    versions="mnn",
    source=f"{WHEEL}: Softmax of these opsets is equal, and so is the last axis",
)

_PARAMETERS = ("scale", "B", "mean", "var")


@rule(
    "BatchNormalization",
    feature="const:BatchNormalization.*",
    severity=REJECT,
    text="SIGSEGV",
    source=f"{WHEEL}: each of the four alone, and all of them; what follows from constants and from"
    " fixed sizes is taken",
)
def computed_parameters(node: NodeView, target: Target) -> Answer:
    """MNN crashes when a parameter of BatchNormalization is not constant."""
    for place, name in enumerate(_PARAMETERS, 1):
        value = node.input(place)
        if value is not None and not known_with_sizes(value):
            return Yes(
                feature=f"const:BatchNormalization.{name}",
                message=f"MNN crashes: {name} of BatchNormalization is not constant",
            )
    return None
