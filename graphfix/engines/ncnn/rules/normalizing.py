"""ncnn: the layers that pnnx makes of norms and of groups that are normalized."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.ncnn.rules import FACTS, MEASURED, RANK
from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_CHAIN = ("Expand", "Clip")


@rule(
    "Div",
    feature="form:Div.expanded-norm",
    severity=WRONG,
    source=f"{MEASURED}: ReduceL1 and ReduceL2 of opsets 9 to 18, over any axes of 2 to 4, whatever"
    " the least norm; without Expand or Clip, with a largest norm, where the norm is of another"
    " tensor or is read twice, they are equal",
)
def division_by_expanded_norm(node: NodeView, target: Target) -> Answer:
    """pnnx fuses Norm, Clip, Expand and Div into one layer with different results than ONNX."""
    x, value = node.input(0), node.input(1)
    for op in _CHAIN:
        value = _made_once(value, op)
        if value is None:
            return False
    norm = None if value is None else value.producer
    return norm is not None and norm.op in ("ReduceL1", "ReduceL2") and norm.input(0) == x


def _made_once(value: Value | None, op: str) -> Value | None:
    """Return the first operand of what computes a tensor, where it is of one operator."""
    maker = None if value is None else value.producer
    if value is None or maker is None or maker.op != op or len(value.consumers) > 1:
        return None
    limited = maker.has("max") or maker.input(2) is not None
    return None if op == "Clip" and limited else maker.input(0)


@rule(
    "InstanceNormalization",
    feature="rank:InstanceNormalization.3",
    severity=REJECT,
    text="layer nn.InstanceNorm1d not exists or registered",
    source=f"{FACTS}: between two Reshapes, with scales of 1, biases of 0 and an epsilon that is"
    " explicit, it is the GroupNorm of PyTorch",
)
def normalization_of_rows(node: NodeView, target: Target) -> Answer:
    """ncnn supports InstanceNormalization on images only."""
    x = node.input(0)
    if x is None or x.rank == RANK:
        return None
    if x.rank is None:
        return Unknown(f"rank of {x.name}")
    return not _is_of_groups(node) and Yes(feature=f"rank:InstanceNormalization.{x.rank}")


def _is_of_groups(node: NodeView) -> bool:
    """Say whether groups of channels are rows, normalized and made channels again."""
    rows, y = node.need(0), node.output(0)
    front = rows.producer
    if y is None or front is None or front.op != "Reshape" or len(y.consumers) != 1:
        return False
    if front.need(0).shape == rows.shape:  # each channel is a group: pnnx drops that Reshape
        return False
    (back,) = y.consumers
    end = back.output(0)
    if back.op != "Reshape" or end is None or end.shape != front.need(0).shape:
        return False
    scales, biases = node.need(1).array(), node.need(2).array()
    if scales is None or biases is None or not node.has("epsilon"):
        return False
    return bool((scales == 1).all()) and not biases.any()


@rule(
    "Pow",
    feature="form:Pow.layer-norm",
    severity=WRONG,
    source=f"{FACTS}: over all axes but the first, of two and three; over the last of more axes,"
    " over one axis, and with Mul for the square they are equal",
)
def normalization_of_all_but_the_batch(node: NodeView, target: Target) -> Answer:
    """pnnx misreads a decomposed LayerNormalization over all axes but the first."""
    numbers, spread = node.input(0), only_reader(node.output(0), "ReduceMean")
    if numbers is None or numbers.rank is None or spread is None:
        return False
    divided = spread
    for op in ("Add", "Sqrt", "Div"):
        reader = only_reader(divided.output(0), op)
        if reader is None:
            return False
        divided = reader
    axes = spread.attr("axes", ()) if spread.input(1) is None else spread.need(1).array()
    if axes is None or divided.input(0) != numbers or not _is_centred(numbers):
        return False
    rest = {int(axis) % numbers.rank for axis in axes}
    return len(rest) > 1 and rest == set(range(1, numbers.rank))


def _is_centred(value: Value) -> bool:
    """Say whether a tensor is another one less its mean."""
    maker = value.producer
    mean = maker.need(1).producer if maker is not None and maker.op == "Sub" else None
    return mean is not None and mean.op == "ReduceMean"
