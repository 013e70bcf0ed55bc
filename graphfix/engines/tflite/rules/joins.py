"""TFLite: tensors of one shape, which onnx2tf joins along another axis of the same size.

Its ``ops/Concat.py`` tries the axes from the last one on, with what a run on inputs of ones gives,
and takes the first whose result is ONNX's but for the order of its axes. Of axes of size 1 any
two give that; of larger ones they do where the numbers are the same along both.
"""

from __future__ import annotations

from collections.abc import Generator

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import after, kept_stepwise
from graphfix.analysis.shape_only_values import counted_late
from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.engines.tflite.rules.equal_sizes import varies
from graphfix.engines.tflite.rules.layouts import is_laid_out_as_image
from graphfix.ir.views import NodeView, Value

_RECURRENT = frozenset({"GRU", "LSTM", "RNN"})
_PAIR = 2
_LINES = 3  # the least rank whose channels are put last

Sizes = list[int | str | None]


@rule(
    "Concat",
    feature="form:Concat.equal-axes",
    severity=WRONG,
    source=f"{MEASURED}: ops/Concat.py, min_abs_err_axis; facts/asked.json, joined-*",
)
def joined_along_another_axis(node: NodeView, target: Target) -> Answer:
    """onnx2tf joins tensors along a later axis of the same size as the one ONNX names."""
    given = [value for value in node.inputs if value is not None]
    if len(given) < _PAIR or any(map(known_with_sizes, given)) or not _is_read(node.output(0)):
        return False
    axis, rank = int(node.attr("axis", 0)), given[0].rank
    if rank is None:
        return Unknown(f"rank of {given[0].name}") if axis != -1 else False
    if not rank or any(value.rank not in (None, rank) for value in given):
        return False  # no valid Concat
    axis %= rank
    images = [is_laid_out_as_image(value) for value in given]
    if axis == rank - 1 or all(images):
        return False
    shapes = [list(value.shape or [None] * rank) for value in given]
    if any(images):  # the others are brought in line with it
        shapes = [[shape[0], *shape[2:], shape[1]] for shape in shapes]
        axis = [0, rank - 1, *range(1, rank - 1)][axis]
    sizes = _common(shapes)
    if sizes is None or _is_searched(sizes, len(given)) or any(map(counted_late, given)):
        return False  # sizes that numbers decide on are none to onnx2tf, which tries no axes then
    return _answer(sizes, axis, given)


def _is_read(value: Value | None) -> bool:
    return value is not None and (value.is_graph_output or bool(value.consumers))


def _answer(sizes: Sizes, axis: int, given: list[Value]) -> Answer:
    """Say whether another axis is found for tensors of the sizes that TensorFlow has."""
    size, later = sizes[axis], sizes[axis + 1 :]
    if axis == 1 and len(sizes) >= _LINES and size is not None and {*later} == {size}:
        return False  # along the last, as an image in its layout is joined
    if isinstance(size, int) and size in later:
        other = len(sizes) - 1 - later[::-1].index(size)
        if size == 1 or not any(map(varies, given)):
            return Yes(message=f"onnx2tf joins along axis {other}, which has size {size} too")
        if any(_differs_between(value, (axis, other)) for value in given):
            return False
        return Unknown("whether values differ along both axes when all inputs are 1")
    is_open = not all(isinstance(each, int) for each in (size, *later))
    if is_open and any(map(_is_of_open_sizes, given)):
        return Unknown(f"sizes of {given[0].name}")
    return False


def _differs_between(value: Value, axes: tuple[int, int]) -> bool:
    """Say whether what inputs of ones give is surely another along one of two axes.

    So are the last states of a recurrent layer of two directions, whose weights differ.
    """
    maker = value.producer
    if maker is None or maker.op not in _RECURRENT or maker.output(0) == value:
        return False
    weights = maker.need(1).array()
    return 0 in axes and weights is not None and bool((weights[:1] != weights[-1:]).any())


@kept_stepwise(in_a_loop=False)
def _is_of_open_sizes(value: Value) -> Generator[Value, bool, bool]:
    """Say whether sizes that an input leaves open may have a part in those of a tensor."""
    if value.static_shape is not None:
        return False
    if value.producer is None:
        return True
    for operand in after(value):
        if (yield operand):
            return True
    return False


def _common(shapes: list[Sizes]) -> Sizes | None:
    """Return the sizes of several shapes, as far as one has them; None where they differ."""
    found: Sizes = []
    for sizes in zip(*shapes, strict=True):
        known = {size for size in sizes if isinstance(size, int)}
        if len(known) > 1:
            return None
        found.append(known.pop() if known else sizes[0])
    return found


def _is_searched(sizes: Sizes, count: int) -> bool:
    """Say whether the axis stays, for orders of the axes of two tensors are tried instead."""
    after_first = {*sizes[1:]}
    return (
        count == _PAIR
        and len(sizes) >= _LINES
        and len(after_first) == 1
        and None not in after_first
    )
