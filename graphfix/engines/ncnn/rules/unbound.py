"""ncnn: softsign and torch.unbind, which it has no layer for, and five axes that were turned.

convert_batch_layout.cpp of tools/pnnx/src/pass_ncnn lays a tensor out with its batch for operators
that are not in its lists where the batch is not the first axis; of five axes that is too many.
"""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.memo import kept, kept_stepwise
from graphfix.engines.ncnn.rules import FACTS, RANK
from graphfix.engines.ncnn.rules.constants import is_one_element
from graphfix.engines.ncnn.rules.ranks import tells_batches
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, rule
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE, REDUCTIONS

# Those that convert_batch_layout.cpp has in no list, and those that become a UnaryOp or a BinaryOp.
_UNLISTED = (
    *("Abs", "Acos", "Add", "Asin", "Atan", "Ceil", "Cos", "Div", "Erf", "Exp", "Expand", "Floor"),
    *("HardSigmoid", "Log", "LogSoftmax", "Max", "Min", "Mul", "Neg", "Pow", "Reciprocal", "Round"),
    *("Sign", "Sin", "Softmax", "Sqrt", "Sub", "Tan", *REDUCTIONS),
)


@rule(
    "Add",
    feature="form:Add.softsign",
    severity=REJECT,
    text="layer F.softsign not exists or registered",
    source=f"{FACTS}: tools/pnnx/src/pass_level2/F_softsign.cpp; equal with the 1 in front, and"
    " where the size or the sum is read once more",
)
def sum_of_a_softsign(node: NodeView, target: Target) -> Answer:
    """pnnx fuses x / (|x| + 1) into Softsign, which ncnn does not have."""
    size, one, y = node.input(0), node.input(1), node.output(0)
    maker = None if size is None else size.producer
    if size is None or one is None or y is None or maker is None or maker.op != "Abs":
        return False
    if len(size.consumers) != 1 or size.is_graph_output or not is_one_element(one):
        return False
    if len(y.consumers) != 1 or y.is_graph_output or y.consumers[0].op != "Div":
        return False
    number, quotient = one.array(), y.consumers[0]
    fits = quotient.input(1) == y and quotient.input(0) == maker.input(0)
    return fits and (number is None or bool((number == 1).all()))


@rule(
    ("Gather", "Slice"),
    feature="form:{op}.unbind",
    severity=REJECT,
    text="layer Tensor.reshape, torch.unbind not exists or registered",
    source=f"{FACTS}: tools/pnnx/src/pass_level5/fuse_select_to_unbind.cpp;"
    " convert_batch_layout.cpp of pass_ncnn lays out what it reads with the batch, wherever it is,"
    " which are five axes then;"
    " equal where a part is taken otherwise, as by Split, where one is left, or the batch is first",
)
def all_parts_of_five_axes(node: NodeView, target: Target) -> Answer:
    """pnnx fuses the {op} of all parts of an axis into torch.unbind, which needs a fifth axis."""
    x = node.input(0)
    if x is None or x.rank != RANK + 1 or not tells_batches(node.graph):
        return False
    part = _part(node)
    if part is None:
        return False
    axis, _ = part
    parts = {found for reader in x.consumers if (found := _part(reader)) is not None}
    return {(axis, index) for index in range(x.dim(axis) or 0)} <= parts and _is_turned((x, 0))


@rule(
    _UNLISTED,
    feature="rank:{op}.5",
    severity=REJECT,
    text="layer Tensor.reshape not exists or registered",
    source=f"{FACTS}: with the batch at the second of five axes; at the first, and for other"
    " operators of numbers and of axes, they are equal",
)
def five_axes_with_a_turned_batch(node: NodeView, target: Target) -> Answer:
    """ncnn supports {op} of four axes and the batch only where the batch is the first axis."""
    if not tells_batches(node.graph):
        return False
    return any(
        value.rank == RANK + 1 and _is_turned((value, 0))
        for value in node.inputs
        if value is not None and not value.is_constant
    )


@kept
def _part(node: NodeView) -> tuple[int, int] | None:
    """Return the axis and the place where a node takes one part and drops the axis."""
    x, y = node.input(0), node.output(0)
    if x is None or y is None or x.rank is None or node.op not in ("Gather", "Slice"):
        return None
    if node.op == "Gather":
        index, taken = node.need(1).array(), int(node.attr("axis", 0)) % x.rank
        size = x.dim(taken)
        return None if index is None or index.ndim or not size else (taken, int(index) % size)
    reader = y.consumers[0] if len(y.consumers) == 1 and not y.is_graph_output else None
    if reader is None or reader.op != "Squeeze":
        return None
    starts, ends, steps = (_only(node, place) for place in (1, 2, 4))
    axis, dropped = _only(node, 3), _only(reader, 1)
    if dropped is None and reader.has("axes") and len(reader.attr("axes")) == 1:
        dropped = int(reader.attr("axes")[0])
    if starts is None or ends is None or axis is None or dropped is None or steps not in (None, 1):
        return None
    axis %= x.rank
    size = x.dim(axis)
    if not size or dropped % x.rank != axis or min(ends, size) - starts != 1:
        return None
    return axis, starts


def _only(node: NodeView, place: int) -> int | None:
    """Return the one number of a constant input; None where it holds others or is left out."""
    value = node.input(place)
    array = None if value is None else value.array()
    return None if array is None or array.size != 1 else int(array.reshape(()))


@kept_stepwise(in_a_loop=False)
def _is_turned(asked: tuple[Value, int]) -> Generator[tuple[Value, int], bool, bool]:
    """Say whether an axis was another one than the first before it was turned."""
    value, axis = asked
    maker = value.producer
    if maker is None:
        return axis != 0
    if maker.op == "Transpose":
        perm = list(maker.attr("perm", range((value.rank or 0) - 1, -1, -1)))
        return (yield maker.need(0), int(perm[axis]))
    if maker.op in ELEMENTWISE and maker.need(0).rank == value.rank:
        return (yield maker.need(0), axis)
    return axis != 0
