"""How many multiplications with an addition a node takes, by the sizes of its tensors."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from graphfix.ir.graph import Node, Tensor
from graphfix.ir.protos import normal_domain

Sizes = tuple[int, ...]


class _OpenError(Exception):
    """A size is not known."""


def macs_of(node: Node) -> int | None:
    """Return the multiply-accumulates of a node; 0 for what has none, None for unknown sizes.

    Convolutions, matrix products and recurrent layers count; sums, activations and functions of
    single numbers do not, as is usual.
    """
    count = _COUNTS.get(node.op) if not normal_domain(node.domain) else None
    if count is None:
        return 0
    try:
        return count(node)
    except _OpenError:
        return None


def _sizes(tensor: Tensor) -> Sizes:
    shape = tensor.shape
    if shape is None:
        raise _OpenError
    sizes = tuple(size for size in shape if isinstance(size, int))
    if len(sizes) != len(shape):
        raise _OpenError
    return sizes


def _convolution(node: Node, weights: int = 1) -> int:
    return prod(_sizes(node.outputs[0])) * prod(_sizes(node.inputs[weights])[1:])


def _quantized_convolution(node: Node) -> int:
    return _convolution(node, 3)


def _transposed(node: Node) -> int:
    return prod(_sizes(node.inputs[0])) * prod(_sizes(node.inputs[1])[1:])


def _product(node: Node) -> int:
    return prod(_sizes(node.outputs[0])) * _sizes(node.inputs[0])[-1]


def _gemm(node: Node) -> int:
    one = _sizes(node.inputs[0])
    return prod(_sizes(node.outputs[0])) * one[0 if node.attrs.get("transA", 0) else -1]


def _recurrent(node: Node) -> int:
    length, batch = _sizes(node.inputs[0])[:2]
    weights = prod(_sizes(node.inputs[1])) + prod(_sizes(node.inputs[2]))
    return length * batch * weights


_COUNTS: dict[str, Callable[[Node], int]] = {
    "Conv": _convolution,
    "ConvInteger": _convolution,
    "QLinearConv": _quantized_convolution,
    "ConvTranspose": _transposed,
    "MatMul": _product,
    "MatMulInteger": _product,
    "QLinearMatMul": _product,
    "Gemm": _gemm,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
}
