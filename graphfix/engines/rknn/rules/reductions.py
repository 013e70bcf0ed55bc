"""RKNN: means that the toolkit takes for pools."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_IMAGE = 4  # the rank
_OVER = [2, 3]


@rule(
    "ReduceMean",
    feature="attr:ReduceMean.axes",
    severity=WRONG,
    text="Invalid rank for input: {input} Got: 4 Expected: 2",
    source=f"{TOOLKIT}: facts/graphs.json; of other ranks, over other axes, with keepdims, and with"
    " the same axes in the other order it is right, as are other reductions",
)
def mean_of_an_image(node: NodeView, target: Target) -> Answer:
    """RKNN ignores keepdims=0 of ReduceMean over the last two of four axes."""
    x, result, given = node.input(0), node.output(0), node.input(1)
    if x is None or result is None or node.attr("keepdims", 1) or known_with_sizes(x):
        return False
    axes = node.attr("axes") if given is None else given.array()
    if axes is None:
        return False if given is None else Unknown(f"values of {given.name}")
    if len(axes) != len(_OVER):
        return False
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    over = x.rank == _IMAGE and [int(axis) % _IMAGE for axis in axes] == _OVER
    return over and Yes(severity=REJECT if result.consumers else WRONG)
