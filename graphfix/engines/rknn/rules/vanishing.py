"""RKNN: outputs that the toolkit takes for constants, as nothing of the inputs is left in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import kept, origin_through
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

# Of Convs in a row those that leave 2e-23 were taken, and those of 6e-26 were not; where an image
# is small, padding makes less of it than is reckoned here. It is 0 in float16 in any case.
_LEAST = 1e-16
_HALF = math.sqrt(0.5)
# What an operator leaves of the size of numbers that are as often positive as negative.
_KEEPING = {
    **dict.fromkeys(("AveragePool", "Concat", "GlobalAveragePool", "Identity", "MaxPool"), 1.0),
    **dict.fromkeys(("Pad", "Reshape", "Resize", "Transpose", "Upsample"), 1.0),
    **dict.fromkeys(("Clip", "Relu"), _HALF),
}


@model_rule(
    feature="io:vanishing-output",
    severity=REJECT,
    text="All outputs {names} of model are constants, The model is invalid!",
    source=f"{TOOLKIT}: Convs of small weights in a row, and weights that are 0 in float16; what is"
    " computed of such numbers and of constants is taken for constant, too",
)
def vanishing_output(model: Model, target: Target) -> list[Answer]:
    """RKNN takes an output for constant if it vanishes in float16 for inputs around 1."""
    graph = model.graph
    known = _Sizes().walk(graph)
    outputs = [(tensor, known.get(id(tensor))) for tensor in graph.outputs]
    return [
        Yes(
            message=f"{target.title} takes output {tensor.name} for constant: about {size:.0e}"
            f" for inputs around 1"
        )
        for tensor, size in outputs
        if size is not None and size < _LEAST
    ]


@dataclass
class _Sizes:
    """How large the values of tensors are, where inputs of the graph are around 1.

    Only tensors after Convs are listed: of others nothing is claimed.
    """

    of: dict[int, float] = field(default_factory=dict[int, float])

    def walk(self, graph: Graph) -> Mapping[int, float]:
        """Return the sizes of tensors by their identity."""
        for view in map(NodeView, graph.nodes):
            size = self._given_by(view)
            if size is not None:
                self.of |= {id(tensor): size for tensor in view.node.outputs}
        return self.of

    def _given_by(self, view: NodeView) -> float | None:
        operands = [v for v in view.inputs if v is not None and not known_with_sizes(v)]
        if view.domain or not operands or any(True for _ in view.node.graphs()):
            return None
        sizes = [self.of.get(id(operand.tensor)) for operand in operands]
        if all(size is not None and size < _LEAST for size in sizes):
            return max(size for size in sizes if size is not None)
        if view.op in ("Conv", "Mul") and len(operands) == 1:
            return self._weighted(view, sizes[0])
        if any(size is None for size in sizes):
            return None
        if view.op == "Add" and len(operands) == len(view.inputs):
            return math.hypot(*(size for size in sizes if size is not None))
        if view.op not in _KEEPING:
            return None
        return max(size for size in sizes if size is not None) * _KEEPING[view.op]

    def _weighted(self, view: NodeView, size: float | None) -> float | None:
        if view.op == "Mul":  # however many in a row are taken, where their factors are not 0
            factor = next((v for v in view.inputs if v is not None and v.is_constant), None)
            return 0.0 if _rms(factor) == 0 else None
        gain = _rms(view.input(1), summed=True)
        added = _rms(view.input(2)) if view.input(2) is not None else 0.0
        if gain is None or added is None:
            return None
        return math.hypot((1.0 if size is None else size) * gain, added)


def _rms(value: Value | None, *, summed: bool = False) -> float | None:
    """Return the root of the mean of squares, or of their sums for a channel; in float16.

    None where they are not known, or are no floats.
    """
    # Exporters share constants by an Identity.
    found = None if value is None else _squares(_after_copies(value))
    if found is None:
        return None
    mean, count, rows = found
    return math.sqrt(mean * (count / rows if summed else 1.0))


_after_copies = origin_through(lambda maker: maker.op == "Identity")


@kept
def _squares(value: Value) -> tuple[float, int, int] | None:
    """Return the mean of the squares of a constant in float16, how many it has, and its rows."""
    array = value.array()
    if array is None or array.dtype.kind != "f" or not array.size:
        return None
    with np.errstate(over="ignore"):
        squares = np.square(array.astype(np.float16).astype(np.float64))
    return float(squares.mean()), squares.size, len(squares) if squares.ndim else 1
