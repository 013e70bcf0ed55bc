"""How large the values of a network become, where its inputs are around 0 and spread by 1."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Rule, model_rule
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value

_LARGEST = 65504.0  # of float16
_MOST = 1 << 24  # weights that are looked at
_WEIGHTED = frozenset({"Conv", "Gemm", "MatMul"})
# Operators of one tensor that leave mean and spread of its values about as they are.
_KEEPING = frozenset(
    {
        *("Dropout", "Flatten", "Identity", "MaxPool", "Reshape", "Resize", "Squeeze"),
        *("Transpose", "Unsqueeze", "Upsample"),
    }
)
_SQUARE_ROOT = math.sqrt(2)


class _Size(NamedTuple):
    """Mean and standard deviation of the values of a tensor."""

    mean: float
    spread: float

    @property
    def root(self) -> float:
        """Return the root of the mean of squares."""
        return math.hypot(self.mean, self.spread)


def grows_beyond_float16(*, versions: str, source: str) -> Rule:
    """Return the rule on values that overflow float16; its feature is ``dtype:float16-overflow``.

    Mean and spread are followed through Conv, Gemm and MatMul by weights, Relu, moves and sums.

    Args:
        versions: The range of targets, which compute in float16.
        source: Where it was measured.
    """

    def grown_beyond_float16(model: Model, target: Target) -> list[Answer]:
        """{engine} computes in float16, which overflows at 65504 for inputs around 1."""
        for view, size in _Sizes().walk(model.graph):
            if size.root > _LARGEST:
                first = next(value.name for value in view.outputs if value is not None)
                return [
                    Unknown(f"how large {first} becomes: about {size.root:.0e} for inputs around 1")
                ]
        return []

    return model_rule(
        feature="dtype:float16-overflow", versions=versions, severity=WRONG, source=source
    )(grown_beyond_float16)


@dataclass
class _Sizes:
    """Mean and spread of tensors, where inputs of the graph are around 0 and spread by 1."""

    of: dict[int, _Size] = field(default_factory=dict[int, _Size])

    def walk(self, graph: Graph) -> Iterator[tuple[NodeView, _Size]]:
        """Yield nodes with the size of what they give, as long as that is known."""
        for tensor in graph.inputs:
            value = Value(tensor)
            if value.dtype is not None and value.dtype.kind == "f":
                self.of[id(tensor)] = _Size(0.0, 1.0)
        for view in map(NodeView, graph.nodes):
            size = None if view.domain else self._given_by(view)
            if size is not None:
                self.of |= {id(tensor): size for tensor in view.node.outputs}
                yield view, size

    def _given_by(self, view: NodeView) -> _Size | None:
        operands = [v for v in view.inputs if v is not None]
        if not operands or any(True for _ in view.node.graphs()):
            return None
        first = self.of.get(id(operands[0].tensor))
        if view.op == "Add" and len(operands) == 2:
            return self._sum(operands[0], operands[1])
        if first is None:
            return None
        if view.op in _KEEPING:
            return first
        if view.op == "Relu":
            return _cut(first)
        return _weighted(view, first) if view.op in _WEIGHTED else None

    def _sum(self, one: Value, other: Value) -> _Size | None:
        sizes = [self.of.get(id(value.tensor)) or _held(value) for value in (one, other)]
        if sizes[0] is None or sizes[1] is None:
            return None
        return _Size(sizes[0].mean + sizes[1].mean, math.hypot(sizes[0].spread, sizes[1].spread))


def _cut(size: _Size) -> _Size:
    """Return what is left of numbers of a normal distribution above 0."""
    if size.spread == 0:
        return _Size(max(size.mean, 0.0), 0.0)
    place = size.mean / size.spread
    dense = math.exp(-place * place / 2) / math.sqrt(2 * math.pi)
    above = (1 + math.erf(place / _SQUARE_ROOT)) / 2
    mean = size.mean * above + size.spread * dense
    square = (size.mean**2 + size.spread**2) * above + size.mean * size.spread * dense
    return _Size(mean, math.sqrt(max(square - mean * mean, 0.0)))


def _weighted(view: NodeView, given: _Size) -> _Size | None:
    """Return what products by weights, added up, become; channels differ by their weights."""
    weights = view.input(1)
    array = numbers_of(weights)
    if array is None or array.ndim < 2:
        return None
    turned = view.op != "Conv" and not view.attr("transB", 0)
    sides = np.swapaxes(array, -1, -2) if turned else array
    rows = sides.reshape(-1, sides.shape[-1]) if turned else sides.reshape(len(sides), -1)
    means = rows.sum(axis=1) * given.mean
    squares = np.square(rows).sum(axis=1) * given.spread**2
    bias = _held(view.input(2)) if view.op != "MatMul" else None
    mean = float(means.mean()) + (bias.mean if bias is not None else 0.0)
    spread = math.sqrt(float(squares.mean()) + float(means.var()))
    return _Size(mean, math.hypot(spread, bias.spread if bias is not None else 0.0))


def _held(value: Value | None) -> _Size | None:
    """Return mean and spread of a constant."""
    array = numbers_of(value)
    return None if array is None else _Size(float(array.mean()), float(array.std()))


def numbers_of(value: Value | None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    """Return the values of a constant of floats that is not too large to be looked at."""
    if value is None or not value.is_constant or value.dtype is None or value.dtype.kind != "f":
        return None
    shape = value.static_shape
    if shape is None or not 0 < math.prod(shape) <= _MOST:
        return None
    array = value.array()
    return None if array is None else array.astype(np.float64)
