"""MNN: normalizations whose parameters are computed."""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.mnn.rules.wheel import WHEEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule

_PARAMETERS = ("scale", "B", "mean", "var")


@rule(
    "BatchNormalization",
    feature="const:BatchNormalization.*",
    versions="mnn",
    severity=REJECT,
    text="SIGSEGV",
    source=f"{WHEEL}: each of the four alone, and all of them",
)
def computed_parameters(node: NodeView, target: Target) -> Answer:
    """A parameter of BatchNormalization is computed, which ends the process."""
    for place, name in enumerate(_PARAMETERS, 1):
        value = node.input(place)
        if value is not None and not value.is_constant:
            return Yes(
                feature=f"const:BatchNormalization.{name}",
                message=f"the {name} of BatchNormalization is computed, which ends the process",
            )
    return None
