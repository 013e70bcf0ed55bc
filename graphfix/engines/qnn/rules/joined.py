"""QNN: several nodes in a row that it computes as one, or should."""

from __future__ import annotations

import math
from collections.abc import Generator

from graphfix.analysis.memo import kept_stepwise
from graphfix.authoring.declaring import Unknown
from graphfix.engines.folded_early import is_folded
from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value, needed

_GELU = f"{PROVIDER}: facts/asked.json, gelu; its GeluFusion looks at no number"
_WIDE = 16  # states of LSTM
_ROUGH = 1e-4  # of a number of Gelu


@rule("Erf", feature="op:Erf", severity=REJECT, text=LEFT, source=_GELU)
def erf_alone(node: NodeView, target: Target) -> Answer:
    """QNN supports Erf only within the Gelu x * 0.5 * (1 + erf(x / sqrt(2)))."""
    return _factors_of_gelu(node) is None


@rule("Erf", feature="op:Erf", severity=WRONG, source=_GELU)
def gelu_of_other_numbers(node: NodeView, target: Target) -> Answer:
    """QNN fuses Erf and its neighbours into Gelu without checking their constants."""
    found = _factors_of_gelu(node)
    if found is None:
        return None
    given = {value: _number(value) for value, _ in found}
    for value, meant in found:
        known = given[value]
        if known is None and is_folded(value):
            return Unknown(f"numbers of {value.name}")
        if known is None or not math.isclose(known, meant, rel_tol=_ROUGH):
            return True
    return False


def _factors_of_gelu(node: NodeView) -> list[tuple[Value, float]] | None:
    """Return the numbers of what is joined to Gelu, and what they would be there."""
    scaled = node.input(0)
    maker = None if scaled is None else scaled.producer
    added = _only_user(node.output(0), "Add")
    if maker is None or maker.op not in ("Div", "Mul") or added is None or scaled is None:
        return None
    if len(scaled.consumers) != 1 or scaled.is_graph_output:
        return None
    x, by, one = maker.need(0), maker.need(1), _adjacent(added, node.output(0))
    first = _only_user(added.output(0), "Mul")
    if first is None or one is None:
        return None
    found = [(by, math.sqrt(2) if maker.op == "Div" else math.sqrt(0.5)), (one, 1.0)]
    other = _adjacent(first, added.output(0))
    half = None if other is None else other.producer
    if half is not None and half.op == "Mul" and x in half.inputs and other is not None:
        if len(other.consumers) != 1:  # it is gone
            return None
        factor = _adjacent(half, x)
        return None if factor is None else [*found, (factor, 0.5)]
    last = _only_user(first.output(0), "Mul")
    if last is None or other is None:
        return None
    if other == x:  # 0.5 * (x * (1 + erf))
        factor = _adjacent(last, first.output(0))
        return None if factor is None else [*found, (factor, 0.5)]
    return [*found, (other, 0.5)] if x in last.inputs else None  # x * (0.5 * (1 + erf))


def _adjacent(node: NodeView, value: Value | None) -> Value | None:
    """Return the other operand of a node of two."""
    left, right = node.input(0), node.input(1)
    return right if left == value else left


def _number(value: Value) -> float | None:
    """Return the one number of a constant, or of the root of one."""
    maker = value.producer
    if maker is not None and maker.op in ("Cast", "Identity"):
        return _number(maker.need(0))
    if maker is not None and maker.op == "Sqrt":
        square = _number(maker.need(0))
        return None if square is None or square < 0 else math.sqrt(square)
    array = value.array()
    return None if array is None or array.size != 1 else float(array.item())


def _only_user(value: Value | None, op: str) -> NodeView | None:
    return None if value is None or value.is_graph_output else only_reader(value, op)


@rule(
    "Mul",
    feature="form:Mul.constant-first",
    severity=REJECT,
    text="Failed to finalize QNN graph. Error: QNN_COMMON_ERROR_MEM_ALLOC",
    source=f"{PROVIDER}: facts/asked.json, root-mean-square; with the weight after, another order"
    " of operands before it, other axes, or Div for Reciprocal and Mul, it is taken",
)
def weight_before_a_normalized_row(node: NodeView, target: Target) -> Answer:
    """QNN cannot build an RMS normalisation whose weight is the first operand of Mul."""
    weight, row = node.input(0), node.input(1)
    if weight is None or row is None or not is_folded(weight):
        return None
    product = _maker(row, "Mul")
    if product is None:
        return None
    x = product.need(0)
    inverse = _maker(product.need(1), "Reciprocal")
    root = _maker(None if inverse is None else inverse.need(0), "Sqrt")
    total = _maker(None if root is None else root.need(0), "Add")
    mean = _maker(None if total is None else total.need(0), "ReduceMean")
    square = _maker(None if mean is None else mean.need(0), "Pow")
    if total is None or mean is None or square is None or square.need(0) != x:
        return None
    small, power = total.need(1).array(), square.need(1).array()
    if small is None or small.size != 1 or power is None or power.size != 1:
        return None
    return power.item() == 2 and _takes_last_axis(mean, x.rank)


def _maker(value: Value | None, op: str) -> NodeView | None:
    maker = None if value is None else value.producer
    return maker if maker is not None and maker.op == op and not maker.domain else None


def _takes_last_axis(node: NodeView, rank: int | None) -> bool | Unknown:
    """Say whether a reduction is one of the last axis, which stays."""
    given = node.input(1)
    stated = node.attr("axes", ()) if given is None else given.array()
    axes = [] if stated is None else [int(axis) for axis in stated]
    if len(axes) != 1 or not node.attr("keepdims", 1):
        return False
    if axes[0] < 0:
        return axes[0] == -1
    return Unknown("rank of what is normalized") if rank is None else axes[0] == rank - 1


@rule(
    "Tanh",
    feature="form:Tanh.of-product",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, tanh: off by up to 0.0075 after Conv, Gemm and MatMul"
    " by weights, a bias or a BatchNormalization after them; after others, or where the product is"
    " read twice, by 0.0004, and so is a Conv of one channel each",
)
def tanh_of_a_product(node: NodeView, target: Target) -> Answer:
    """QNN fuses Tanh with the layer before it, with an error of up to 0.0075."""
    x = node.input(0)
    maker = _joined_maker(x)
    if maker is not None and maker.op == "Add":
        left, right = maker.need(0), maker.need(1)
        maker = _joined_maker(left if is_folded(right) else right)
        if not is_folded(left) and not is_folded(right):
            return None
    elif maker is not None and maker.op == "BatchNormalization":
        maker = _joined_maker(maker.need(0))
    if maker is None or maker.op not in ("Conv", "Gemm", "MatMul"):
        return None
    if not is_folded(maker.need(1)) or _is_of_one_channel_each(maker):
        return None
    return Unknown(f"how large {x.name if x is not None else 'it'} becomes")


def _joined_maker(value: Value | None) -> NodeView | None:
    """Return what makes a tensor that one node alone reads."""
    return None if value is None else _maker_read_once(value)


@kept_stepwise(in_a_loop=None)
def _maker_read_once(value: Value) -> Generator[Value, NodeView | None, NodeView | None]:
    if value.is_graph_output or len(value.tensor.outputs) != 1:
        return None
    maker = value.producer
    if maker is None or maker.op != "Identity":
        return maker
    copied = maker.input(0)
    return None if copied is None else (yield copied)


def _is_of_one_channel_each(node: NodeView) -> bool:
    return node.op == "Conv" and node.attr("group", 1) > 1


@rule(
    "LSTM",
    feature="op:LSTM",
    severity=WRONG,
    source=f"{PROVIDER}: facts/asked.json, lstm-of-many-states: with 16 states or more it is"
    " off by up to 0.017, and by less than 0.001 with 12; GRU is not",
)
def lstm_of_many_states(node: NodeView, target: Target) -> Answer:
    """QNN computes LSTM with hidden_size 16 or more with an error of up to 0.017."""
    states = needed(node.attr("hidden_size", 0) or None, "the number of states")
    return states >= _WIDE and Unknown("how large its outputs become")
