"""ncnn: the first axis where pnnx takes it for the batch, which it leaves out of tensors.

What is computed for each of the batch is right; what crosses the batch takes each for itself.
tools/pnnx/src/pass_ncnn/solve_batch_index.cpp begins at operators of images and of rows, and goes
on from tensor to tensor. Where another axis becomes the batch, the tensor is laid out as it is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import islice

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import along_first_inputs, kept_stepwise, walk
from graphfix.engines.ncnn.rules import FACTS
from graphfix.engines.ncnn.rules.constants import is_one_element
from graphfix.engines.ncnn.rules.ranks import tells_batch
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE, REDUCTIONS

COUNTED = frozenset({"Flatten", "Reshape", "Squeeze", "Unsqueeze"})
KEEPING = ELEMENTWISE | {"Concat", "LogSoftmax", "Pad", "Softmax"}
FAR = 24  # nodes that are looked at
_MATRIX = 2  # what has one axis has no batch
_NO_BATCH = f"{FACTS}; Tencent/ncnn issue 776 (it has no batch), pnnx/pnnx issue 44"


def has_batch(value: Value | None) -> bool:
    """Say whether pnnx takes the first axis of a tensor, of several sizes, for the batch."""
    size = None if value is None else value.dim(0)
    if value is None or size is None or size in (0, 1):
        return False
    return _is_of_batches((value, size))


@kept_stepwise(in_a_loop=False)
def _is_of_batches(asked: tuple[Value, int]) -> Generator[tuple[Value, int], bool, bool]:
    """Say whether an operator that knows its batch reads or makes a tensor, or what it is of."""
    value, size = asked
    if any(_begins(reader) and reader.input(0) == value for reader in _live(value)):
        return True
    maker = value.producer
    if maker is None:
        return False
    if _begins(maker):
        return True
    for operand in _followed(maker, value, size):
        if (yield operand, size):
            return True
    return False


def _live(value: Value) -> list[NodeView]:
    """Return what reads a tensor and is read itself."""
    found = [(reader, reader.output(0)) for reader in value.consumers]
    return [reader for reader, y in found if y is not None and (y.consumers or y.is_graph_output)]


def _begins(node: NodeView) -> bool:
    """Say whether an operator has its batch as the first axis of what it reads and gives."""
    x = node.input(0)
    if x is None or (x.rank or 0) < _MATRIX or not tells_batch(node):
        return False
    return node.op != "PRelu" or not is_one_element(node.input(1))  # that one is a LeakyRelu


def _followed(maker: NodeView, value: Value, size: int) -> list[Value]:
    """Return the operands of a node with the same first axis."""
    if maker.op in REDUCTIONS:
        axes = axes_of(maker)
        return [maker.need(0)] if axes and 0 not in axes else []
    if maker.op in COUNTED:
        x = maker.need(0)
        return [x] if x.dim(0) == size else []
    if maker.op == "Transpose":
        return [maker.need(0)] if list(maker.attr("perm", ()))[:1] == [0] else []
    if maker.op == "MatMul" and _is_of_rows(maker):
        return [maker.need(0)]
    if maker.op not in KEEPING:
        return []
    return [
        operand
        for operand in maker.inputs
        if operand is not None
        and not known_with_sizes(operand)
        and operand.rank == value.rank
        and operand.dim(0) == size
    ]


def _is_of_rows(product: NodeView) -> bool:
    """Say whether a MatMul takes each row of a tensor to a row, by constant weights."""
    x, weights = product.need(0), product.need(1)
    return (x.rank or 0) > _MATRIX and weights.rank == _MATRIX and known_with_sizes(weights)


def axes_of(node: NodeView) -> Sequence[int]:
    """Return the axes of a reduction from the front; none where they are not known."""
    x, given = node.input(0), node.input(1)
    axes = node.attr("axes", None) if given is None else given.array()
    rank = None if x is None else x.rank
    if not rank or (given is not None and axes is None):
        return ()
    if axes is None or not len(axes):
        return () if node.attr("noop_with_empty_axes", 0) else range(rank)
    return [int(axis) % rank for axis in axes]


@rule(
    REDUCTIONS,
    feature="form:{op}.batch",
    severity=WRONG,
    source=f"{FACTS}: over the first axis, with others and alone, kept or not; of one batch, where"
    " no operator tells of it, and where it is at another axis they are equal",
)
def reduction_over_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn drops the batch axis, so {op} over it reduces each item separately."""
    return 0 in axes_of(node) and has_batch(node.input(0))


@rule(
    ("LogSoftmax", "Softmax"),
    feature="form:{op}.batch",
    severity=WRONG,
    source=_NO_BATCH,
)
def shares_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn drops the batch axis and computes {op} along a different axis than ONNX."""
    x = node.input(0)
    if x is None or not x.rank:
        return False
    return int(node.attr("axis", -1)) % x.rank == 0 and has_batch(x)


@rule(
    "Gather",
    feature="form:Gather.batch",
    severity=WRONG,
    source=_NO_BATCH,
)
def one_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn drops the batch axis and gathers along a different axis than ONNX."""
    indices = node.input(1)
    taken = indices is not None and known_with_sizes(indices)
    return taken and int(node.attr("axis", 0)) == 0 and has_batch(node.input(0))


@rule(
    "Slice",
    feature="form:Slice.batch",
    severity=WRONG,
    source=_NO_BATCH,
)
def part_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn drops the batch axis and ignores a Slice along it."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or y.dim(0) is None:
        return False
    return y.dim(0) != x.dim(0) and has_batch(x)


@rule(
    ("Concat", "Split"),
    feature="form:{op}.batch",
    severity=REJECT,
    text="it gives nothing for output; ncnn does not load what pnnx wrote",
    source=_NO_BATCH,
)
def batches_joined_or_parted(node: NodeView, target: Target) -> Answer:
    """ncnn drops the batch axis and does not support {op} along it."""
    return int(node.attr("axis", 0)) == 0 and has_batch(node.input(0))


@rule(
    ("Gemm", "MatMul"),
    feature="form:{op}.batch",
    severity=WRONG,
    source=f"{FACTS}: rows after a Reshape from [1,2,24] to [2,24], with other operators between;"
    " from [2,4,1,6] they are equal, and so is a product with the batch at the second axis",
)
def rows_of_the_batch(node: NodeView, target: Target) -> Answer:
    """ncnn drops the batch axis, so {op} takes the wrong rows; ONNX keeps the axis."""
    x, other = node.input(0), node.input(1)
    if x is None or other is None:
        return False
    if node.op == "MatMul" and known_with_sizes(x):
        return other.rank == _MATRIX and has_batch(other)
    return known_with_sizes(other) and _is_restored(x)


def _is_restored(value: Value) -> bool:
    """Say whether a matrix of the batch comes of a tensor with the batch after axes of 1."""
    size = value.dim(0)
    if value.rank != _MATRIX or size is None:
        return False

    def first_before(each: Value) -> list[Value]:
        return [] if each.producer is None else _followed(each.producer, each, size)[:1]

    for each in islice(walk([value], first_before), FAR):
        maker = each.producer
        if maker is not None and maker.op in COUNTED:
            shape = maker.need(0).static_shape or ()
            rest = [length for length in shape if length != 1]
            return bool(shape) and shape[0] == 1 and rest[:1] == [size] and _was_batch(maker)
    return False


def _was_batch(reshape: NodeView) -> bool:
    """Say whether the first axis was the batch before axes of 1 were put in front of it."""
    return any(
        maker.op in COUNTED and has_batch(maker.input(0))
        for maker in islice(along_first_inputs(reshape.need(0)), FAR)
    )
