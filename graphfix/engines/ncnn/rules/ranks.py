"""ncnn: tensors of five axes and more.

A Mat has four, and the batch next to them where pnnx knows which axis it is: an operator of images
tells it. What it recognizes as a shuffle of channels or pixels becomes one layer.
"""

from __future__ import annotations

from collections.abc import Generator
from math import prod

from graphfix.analysis.memo import kept, kept_stepwise
from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import given_inputs
from graphfix.engines.ncnn.rules import FACTS, RANK
from graphfix.engines.ncnn.rules.embedding import takes_rows
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import REDUCTIONS
from graphfix.report import Severity

# Operators whose first axis pnnx takes for the batch.
_OF_BATCHES = frozenset(
    {
        *("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace"),
        *("GlobalAveragePool", "GlobalMaxPool", "GridSample", "InstanceNormalization", "LRN"),
        *("LayerNormalization", "MaxPool", "PRelu", "Resize", "Upsample"),
    }
)
_JOINED = ("Reshape", "Squeeze", "Unsqueeze")  # one Reshape, where they follow each other
_OF_PAIRS = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub")
_PAIR = (0, 1)  # the operands of these
_OF_AXES = ("Expand", "LogSoftmax", "Softmax", "Transpose", *REDUCTIONS)
_MATRIX = 2  # what has one axis has no batch
_CHANNELS = [0, 2, 1, 3, 4]
_PIXELS = [0, 1, 4, 2, 5, 3]
_PIXELS_BACK = [0, 1, 3, 5, 2, 4]


@rule(
    _JOINED,
    feature="rank:{op}",
    severity=REJECT,
    text="layer Tensor.reshape not exists or registered",
    source=f"{FACTS}: Squeeze and Unsqueeze after a Reshape are one with it; five axes are taken"
    " where an operator of images or a LayerNormalization tells pnnx which axis is the batch, and"
    " it stays after as many, or channels or pixels are shuffled, and where one that follows"
    " takes them away. An Unsqueeze or Squeeze that is joined with none leaves a Mat as it is, but"
    " ncnn loads none with an axis beyond the fourth",
)
def reshape_to_five_axes(node: NodeView, target: Target) -> Answer:
    """ncnn supports tensors of at most four axes in addition to the batch."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None:
        return None
    if node.op != "Reshape" and (x.producer is None or x.producer.op not in _JOINED):
        return _names_fifth(node, x, y)
    if y.rank is None:
        return Unknown(f"rank of {y.name}")
    if y.rank <= RANK or _continues(y):
        return False
    if y.rank == RANK + 1 and _keeps_batch(x, y, node.graph) and tells_batches(node.graph):
        return False
    turn = y.consumers[0] if len(y.consumers) == 1 else None
    return not (turn is not None and _is_shuffle(turn)) and Yes(feature=f"rank:{node.op}.{y.rank}")


def _names_fifth(node: NodeView, x: Value, y: Value) -> Answer:
    """Say whether an Unsqueeze or Squeeze names an axis beyond the fourth."""
    rank = y.rank if node.op == "Unsqueeze" else x.rank
    axes = node.attr("axes", ()) if node.input(1) is None else node.need(1).array()
    if axes is None or rank is None or rank <= RANK:
        return False
    beyond = any(int(axis) % rank >= RANK for axis in axes)
    if (
        not beyond
        or _continues(y)
        or (_keeps_batch(x, y, node.graph) and tells_batches(node.graph))
    ):
        return False
    return Yes(
        feature=f"rank:{node.op}.{rank}",
        message=f"ncnn supports four axes; {node.op} names a fifth one",
    )


def _continues(value: Value) -> bool:
    """Say whether the one reader of a tensor is joined with what computes it."""
    readers = value.consumers
    return not value.is_graph_output and len(readers) == 1 and readers[0].op in _JOINED


def _keeps_batch(x: Value, y: Value, graph: Graph) -> bool:
    """Say whether an axis that may be the batch has as many numbers in front of it as before.

    It has the first size of an input. Sizes that are not known may be any.
    """
    before, after = x.static_shape, y.static_shape
    if before is None or after is None:
        return True
    batches = sizes_of_batches(graph.root)
    places = [{(size, prod(s[:at])) for at, size in enumerate(s)} for s in (before, after)]
    return any(size in batches for size, _ in places[0] & places[1])


@kept
def tells_batches(graph: Graph) -> bool:
    """Say whether some operator of a graph tells pnnx which axis is the batch."""
    return any(tells_batch(NodeView(node)) for node in graph.nodes)


@kept
def sizes_of_batches(root: Graph) -> frozenset[int | None]:
    """Return the sizes of the first axes of inputs; None is among them where one is not known."""
    return frozenset(Value(tensor).dim(0) for tensor in root.inputs)


def tells_batch(node: NodeView) -> bool:
    """Say whether pnnx takes the first axis of what a node reads, or stands for, for the batch."""
    return node.op in _OF_BATCHES or takes_rows(node) or _is_normalized(node)


def _is_normalized(node: NodeView) -> bool:
    """Say whether a Div is that of a LayerNormalization that is written out.

    F_layer_norm.cpp of tools/pnnx/src/pass_level2 has the square as a power, and the last axes.
    """
    if node.op != "Div":
        return False
    numbers, root = _made(node.input(0), "Sub"), _made(node.input(1), "Sqrt")
    mean = None if numbers is None else _made(numbers.input(1), "ReduceMean")
    spread = None if root is None else _made(root.input(0), "Add")
    variance = None if spread is None else _made(spread.input(0), "ReduceMean")
    if mean is None or variance is None or _made(variance.input(0), "Pow") is None:
        return False
    return all(_takes_last_axes(each) for each in (mean, variance))


def _takes_last_axes(mean: NodeView) -> bool:
    """Say whether the last axes are reduced; where it is not known they may be."""
    rank, given = mean.need(0).rank, mean.input(1)
    axes = mean.attr("axes", ()) if given is None else given.array()
    if rank is None or axes is None or not len(axes):
        return True
    return {int(axis) % rank for axis in axes} == set(range(rank - len(axes), rank))


def _made(value: Value | None, op: str) -> NodeView | None:
    """Return the node that computes a tensor where it is of this operator."""
    maker = value.producer if value is not None else None
    return maker if maker is not None and maker.op == op else None


def _is_shuffle(turn: NodeView) -> bool:
    """Say whether a Transpose between two Reshapes shuffles channels or pixels.

    Sizes that are not known may be any.
    """
    if turn.op != "Transpose":
        return False
    split, y = turn.need(0), turn.output(0)
    front = split.producer
    if front is None or front.op != "Reshape" or y is None:
        return False
    if len(split.consumers) != 1 or len(y.consumers) != 1 or y.consumers[0].op != "Reshape":
        return False
    back, perm = y.consumers[0], list(turn.attr("perm", ()))
    end = back.output(0)
    if end is None or end.rank != RANK:
        return False
    parts, ends = split.static_shape, end.static_shape
    if perm == _CHANNELS:
        return parts is None or ends is None or (parts[0], *parts[3:]) == (ends[0], *ends[2:])
    if perm not in (_PIXELS, _PIXELS_BACK) or not all(map(_has_all_sizes, (front, back))):
        return False
    return parts is None or ends is None or ends == _shuffled(perm, parts)


def _has_all_sizes(reshape: NodeView) -> bool:
    """Say whether no size but that of the batch is left to be found out."""
    sizes = reshape.need(1).array()
    return sizes is None or bool((sizes[1:] >= 0).all())


def _shuffled(perm: list[int], parts: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the sizes after a shuffle of pixels; None where its blocks are no squares."""
    batch, one, two, three, four, five = parts
    if perm == _PIXELS:
        return (batch, one, four * two, five * three) if two == three else None
    return (batch, one * three * five, two, four) if three == five else None


@rule(
    _OF_AXES,
    feature="rank:{op}",
    severity=WRONG,
    source=f"{FACTS}: five axes where no operator tells which one is the batch; what computes with"
    " each number for itself is equal",
)
def axes_of_five(node: NodeView, target: Target) -> Answer:
    """ncnn applies {op} to the wrong axes of a tensor of five axes."""
    x, y = node.input(0), node.output(0)
    value = y if node.op == "Expand" else x
    if value is None:
        return None
    rank = value.rank if value.rank is not None else len(node.attr("perm", ())) or None
    if rank is None:
        return Unknown(f"rank of {value.name}")
    if rank <= RANK or (node.op == "Transpose" and _is_shuffle(node)):
        return False
    if rank == RANK + 1 and tells_batches(node.graph):
        return False
    return Yes(feature=f"rank:{node.op}.{rank}")


@rule(
    _OF_PAIRS,
    feature="rank:{op}",
    severity=WRONG,
    source=f"{FACTS}: an Unsqueeze leaves a Mat of four axes as it is, and they are combined as if"
    " no axis had been added; equal are operands of one shape, numbers, rows, and where an operator"
    " tells which axis is the batch",
)
def pair_of_five_axes(node: NodeView, target: Target) -> Answer:
    """ncnn broadcasts {op} along the wrong axes; its tensors have at most four."""
    shapes = [None if value is None else value.static_shape for value in node.inputs[:2]]
    y = node.output(0)
    if y is None or len(shapes) != len(_PAIR) or None in shapes or (y.rank or 0) <= RANK:
        return False
    if tells_batches(node.graph) and _has_batch(y, node.graph):
        first = {(len(shape or ()), (shape or (0,))[0]) for shape in shapes}
        return (
            len(first) > 1 and not _are_alike(*shapes) and Yes(feature=f"rank:{node.op}.{y.rank}")
        )
    return not _are_alike(*shapes) and Yes(feature=f"rank:{node.op}.{y.rank}")


def _are_alike(one: tuple[int, ...] | None, two: tuple[int, ...] | None) -> bool:
    """Say whether one shape is the end of another, but for ones in front."""
    shorter, longer = sorted((_without_ones(one or ()), _without_ones(two or ())), key=len)
    return longer[len(longer) - len(shorter) :] == shorter


@rule(
    "Concat",
    feature="rank:Concat.5",
    severity=WRONG,
    source=f"{FACTS}: along the axis that Unsqueeze has added, or one in front of it, it is equal",
)
def joined_behind_a_new_axis(node: NodeView, target: Target) -> Answer:
    """ncnn joins tensors of five axes along the axis after the one that ONNX names."""
    x, y = node.input(0), node.output(0)
    maker = _made(x, "Unsqueeze")
    if y is None or maker is None or y.rank != RANK + 1 or tells_batches(node.graph):
        return False
    axes = maker.attr("axes", ()) if maker.input(1) is None else maker.need(1).array()
    if axes is None:
        return False
    return int(node.attr("axis", 0)) % y.rank > max(int(axis) % y.rank for axis in axes)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without the ones in front."""
    for place, size in enumerate(shape):
        if size != 1:
            return shape[place:]
    return ()


def _has_batch(value: Value, graph: Graph) -> bool:
    """Say whether a tensor has an axis as large as the batch of an input."""
    return any(size in sizes_of_batches(graph.root) for size in value.shape or ())


@rule(
    "Expand",
    feature="form:Expand.batch",
    severity=WRONG,
    source=f"{FACTS}: a batch of 1 stays one where an operator tells pnnx of it; a Reshape after"
    " it then gives nothing",
)
def expansion_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn does not expand a batch of 1; ONNX repeats it."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.rank != y.rank or x.dim(0) != 1 or y.dim(0) == 1:
        return False
    batches = sizes_of_batches(node.graph.root)
    if (x.rank or 0) < _MATRIX or 1 not in batches or not tells_batches(node.graph):
        return False
    counted = any(reader.op in _JOINED for reader in y.consumers)
    return Yes(severity=REJECT) if counted else True


@rule(
    _JOINED,
    feature="rank:{op}",
    severity=WRONG,
    source=f"{FACTS}: here the repairs of what is in front begin",
)
def reshape_from_five_axes(node: NodeView, target: Target) -> Answer:
    """{op} reads a tensor of five axes, which ncnn stores with at most four."""
    y, x = node.output(0), node.input(0)
    if y is None or x is None or y.rank is None or y.rank > RANK:
        return None
    severity = _refused_before((x, target))
    return severity is not None and Yes(feature=f"rank:{node.op}.{x.rank}", severity=severity)


@kept_stepwise(in_a_loop=None)
def _refused_before(
    asked: tuple[Value, Target],
) -> Generator[tuple[Value, Target], Severity | None, Severity | None]:
    """Return how bad the last is that is said along first inputs, as long as axes are five."""
    value, target = asked
    front = value.producer
    if (value.rank or 0) <= RANK or front is None:
        return None
    judge = _JUDGES.get(front.op)
    if judge is not None and isinstance(judge.check(front, target), Yes):
        return judge.severity
    x = front.input(0)
    return None if x is None else (yield x, target)


_JUDGES = {
    **dict.fromkeys(_OF_AXES, axes_of_five),
    **dict.fromkeys(_OF_PAIRS, pair_of_five_axes),
    **dict.fromkeys(_JOINED, reshape_to_five_axes),
}


@model_rule(
    feature="rank:input.5",
    severity=REJECT,
    text="convert numpy.ndarray to ncnn.Mat only dims <=4 support now",
    source=f"{FACTS}: with a batch that an operator of images tells they are taken",
)
def input_of_five_axes(model: Model, target: Target) -> list[Answer]:
    """ncnn supports inputs of at most four axes, unless the batch can be dropped."""
    has_batches = tells_batches(model.graph)
    return [
        Yes(message=f"{target.title} supports {RANK} axes; input {tensor.name} has {value.rank}")
        for tensor in given_inputs(model)
        if (value := Value(tensor)).rank is not None
        and value.rank > RANK
        and not (has_batches and value.rank == RANK + 1)
    ]
