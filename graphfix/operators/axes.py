"""Which axes of its inputs an operator mixes: one row each, read in the text of the operators.

Along an axis that is not mixed, every element of a result comes of those at its own place of that
axis, in the same way at every place: what the operator does there does not depend on how long the
axis is. An operator without a row mixes all axes.

References: https://onnx.ai/onnx/operators/, and docs/ContribOperators.md of onnxruntime.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from graphfix.operators.table import ELEMENTWISE

CONTRIB = "com.microsoft"


class Mixing(Enum):
    """How the axes of the results come of those of the inputs."""

    NONE = "inputs are broadcast to each other, and no axis is mixed"
    ALONG = "the axis that an attribute names is mixed, and stays in its place"
    FROM = "the axis that an attribute names and all after it are mixed, and stay"
    BATCH = "all but the first axis are mixed, and stay in their places"
    PLANES = "all but the first two axes are mixed, and stay; parameters go along the second"
    CHANNELS = "no axis is mixed; parameters go along the second one"
    SCALES = "no axis is mixed; parameters go along the one that an attribute names, or along none"
    POOLED = "all but the first two axes are mixed, and become 1"
    REDUCED = "the named axes are mixed, and become 1 or go"
    CHOSEN = "the axis that an attribute names is mixed, and becomes 1 or goes"
    JOINED = "the axis that an attribute names is mixed; along the others the inputs are alike"
    DIVIDED = "the axis that an attribute names is mixed, in each of the outputs"
    PICKED = "the axis that an attribute names is mixed, and the axes of the indices replace it"
    PERMUTED = "axes change their places"
    REMOVED = "axes of size 1 go"
    INSERTED = "axes of size 1 come"
    ENDS = "the axes that constant pads or limits change are mixed"
    SCALED = "axes whose constant scale is not 1 are longer or shorter by it"
    WINDOWS = "windows slide along all axes but the first two, each for itself"
    FILTERS = "windows slide, and the second axis is summed up over its part of each filter"
    MATRICES = "the last axis of the first and the last but one of the second are summed up"
    ONE_MATRIX = "as MATRICES of two axes each, which may be turned; a third input is broadcast"


class Axes(Struct, frozen=True):
    """One row of the table.

    Attributes:
        domain: Of the operator; empty for that of ONNX.
        name: The operator.
        mixing: How the axes of the results come of those of the inputs.
        axis: The axis that is meant where the attribute `axis` is not there.
        since: The opset from which on it holds; before, all axes are mixed.
        data: The place of the first input that has axes to speak of.
        other: The place of the second one; None where there is none. For FILTERS that of the
            filters.
        along: The places of vectors along the second axis of the first result (PLANES, CHANNELS,
            FILTERS), or along the axis (SCALES).
        each: Of JOINED: how many inputs each part takes.
    """

    domain: str
    name: str
    mixing: Mixing
    axis: int = 0
    since: int = 1
    data: int = 0
    other: int | None = None
    along: tuple[int, ...] = ()
    each: int = 1


def _of(mixing: Mixing, *names: str, domain: str = "", axis: int = 0) -> Iterable[Axes]:
    return (Axes(domain, name, mixing, axis) for name in names)


_ROWS = (
    # From opset 7 on operands are broadcast as numpy does it.
    *(Axes("", name, Mixing.NONE, since=7) for name in sorted(ELEMENTWISE)),
    *_of(Mixing.NONE, "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitShift", "BitwiseAnd"),
    *_of(Mixing.NONE, "BitwiseNot", "BitwiseOr", "BitwiseXor", "Celu", "Cos", "Cosh", "Elu"),
    *_of(Mixing.NONE, "Gelu", "HardSwish", "IsInf", "IsNaN", "Mish", "Selu", "Shrink", "Sin"),
    *_of(Mixing.NONE, "Sinh", "Softplus", "Swish", "Tan", "ThresholdedRelu"),
    Axes("", "PRelu", Mixing.NONE, since=7),
    *_of(Mixing.NONE, "BiasGelu", "FastGelu", "Gelu", "QuickGelu", domain=CONTRIB),
    *_of(Mixing.NONE, "QLinearAdd", "QLinearLeakyRelu", "QLinearMul", domain=CONTRIB),
    *_of(Mixing.NONE, "QLinearSigmoid", domain=CONTRIB),
    Axes("", "DequantizeLinear", Mixing.SCALES, axis=1, along=(1, 2)),
    Axes("", "QuantizeLinear", Mixing.SCALES, axis=1, along=(1, 2)),
    Axes(CONTRIB, "DequantizeLinear", Mixing.SCALES, axis=1, along=(1, 2)),
    Axes(CONTRIB, "QuantizeLinear", Mixing.SCALES, axis=1, along=(1, 2)),
    Axes("", "BatchNormalization", Mixing.CHANNELS, since=9, along=(1, 2, 3, 4)),
    Axes("", "InstanceNormalization", Mixing.PLANES, along=(1, 2)),
    Axes("", "GroupNormalization", Mixing.BATCH),
    Axes("", "LayerNormalization", Mixing.FROM, axis=-1),
    # Before opset 13 these flatten what is after the axis.
    Axes("", "Hardmax", Mixing.ALONG, axis=-1, since=13),
    Axes("", "LogSoftmax", Mixing.ALONG, axis=-1, since=13),
    Axes("", "Softmax", Mixing.ALONG, axis=-1, since=13),
    Axes("", "LRN", Mixing.ALONG, axis=1),
    Axes("", "LpNormalization", Mixing.ALONG, axis=-1),
    Axes("", "TopK", Mixing.ALONG, axis=-1),
    *_of(Mixing.REDUCED, "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"),
    *_of(Mixing.REDUCED, "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
    *_of(Mixing.CHOSEN, "ArgMax", "ArgMin"),
    Axes("", "Concat", Mixing.JOINED),
    Axes(CONTRIB, "QLinearConcat", Mixing.JOINED, data=2, each=3),
    Axes("", "Split", Mixing.DIVIDED),
    Axes("", "Gather", Mixing.PICKED, other=1),
    Axes("", "Transpose", Mixing.PERMUTED),
    Axes("", "Squeeze", Mixing.REMOVED),
    Axes("", "Unsqueeze", Mixing.INSERTED),
    Axes("", "Pad", Mixing.ENDS),
    Axes("", "Slice", Mixing.ENDS),
    Axes("", "Resize", Mixing.SCALED, since=11, other=2),
    Axes("", "Upsample", Mixing.SCALED, since=9, other=1),
    *_of(Mixing.BATCH, "DepthToSpace", "SpaceToDepth"),
    *_of(Mixing.POOLED, "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"),
    Axes(CONTRIB, "QLinearGlobalAveragePool", Mixing.POOLED),
    *_of(Mixing.WINDOWS, "AveragePool", "LpPool", "MaxPool"),
    Axes("", "Conv", Mixing.FILTERS, other=1, along=(2,)),
    Axes("", "ConvInteger", Mixing.FILTERS, other=1, along=(3,)),
    Axes("", "QLinearConv", Mixing.FILTERS, other=3, along=(4, 5, 8)),
    Axes("", "MatMul", Mixing.MATRICES, other=1),
    Axes("", "MatMulInteger", Mixing.MATRICES, other=1, along=(3,)),
    Axes("", "QLinearMatMul", Mixing.MATRICES, other=3, along=(4, 5)),
    Axes("", "Gemm", Mixing.ONE_MATRIX, since=7, other=1, along=(2,)),
)

AXES_OF = {(row.domain, row.name): row for row in _ROWS}
