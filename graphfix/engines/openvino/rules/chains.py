"""OpenVINO: operators of single elements that it fuses with what they follow."""

from __future__ import annotations

import numpy as np

from graphfix.engines.openvino.rules.low_precision import number_of, reader_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import Array, NodeView, Value

_MOST = 32
_ONE = np.ones((), np.float32)
# Measured each with chains of 32 and 33.
_FUSED = frozenset(
    {
        *("Abs", "Clip", "Elu", "HardSwish", "LeakyRelu", "PRelu", "Relu", "Round", "Sigmoid"),
        *("Softplus", "Sqrt", "Tanh"),
    }
)
_MOVES = frozenset(
    {"Flatten", "Gather", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
)
_SCALES, _SHIFTS = ("Div", "Mul", "Neg"), ("Add", "Sub")
_FOLLOWED = (
    *("Conv", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "MatMul", "ReduceL2", "ReduceMax"),
    *("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "Resize"),
)


@rule(
    _FOLLOWED,
    feature="form:{op}.long-chain",
    versions="openvino2026.4..",
    severity=REJECT,
    text="could not append an elementwise post-op",
    source="oneDNN src/common/primitive_attr.hpp (post_ops_t::post_ops_limit is 32); measured on "
    "2026.4.1: of 33, also where Reshape, Transpose and the like are in between; right after "
    "ConvTranspose, Softmax, AveragePool, MaxPool and Max, and past Exp, Erf, Sin, Floor and Pow",
)
def longer_than_is_fused(node: NodeView, target: Target) -> Answer:
    """OpenVINO fuses at most 32 operators of single elements with {op}, and refuses more."""
    return _fused_with(node) > _MOST


def _fused_with(node: NodeView) -> int:
    """Return how many operators are fused with a node.

    Constant factors and terms in a row, with no move in between, are one of each; the first factors
    are the node's own.
    """
    count, factor, is_shifted, is_first = 0, _ONE, False, True
    following = reader_of(node)
    while count <= _MOST:
        fused = following if following is not None and _is_fused(following) else None
        if fused is not None and fused.op in _SCALES:
            factor = _scaled(factor, fused)
        elif fused is not None and fused.op in _SHIFTS:
            is_shifted = True
        else:
            count += is_shifted + (not is_first and bool(factor != 1))
            factor, is_shifted, is_first = _ONE, False, False
            if fused is None:
                break
            count += fused.op in _FUSED
        following = reader_of(fused)
    return count


def _is_fused(node: NodeView) -> bool:
    if node.domain or node.op in (*_SCALES, *_SHIFTS):
        free = [one for one in node.inputs if one is not None and number_of(one) is None]
        return not node.domain and len(free) == 1
    return node.op in _FUSED or node.op in _MOVES


def _scaled(factor: Array, node: NodeView) -> Array:
    """Return a factor times that of a node: numbers of float32, with reciprocals for quotients."""
    if node.op == "Neg":
        return -factor
    known = [one.array() for one in node.inputs if one is not None]
    numbers = next((one for one in known if one is not None and one.size == 1), None)
    if numbers is None:
        return np.full((), np.nan, np.float32)
    with np.errstate(all="ignore"):
        own = numbers.astype(np.float32).reshape(())
        return np.asarray(factor * (1 / own if node.op == "Div" else own), np.float32)


_RANK = 3
_STEPS = ("Cast", "DequantizeLinear", "Identity", "QuantizeLinear")


@rule(
    (
        *("ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd"),
        *("ReduceSum", "ReduceSumSquare"),
    ),
    feature="form:{op}.fused-channels",
    versions="openvino2026.4..",
    severity=WRONG,
    source="measured on 2026.4.1, of factors and terms of Add, Sub, Mul and Div, slopes of PRelu "
    "and scales, with Relu, Sigmoid and quantization to 8 bits in between: right of rank 2, 4 and "
    "5, of scalars, of constants along other axes, of computed operands, and past Exp and Max",
)
def channels_after_a_reduction(node: NodeView, target: Target) -> Answer:
    """OpenVINO applies constants along axis 1 of what {op} reduces along another axis."""
    x, given = node.need(0), node.input(1)
    if x.rank != _RANK or x.dim(1) == 1:
        return None
    known = None if given is None else given.array()
    axes = node.attr("axes") or () if known is None else known.ravel()
    reduced = {int(axis) % _RANK for axis in axes}
    if not reduced or 1 in reduced:
        return None
    # Counted from the end, as operands broadcast.
    kept = bool(node.attr("keepdims", 1))
    place = 2 - (2 in reduced and not kept)
    following = reader_of(node)
    while following is not None and not following.domain:
        if following.op in ("DequantizeLinear", "QuantizeLinear"):
            if following.need(1).rank != 0 and following.need(1).dim(0) != 1:
                return True
        elif following.op in (*_SCALES, *_SHIFTS, "PRelu") and _is_fused(following):
            if any(_varies(one, place) for one in following.inputs if one is not None):
                return True
        elif following.op not in (*_FUSED, *_STEPS):
            return None
        following = reader_of(following)
    return None


def _varies(value: Value, place: int) -> bool:
    """Say whether a constant varies along one axis, counted from the end, and along no other."""
    if number_of(value) is None:
        return False
    long = [at for at, size in enumerate(reversed(value.static_shape or ()), 1) if size != 1]
    return long == [place]
