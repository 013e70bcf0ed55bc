"""OpenVINO: sums, means and normalizations of quantized tensors.

A scale is moved past what keeps its input's steps, and past what then reads bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_RANK, _MOST = 3, 100  # tensors that are looked at
_BYTES = frozenset({"int8", "uint8"})
_FLOATS = frozenset({"bfloat16", "float16", "float32", "float64"})
_BY_A_CONSTANT = frozenset({"Add", "Div", "Mul", "Sub"})
# Measured each, by the element type of what the reduction reads in the compiled model.
_MOVED_PAST = frozenset(
    [
        "AveragePool",
        "Cast",
        "Clip",
        "DepthToSpace",
        "Dropout",
        "Expand",
        "Flatten",
        "Gather",
        "GlobalAveragePool",
        "Identity",
        "LeakyRelu",
        "MaxPool",
        "Neg",
        "PRelu",
        "Pad",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceSum",
        "Relu",
        "Reshape",
        "Resize",
        "Slice",
        "SpaceToDepth",
        "Split",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    ]
)


@rule(
    ("ReduceMean", "ReduceSum"),
    feature="form:{op}.quantized-middle-axis",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, int8 and uint8: 0 in every batch after the first, or what the "
    "memory held; right in 2023.0 and 2024.0, of other ranks and axes, and for ReduceMax",
)
def quantized_middle_axis(node: NodeView, target: Target) -> Answer:
    """OpenVINO sums up the middle axis of quantized tensors in the first batch alone."""
    x = node.need(0)
    if x.rank not in (None, _RANK) or x.dim(0) == 1 or not _dequantizers(x):
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    given = node.input(1)
    known = None if given is None else given.array()
    if given is not None and known is None:
        return Unknown(f"values of {given.name}")
    axes = {int(a) % _RANK for a in (node.attr("axes") or () if known is None else known.ravel())}
    return 1 in axes and 0 not in axes


# Half of epsilon, as a share of the variance, is what a normalization is off by: with steps of this
# many roots of epsilon a thousandth at a deviation of 2.2 steps.
_STEPS = 10.0


@rule(
    ("GroupNormalization", "InstanceNormalization", "LayerNormalization"),
    feature="form:{op}.quantized-steps",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, int8 of zero point 0 with steps of a fifth of the root of "
    "epsilon: up to 11% off; right with another zero point",
)
def steps_of_an_epsilon(node: NodeView, target: Target) -> Answer:
    """OpenVINO scales what {op} of a quantized tensor divides by, and not its epsilon."""
    return _has_small_steps(node.need(0), float(node.attr("epsilon", 1e-5)))


@rule(
    "ReduceMean",
    feature="form:{op}.quantized-steps",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, as of the operators; right where the difference is of another "
    "tensor than the mean",
)
def written_out_steps_of_an_epsilon(node: NodeView, target: Target) -> Answer:
    """OpenVINO takes this for a normalization, and scales what it divides by, not its epsilon."""
    x, mean = node.need(0), node.output(0)
    for difference in () if mean is None else mean.consumers:
        if difference.op == "Sub" and difference.need(0) == x:
            epsilon = _epsilon_after(difference)
            if epsilon is not None:
                return _has_small_steps(x, epsilon)
    return None


def _epsilon_after(difference: NodeView) -> float | None:
    """Return what is added to the mean of squares of a difference, whose root is taken."""
    squares = _readers_of([difference], "Mul", "Pow")
    sums = _readers_of(_readers_of(squares, "ReduceMean"), "Add")
    for one in sums if _readers_of(sums, "Sqrt") else ():
        for operand in one.inputs:
            known = None if operand is None else operand.array()
            if known is not None and known.size == 1:
                return float(known.reshape(()))
    return None


def _readers_of(nodes: Sequence[NodeView], *ops: str) -> list[NodeView]:
    results = [result for one in nodes for result in one.outputs if result is not None]
    return [reader for result in results for reader in result.consumers if reader.op in ops]


def _has_small_steps(x: Value, epsilon: float) -> Answer:
    least = _STEPS * epsilon**0.5
    for maker in _dequantizers(x):
        zero, scale = maker.input(2), maker.need(1).array()
        known = None if zero is None else zero.array()
        if scale is None or (zero is not None and known is None):
            return Unknown(f"scale and zero point of {maker.need(0).name}")
        shifted = known is not None and np.asarray(known).astype(np.int64).any()
        if not shifted and float(np.abs(np.asarray(scale, np.float64)).min(initial=least)) < least:
            return True
    return None


def _dequantizers(value: Value) -> list[NodeView]:
    """Return whose scales of 8 bits are moved to here: what quantizes is a node of the graph."""
    pending, seen = [value], {value}
    found: list[NodeView] = []
    while pending:
        maker = pending.pop().producer
        if maker is None or len(seen) > _MOST:
            continue
        if maker.op == "DequantizeLinear":
            quantized = maker.need(0)
            if quantized.producer is not None and quantized.type_name in _BYTES:
                found.append(maker)
            continue
        for operand in _followed(maker):
            if operand not in seen:
                seen.add(operand)
                pending.append(operand)
    return found


def _followed(node: NodeView) -> list[Value]:
    """Return the operands whose scales are moved past a node."""
    given = [operand for operand in node.inputs if operand is not None]
    if node.op == "Concat":
        return given
    if node.op in _BY_A_CONSTANT:
        free = [operand for operand in given if operand.array() is None]
        return free if len(free) == 1 else []
    if node.op not in _MOVED_PAST or (node.op == "Cast" and given[0].type_name not in _FLOATS):
        return []
    return given[:1]
