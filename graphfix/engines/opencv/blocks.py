"""Which tensors OpenCV 5 holds in blocks of channels, as its convolutions write them.

It goes by ``facts/asked.json`` (instance-norm-behind-*): what refuses blocks was asked after each
operator.
"""

from __future__ import annotations

from graphfix.ir.views import Value

_DEEPEST = 9
_WRITES = frozenset({"Conv", "ConvTranspose"})
_KEEPS = frozenset({
    "Abs", "AveragePool", "BatchNormalization", "Ceil", "Celu", "Cos", "Elu", "Erf", "Exp", "Floor",
    "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "MaxPool", "Mish", "Neg", "PRelu", "Pad",
    "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Slice", "Softplus",
    "Softsign", "Sqrt", "Tanh", "ThresholdedRelu",
})  # fmt: skip
# With operands that are all in blocks.
_JOINS = frozenset({"Add", "Concat", "Div", "Max", "Min", "Mul", "Sub"})


def is_in_blocks(value: Value | None, depth: int = _DEEPEST) -> bool:
    """Say whether a convolution returns a tensor in blocks, with nothing between that undoes them.

    Args:
        value: The tensor; None for an input that is left out.
        depth: How many nodes are followed upwards.
    """
    node = None if value is None else value.producer
    if node is None or not depth or node.domain:
        return False
    if node.op in _WRITES:
        return True
    if node.op in _KEEPS:
        return is_in_blocks(node.input(0), depth - 1)
    if node.op == "Concat" and not _joins_channels(node.attr("axis", 0), value):
        return False
    return node.op in _JOINS and all(is_in_blocks(one, depth - 1) for one in node.inputs)


def _joins_channels(axis: int, value: Value | None) -> bool:
    return axis == 1 or (value is not None and value.rank is not None and axis + value.rank == 1)
