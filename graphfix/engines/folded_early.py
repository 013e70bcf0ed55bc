"""What QNN's provider computes when it reads a model of fixed sizes: onnxruntime folds it before.

Measured: ``facts/asked.json``, the subjects ``constants`` and ``compared-constants``.
"""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.memo import kept_stepwise
from graphfix.ir.views import NodeView, Value

_Wanted = tuple[Value, bool]  # whether its sizes alone are wanted
_SIZES = frozenset({"Shape", "Size"})
# onnxruntime's ConstantFolding leaves these out; of Compress and NonZero it was seen.
_NEVER = frozenset(
    {
        "Bernoulli",
        "Compress",
        "DequantizeLinear",
        "If",
        "Loop",
        "Multinomial",
        "NonZero",
        "QuantizeLinear",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "Scan",
        "SequenceMap",
    }
)
_ORDERED = frozenset({"GreaterOrEqual", "LessOrEqual"})
_ORDERED_SINCE = 16  # before it they are functions of ONNX, for which it has no kernel
# Operators whose first input and whose numbers in the others decide on the sizes.
_BY_NUMBERS = frozenset(
    {"Expand", "Pad", "Reshape", "Resize", "Slice", "Split", "Squeeze", "Tile", "TopK", "Unsqueeze"}
)
# Operators of which the sizes of all inputs decide on those of the output.
_BY_SIZES = frozenset(
    {
        "Add",
        "Cast",
        "Concat",
        "Div",
        "Flatten",
        "Gather",
        "Identity",
        "MatMul",
        "Mul",
        "Pow",
        "Relu",
        "Sigmoid",
        "Softmax",
        "Sqrt",
        "Sub",
        "Tanh",
        "Transpose",
        "Where",
    }
)


def is_folded(value: Value) -> bool:
    """Say whether a tensor follows from constants and from sizes alone, and is computed early.

    Args:
        value: The tensor; types and shapes of the model are inferred.
    """
    return _is_known((value, False))


@kept_stepwise(in_a_loop=True)
def _is_known(asked: _Wanted) -> Generator[_Wanted, bool, bool]:
    """Say whether a tensor, or its sizes alone, is known early."""
    value, sizes_alone = asked
    needed = _needed_for_sizes(value) if sizes_alone else _needed(value)
    if needed is None:
        return False
    for entry in needed:
        if not (yield entry):
            return False
    return True


def is_unordered(node: NodeView) -> bool:
    """Say whether a comparison is not computed early, whatever it compares."""
    return node.op in _ORDERED and node.opset < _ORDERED_SINCE


def _needed(value: Value) -> list[_Wanted] | None:
    """Return what the values of a tensor follow from; None where they are not known early."""
    maker = value.producer
    if value.is_constant:
        return []
    if maker is None or maker.domain or maker.op in _NEVER or is_unordered(maker):
        return None
    given = [operand for operand in maker.inputs if operand is not None]
    if maker.op in _SIZES:
        return [(given[0], True)]
    return [(operand, False) for operand in given] or None


def _needed_for_sizes(value: Value) -> list[_Wanted] | None:
    """Return what the sizes of a tensor follow from; None where they are not known early."""
    if value.static_shape is not None or value.is_constant:
        return []
    maker = value.producer
    if maker is None or maker.domain:
        return None
    given = [operand for operand in maker.inputs if operand is not None]
    if maker.op in _BY_SIZES:
        return [(operand, True) for operand in given]
    if maker.op in _BY_NUMBERS:
        return [(operand, index == 0) for index, operand in enumerate(given)]
    return _needed(value)
