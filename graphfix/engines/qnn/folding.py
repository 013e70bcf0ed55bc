"""What QNN's provider computes when it reads a model of fixed sizes: onnxruntime folds it before.

Measured: ``facts/asked.json``, the subjects ``constants`` and ``compared-constants``.
"""

from __future__ import annotations

from graphfix.authoring.views import NodeView, Value

_MOST = 400  # values that are looked at
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
    """Say whether a tensor follows from constants and from sizes alone, and is computed early."""
    return _Walk().folded(value)


def is_unordered(node: NodeView) -> bool:
    """Say whether a comparison is not computed early, whatever it compares."""
    return node.op in _ORDERED and node.opset < _ORDERED_SINCE


class _Walk:
    """One walk back from a value, each value of which is looked at once."""

    def __init__(self) -> None:
        self._folded: dict[Value, bool] = {}
        self._sized: dict[Value, bool] = {}

    def folded(self, value: Value) -> bool:
        """Say whether the numbers of a tensor are known early."""
        if value not in self._folded:
            self._folded[value] = len(self._folded) <= _MOST and self._computes(value)
        return self._folded[value]

    def _computes(self, value: Value) -> bool:
        maker = value.producer
        if value.is_constant:
            return True
        if maker is None or maker.domain or maker.op in _NEVER or is_unordered(maker):
            return False
        given = [operand for operand in maker.inputs if operand is not None]
        if maker.op in _SIZES:
            return self._has_sizes(given[0])
        return bool(given) and all(self.folded(operand) for operand in given)

    def _has_sizes(self, value: Value) -> bool:
        """Say whether the sizes of a tensor are known early."""
        if value not in self._sized:
            known = value.static_shape is not None or value.is_constant
            self._sized[value] = known or (len(self._sized) <= _MOST and self._follows(value))
        return self._sized[value]

    def _follows(self, value: Value) -> bool:
        maker = value.producer
        if maker is None or maker.domain:
            return False
        given = [operand for operand in maker.inputs if operand is not None]
        if maker.op in _BY_SIZES:
            return all(self._has_sizes(operand) for operand in given)
        if maker.op in _BY_NUMBERS:
            return self._has_sizes(given[0]) and all(self.folded(one) for one in given[1:])
        return self.folded(value)
