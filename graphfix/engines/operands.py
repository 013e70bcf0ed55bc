"""What rules of several families ask of the operands of a node."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.declaring import Unknown
from graphfix.ir.graph import Constant
from graphfix.ir.views import NodeView, Value

_SOFTMAX_OF_ONE_AXIS = 13  # the opset
_DEEP = 12  # nodes that are looked at upwards
_NEVER_NEGATIVE = frozenset(
    {
        *("Abs", "Exp", "HardSigmoid", "ReduceL1", "ReduceL2", "ReduceSumSquare", "Relu"),
        *("Sigmoid", "Softmax", "Softplus", "Sqrt"),
    }
)
_WITH_SIGNS_KEPT = frozenset(
    {
        *("AveragePool", "Expand", "Flatten", "Gather", "GlobalAveragePool", "GlobalMaxPool"),
        *("Identity", "MaxPool", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"),
        *("Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
_OF_SIGNS = frozenset({"Add", "Concat", "Div", "Max", "Mul", "Sum"})


def is_stored(value: Value) -> bool:
    """Say whether a tensor is an initializer, overridable or not, or what a Constant node gives."""
    return value.is_constant or isinstance(value.tensor, Constant)


def holds_negatives(value: Value | None) -> bool:
    """Say whether a constant has numbers below 0; False where it is computed or not there."""
    array = None if value is None else value.array()
    return array is not None and bool((array < 0).any())


def is_never_negative(value: Value | None, depth: int = _DEEP) -> bool:
    """Say whether what computes a tensor, in few nodes, gives no number below 0."""
    if value is None or depth == 0:
        return False
    maker, known = value.producer, value.array()
    if known is not None or maker is None:
        return known is not None and known.dtype.kind in "fiu" and bool((known >= 0).all())
    if maker.op == "Pow":
        powers = None if maker.input(1) is None else maker.need(1).array()
        even = powers is not None and bool((powers % 2 == 0).all())
        return even or is_never_negative(maker.input(0), depth - 1)
    if maker.op in _WITH_SIGNS_KEPT:
        return is_never_negative(maker.input(0), depth - 1)
    if maker.op == "Mul" and maker.input(0) == maker.input(1):
        return True
    if maker.op in _OF_SIGNS:
        return all(is_never_negative(operand, depth - 1) for operand in maker.inputs)
    return maker.op in _NEVER_NEGATIVE


def is_always_positive(value: Value | None, depth: int = _DEEP) -> bool:
    """Say whether what computes a tensor, in few nodes, gives numbers above 0 alone.

    That small ones become 0 in floats is left out of account.
    """
    if value is None or depth == 0:
        return False
    maker, known = value.producer, value.array()
    if known is not None or maker is None:
        return known is not None and known.dtype.kind in "fiu" and bool((known > 0).all())
    operands = [operand for operand in maker.inputs if operand is not None]
    if maker.op in ("Max", "Clip"):  # the least of Clip is its second input
        return any(is_always_positive(operand, depth - 1) for operand in operands[:2])
    if maker.op in ("Add", "Sum"):
        positive = any(is_always_positive(operand, depth - 1) for operand in operands)
        return positive and all(is_never_negative(operand, depth) for operand in operands)
    if maker.op in _WITH_SIGNS_KEPT or maker.op in ("Pow", "Sqrt", "ReduceL1", "ReduceL2", "Abs"):
        return is_always_positive(maker.input(0), depth - 1)
    if maker.op in ("Concat", "Div", "Mul"):
        return all(is_always_positive(operand, depth - 1) for operand in operands)
    return maker.op in ("Exp", "Sigmoid", "Softmax", "Softplus")


def only_reader(value: Value | None, op: str = "") -> NodeView | None:
    """Return the node that alone reads a tensor, be it an output of the graph as well.

    Args:
        value: The tensor.
        op: The operator that it must be; empty for any.
    """
    readers = () if value is None else value.consumers
    found = readers[0] if len(readers) == 1 else None
    return found if found is not None and op in ("", found.op) else None


def has_negative_pads(node: NodeView) -> bool:
    """Say whether a Pad of any opset crops; False where its pads are computed."""
    given = node.attr("pads", ())  # an input from opset 11 on
    return bool((np.asarray(given) < 0).any()) or holds_negatives(node.input(1))


def has_rank(node: NodeView, rank: int) -> bool | Unknown | None:
    """Say whether the first input has so many axes."""
    x = node.input(0)
    if x is None:
        return None
    return Unknown(f"rank of {x.name}") if x.rank is None else x.rank == rank


def joins_axes(node: NodeView) -> bool | Unknown | None:
    """Say whether a softmax is over several axes as one, as it is before opset 13."""
    x, axis = node.input(0), int(node.attr("axis", 1))
    if node.opset >= _SOFTMAX_OF_ONE_AXIS or x is None or axis == -1:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return x.rank > 0 and any(size != 1 for size in (x.shape or ())[axis % x.rank + 1 :])


def normalizes_several_axes(node: NodeView) -> bool | Unknown | None:
    """Say whether a LayerNormalization is over more than the last axis."""
    x, axis = node.input(0), int(node.attr("axis", -1))
    if x is None or axis == -1:
        return None
    return Unknown(f"rank of {x.name}") if x.rank is None else axis != x.rank - 1


def quantizer_reported_at(node: NodeView) -> NodeView | None:
    """Return the QuantizeLinear that a rule tells of at a node; None at another place.

    Where all that reads it dequantizes again, the readers have the finding: passes write out pairs.

    Args:
        node: A QuantizeLinear or a DequantizeLinear.
    """
    maker = node if node.op == "QuantizeLinear" else node.need(0).producer
    if maker is None or maker.op != "QuantizeLinear":
        return None
    result = maker.output(0)
    readers = () if result is None else result.consumers
    paired = bool(readers) and all(reader.op == "DequantizeLinear" for reader in readers)
    return maker if paired is (node.op == "DequantizeLinear") else None
