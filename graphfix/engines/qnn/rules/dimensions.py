"""QNN: tensors of more dimensions than it has."""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.memo import kept_stepwise, operands, origin_through
from graphfix.engines.operands import only_reader
from graphfix.engines.profile import Target
from graphfix.engines.qnn.rules.provider import LEFT, PROVIDER
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.ir.views import NodeView, Value

_MOST = 5  # dimensions
_INNER = range(1, _MOST)
# Operators whose images lie otherwise in QNN, which is kept up after those of one element each.
_OF_IMAGES = frozenset(
    {
        *("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace"),
        *("GlobalAveragePool", "GlobalMaxPool", "GridSample", "InstanceNormalization", "LRN"),
        *("MaxPool", "Resize", "SpaceToDepth", "Upsample"),
    }
)
_OF_ELEMENTS = frozenset(
    {
        *("Abs", "Add", "Clip", "Concat", "Div", "Elu", "Exp", "HardSigmoid", "HardSwish"),
        *("LeakyRelu", "Log", "Max", "Min", "Mul", "Neg", "PRelu", "Pow", "Relu", "Sigmoid"),
        *("Sqrt", "Sub", "Tanh"),
    }
)
# What becomes SpaceToDepth: of [N, C, H, b, W, b], in both orders of depth.
_TO_DEPTH = ([0, 1, 3, 5, 2, 4], [0, 3, 5, 1, 2, 4])


@rule(
    feature="rank:{op}",
    severity=REJECT,
    text=LEFT,
    source=f"{PROVIDER}: facts/asked.json, six-dimensions: a Transpose of six between two Reshapes"
    " is taken that leaves one of size 1 in its place, or is SpaceToDepth, unless"
    " DepthToSpace of other blocks is before it: QNN_COMMON_ERROR_MEM_ALLOC",
)
def many_dimensions(node: NodeView, target: Target) -> Answer:
    """QNN supports at most five dimensions for the inputs and outputs of {op}."""
    if node.op in ("Reshape", "Transpose") and _is_turned_differently(node):
        return None
    for value in (*node.inputs, *node.outputs):
        if value is not None and value.rank is not None and value.rank > _MOST:
            return Yes(
                feature=f"rank:{node.op}.{value.rank}",
                message=f"{target.title} supports five dimensions; {value.name} has {value.rank}",
            )
    return None


def _is_turned_differently(node: NodeView) -> bool:
    """Say whether a node is one of a Reshape, a Transpose and a Reshape that become others."""
    turn = node
    if node.op == "Reshape":
        maker = node.need(0).producer
        after = only_reader(node.output(0), "Transpose")
        turn = maker if maker is not None and maker.op == "Transpose" else after or node
    first = turn.need(0).producer
    last = only_reader(turn.output(0), "Reshape")
    if turn.op != "Transpose" or first is None or first.op != "Reshape" or last is None:
        return False
    before, given, six = first.need(0), last.output(0), turn.need(0)
    sizes = six.static_shape
    if given is None or sizes is None or len(six.consumers) != 1 or len(sizes) != _MOST + 1:
        return False
    if any(end.rank is None or end.rank > _MOST for end in (before, given)):
        return False
    order = list(turn.attr("perm", ())) or list(range(_MOST, -1, -1))
    kept = [axis for axis, size in enumerate(sizes) if size == 1 and order[axis] == axis]
    if order in _TO_DEPTH:
        if _is_turned_before(before, sizes):
            return False
        return 0 in kept if _is_laid_out_differently(before) else _is_to_depth(before, sizes, given)
    if not kept:
        return False
    return kept[0] not in _INNER or not _is_laid_out_differently(before)


_after_copies = origin_through(lambda maker: maker.op == "Identity")


def _is_turned_before(value: Value, sizes: tuple[int, ...]) -> bool:
    """Say whether six dimensions were turned just before, by a turn that is not undone here."""
    maker = _after_copies(value).producer
    turn = None if maker is None or maker.op != "Reshape" else maker.need(0).producer
    if turn is None or turn.op != "Transpose" or turn.need(0).rank != _MOST + 1:
        return False
    return maker is not None and maker.need(0).static_shape != sizes


def _is_to_depth(before: Value, sizes: tuple[int, ...], after: Value) -> bool:
    """Say whether images become images of fewer and deeper pixels."""
    count, deep, high, block, wide, other = sizes
    return (
        block == other
        and before.static_shape == (count, deep, high * block, wide * block)
        and after.static_shape == (count, deep * block * block, high, wide)
    )


@kept_stepwise(in_a_loop=False)
def _is_laid_out_differently(value: Value) -> Generator[Value, bool, bool]:
    """Say whether a tensor comes from an operator on images through those of single elements."""
    maker = value.producer
    if maker is None or maker.op in _OF_IMAGES:
        return maker is not None
    for operand in operands(maker) if maker.op in _OF_ELEMENTS else ():
        if (yield operand):
            return True
    return False
