"""QNN: numbers that float16 lacks: beyond the largest, of inputs around 1, and near to 0."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.views import NodeView, Value
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import PROVIDER
from graphfix.engines.rule import WRONG, Answer, model_rule, rule
from graphfix.graph import Graph
from graphfix.model import Model

_LARGEST = 65504.0  # of float16
_SMALLEST = 2.0**-23  # twice the smallest of float16
_MOST = 1 << 24  # weights that are looked at
_WEIGHTED = frozenset({"Conv", "Gemm", "MatMul"})
# Operators of one tensor that leave mean and spread of its numbers about as they are.
_KEEPING = frozenset(
    {
        *("Dropout", "Flatten", "Identity", "MaxPool", "Reshape", "Resize", "Squeeze"),
        *("Transpose", "Unsqueeze", "Upsample"),
    }
)
_SQUARE_ROOT = math.sqrt(2)
_KEPT_FROM_ZERO = {"Add": (0, 1), "Clip": (1,), "Max": (0, 1)}  # where the least number may be


class _Size(NamedTuple):
    """Mean and standard deviation of the numbers of a tensor."""

    mean: float
    spread: float

    @property
    def root(self) -> float:
        """Return the root of the mean of squares."""
        return math.hypot(self.mean, self.spread)


@model_rule(
    feature="dtype:float16-overflow",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, overflows; mean and spread of what Conv, Gemm and MatMul"
    " by weights, Relu and sums in a row make of numbers around 0 that are spread by 1",
)
def grown_beyond_float16(model: Model, target: Target) -> list[Answer]:
    """Numbers grow beyond 65504, the largest of float16, where inputs are around 1."""
    for view, size in _Sizes().walk(model.graph):
        if size.root > _LARGEST:
            first = next(value.name for value in view.outputs if value is not None)
            return [
                Unknown(f"how large {first} becomes: about {size.root:.0e} for inputs around 1")
            ]
    return []


@rule(
    "Log",
    feature="form:Log.of-nearly-zero",
    versions="qnn",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, log-of-nearly-zero: 1e-8 and less is 0 in float16, of"
    " which the logarithm is far off; from 1e-6 on it is right",
)
def logarithm_of_nearly_zero(node: NodeView, target: Target) -> Answer:
    """What keeps the operand of Log from 0 is itself 0 in float16."""
    x = node.input(0)
    maker = None if x is None else x.producer
    if maker is None or maker.domain or maker.op not in _KEPT_FROM_ZERO:
        return None
    known = [maker.input(place) for place in _KEPT_FROM_ZERO[maker.op]]
    held = [array for value in known if (array := _array(value)) is not None and array.size == 1]
    if any(0 < float(array.item()) < _SMALLEST for array in held):
        return Unknown("how near to 0 its operand comes")
    return None


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
    array = _array(weights)
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
    array = _array(value)
    return None if array is None else _Size(float(array.mean()), float(array.std()))


def _array(value: Value | None) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
    """Return the numbers of a constant of floats that is not too large to be looked at."""
    if value is None or not value.is_constant or value.dtype is None or value.dtype.kind != "f":
        return None
    shape = value.static_shape
    if shape is None or not 0 < math.prod(shape) <= _MOST:
        return None
    array = value.array()
    return None if array is None else array.astype(np.float64)
