"""Rules of operators that compute: element by element, products, windows, recurrences."""

from __future__ import annotations

from collections.abc import Callable

from graphfix.edits.by_item.known import FIXED, Known, Operation
from graphfix.edits.by_item.linear import UndecidedError

Rule = Callable[[Operation], "list[Known | None]"]

_ELEMENTWISE = (
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot "
    "BitwiseOr BitwiseXor Cast Ceil Celu Clip Cos Cosh Div Elu Equal Erf Exp Floor Gelu "
    "Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less "
    "LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round "
    "Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh "
    "ThresholdedRelu Where Xor "
)
ELEMENTWISE = frozenset(_ELEMENTWISE.split())


def together(operation: Operation, *places: int) -> Known:
    """Return what comes of inputs that are brought to one shape: items stay by themselves.

    Raises:
        UndecidedError: Items of one input would meet other sizes than those items of another.
    """
    given = [place for place in places if operation.has(place)]
    if any(operation.known(each).axis is None for each in given):
        operation.need_fixed(*(each for each in given if operation.known(each).axis is None))
    ranks = {place: operation.rank(place) for place in given}
    most = max(ranks.values(), default=0)
    where = {
        axis + most - ranks[place]
        for place in given
        if (axis := operation.known(place).axis) is not None
    }
    if not where:
        return FIXED
    if len(where) > 1:
        raise UndecidedError("meets items along two axes")
    (axis,) = where
    counts: set[int] = set()
    for place in given:
        at = axis - most + ranks[place]
        if at < 0:
            continue
        size = operation.sizes(place)[at]
        if size.fixed and size.base != 1:
            raise UndecidedError(f"meets {size.base or 'fixed sizes'} along the axis of the items")
        if not size.fixed:
            counts.add(size.slope)
    if len(counts) > 1:
        raise UndecidedError("meets items of two sizes")
    return Known(axis)


def elementwise(operation: Operation) -> list[Known | None]:
    """Element by element."""
    if operation.opset < 7 and len(operation.inputs) > 1:
        ranks = {operation.rank(place) for place in range(len(operation.inputs))}
        if operation.node.op_type == "PRelu" or len(ranks) > 1:
            raise UndecidedError("brings shapes together by rules of an old opset")
    found = together(operation, *range(len(operation.inputs)))
    return [found] * len(operation.node.output)


def _data_axis(operation: Operation, *adjacent: int) -> int:
    """Return the axis of the items of the first input; all others are fixed, but for `next to`."""
    operation.need_fixed_but(0, *adjacent)
    axis = operation.known(0).axis
    if axis is None:
        raise UndecidedError("takes a value there that depends on the items or the size")
    return axis


def _same(operation: Operation, axis: int) -> list[Known | None]:
    return [Known(axis)] * len(operation.node.output)


def dropout(operation: Operation) -> list[Known | None]:
    """Dropout that drops nothing."""
    axis = _data_axis(operation)
    if operation.has(2) and operation.integers(2) != [0]:
        raise UndecidedError("draws numbers")
    if operation.opset < 7 and not operation.attribute("is_test", 0):
        raise UndecidedError("draws numbers")
    return _same(operation, axis)


def quantized(operation: Operation) -> list[Known | None]:
    """QuantizeLinear, DequantizeLinear: one scale, or one for each place along another axis."""
    axis = _data_axis(operation)
    rank = operation.rank(0)
    if operation.attribute("block_size", 0):
        raise UndecidedError("has scales for blocks")
    if operation.rank(1) and operation.axis("axis", 1, rank) == axis:
        sizes = operation.sizes(1)
        if any(size.base != 1 for size in sizes):
            raise UndecidedError("has a scale for each item")
    return _same(operation, axis)


def _product(operation: Operation, one: int, other: int) -> Known:
    """Return what comes of a matrix product of two inputs."""
    a, b = operation.known(one), operation.known(other)
    operation.need_fixed(*(at for at, each in ((one, a), (other, b)) if each.axis is None))
    ranks = operation.rank(one), operation.rank(other)
    if min(ranks) < 2:
        if a.axis is None or b.axis is not None or a.axis == ranks[0] - 1 or ranks[1] != 1:
            raise UndecidedError("multiplies items with each other")
        return Known(a.axis)
    most = max(ranks)
    from_end = [
        None if each.axis is None else each.axis - rank
        for each, rank in zip((a, b), ranks, strict=True)
    ]
    if from_end[0] == -1 or from_end[1] == -2:
        raise UndecidedError("adds items up")
    rows, columns = from_end[0] == -2, from_end[1] == -1
    if rows or columns:
        if (b if rows else a).axis is not None:
            raise UndecidedError("multiplies items with each other")
        return Known(most - (2 if rows else 1))
    where = {each for each in from_end if each is not None}
    if len(where) > 1:
        raise UndecidedError("meets items along two axes")
    (axis,) = where
    counts: set[int] = set()
    for place, rank in ((one, ranks[0]), (other, ranks[1])):
        if rank + axis < 0:
            continue
        size = operation.sizes(place)[rank + axis]
        if size.fixed and size.base != 1:
            raise UndecidedError("meets another size along the axis of the items")
        if not size.fixed:
            counts.add(size.slope)
    if len(counts) > 1:
        raise UndecidedError("meets items of two sizes")
    return Known(most + axis)


def matmul(operation: Operation) -> list[Known | None]:
    """MatMul, MatMulInteger; zero points are one number, or belong to columns that are fixed."""
    operation.need_fixed_but(0, 1)
    found = _product(operation, 0, 1)
    _one_number(operation, 2)
    if operation.known(1).axis is not None:
        _one_number(operation, 3)
    return [found]


def qlinear_matmul(operation: Operation) -> list[Known | None]:
    """QLinearMatMul: scales as the zero points of `matmul`."""
    operation.need_fixed_but(0, 3)
    found = _product(operation, 0, 3)
    _one_number(operation, 1, 2, 6, 7)
    if operation.known(3).axis is not None:
        _one_number(operation, 4, 5)
    return [found]


def _one_number(operation: Operation, *places: int) -> None:
    for place in places:
        if operation.has(place) and any(size.base != 1 for size in operation.sizes(place)):
            raise UndecidedError("has a scale for each row")


def gemm(operation: Operation) -> list[Known | None]:
    """Gemm whose first matrix has the items as rows."""
    operation.need_fixed_but(0, 2)
    rows = 1 if operation.attribute("transA", 0) else 0
    if operation.known(0).axis != rows:
        raise UndecidedError("adds items up")
    if operation.has(2):
        rank = operation.rank(2)
        third = operation.known(2)
        if third.axis is None:
            operation.need_fixed(2)
        if third.axis not in (None, rank - 2):
            raise UndecidedError("meets items along two axes")
        if rank == 2:
            size = operation.sizes(2)[0]
            if size.fixed and size.base != 1:
                raise UndecidedError("meets another size along the axis of the items")
            if not size.fixed and size.slope != operation.sizes(0)[rows].slope:
                raise UndecidedError("meets items of two sizes")
    return [Known(0)]


def convolution(operation: Operation) -> list[Known | None]:
    """Windows that slide over images: each image by itself."""
    if _data_axis(operation) != 0:
        raise UndecidedError("mixes its channels and places")
    return _same(operation, 0)


def deformed(operation: Operation) -> list[Known | None]:
    """DeformConv, GridSample: images with offsets of their own."""
    adjacent = (2, 4) if operation.node.op_type == "DeformConv" else (1,)
    operation.need_fixed_but(0, *adjacent)
    places = [0, *(each for each in adjacent if operation.has(each))]
    if any(operation.known(each).axis != 0 for each in places):
        raise UndecidedError("mixes its items")
    if len({operation.sizes(each)[0].slope for each in places}) > 1:
        raise UndecidedError("meets items of two sizes")
    return [Known(0)]


def regions(operation: Operation) -> list[Known | None]:
    """RoiAlign: each region by itself, of an image that is fixed."""
    operation.need_fixed_but(1, 2)
    if any(operation.known(place).axis != 0 for place in (1, 2)):
        raise UndecidedError("mixes its items")
    return [Known(0)]


def pooling(operation: Operation) -> list[Known | None]:
    """Windows that mix no channels; places within the whole tensor are not followed."""
    axis = _data_axis(operation)
    if axis > 1:
        raise UndecidedError("mixes places")
    others: list[Known | None] = [None] * (len(operation.node.output) - 1)
    return [Known(axis), *others]


def normalized_by_channel(operation: Operation) -> list[Known | None]:
    """BatchNormalization with stored numbers; InstanceNormalization and such within an item."""
    if _data_axis(operation) != 0:
        raise UndecidedError("mixes its channels and places")
    if operation.attribute("training_mode", 0) or len(operation.node.output) > 1:
        raise UndecidedError("computes numbers over all items")
    trains = operation.opset < 7 and not operation.attribute("is_test", 0)
    if trains and operation.node.op_type == "BatchNormalization":
        raise UndecidedError("computes numbers over all items")
    if operation.opset < 9 and not operation.attribute("spatial", 1):
        raise UndecidedError("has numbers for each place")
    return [Known(0)]


def normalized_after(operation: Operation) -> list[Known | None]:
    """LayerNormalization, RMSNormalization: over the axes from one on."""
    axis, rank = _data_axis(operation), operation.rank(0)
    first = operation.axis("axis", -1, rank)
    if axis >= first:
        raise UndecidedError("adds items up")
    for place in (1, 2):
        at = operation.rank(place) - rank + axis if operation.has(place) else -1
        if at >= 0 and operation.sizes(place)[at].base != 1:
            raise UndecidedError("meets another size along the axis of the items")
    return _same(operation, axis)


def along_axis(default: int) -> Rule:
    """Return the rule of operators that mix one axis: LpNormalization, LRN (the channels), ..."""

    def rule(operation: Operation) -> list[Known | None]:
        axis = _data_axis(operation)
        if axis == operation.axis("axis", default, operation.rank(0)):
            raise UndecidedError("mixes items")
        return _same(operation, axis)

    return rule


def softmax(operation: Operation) -> list[Known | None]:
    """Softmax and its kin: over one axis, before opset 13 over all from one on."""
    if operation.opset >= 13:
        return along_axis(-1)(operation)
    axis = _data_axis(operation)
    if axis >= operation.axis("axis", 1, operation.rank(0)):
        raise UndecidedError("mixes items")
    return _same(operation, axis)


def recurrent(operation: Operation) -> list[Known | None]:
    """LSTM, GRU, RNN: sequences by themselves."""
    turned = bool(operation.attribute("layout", 0))
    batch = 0 if turned else 1
    operation.need_fixed(1, 2, 3, 7)
    counts: set[int] = set()
    for place, axis in ((0, batch), (4, 0), (5, batch), (6, batch)):
        if operation.has(place):
            if operation.known(place).axis != axis:
                raise UndecidedError("reads states or lengths that are not one for each item")
            counts.add(operation.sizes(place)[axis].slope)
    if len(counts) > 1:
        raise UndecidedError("meets items of two sizes")
    found: list[Known | None] = [Known(0 if turned else 2), Known(batch), Known(batch)]
    return found[: len(operation.node.output)]


def einsum(operation: Operation) -> list[Known | None]:
    """Einsum in which one letter stands for the items, and is not summed over."""
    text = str(operation.attribute("equation", "")).replace(" ", "")
    if "->" not in text or "." in text:
        raise UndecidedError("has an equation that is not followed")
    left, result = text.split("->")
    terms = left.split(",")
    letters: set[str] = set()
    for place, term in enumerate(terms):
        axis = operation.known(place).axis
        if len(set(term)) != len(term) or len(term) != operation.rank(place):
            raise UndecidedError("has an equation that is not followed")
        if axis is None:
            operation.need_fixed(place)
        else:
            letters.add(term[axis])
    if len(letters) != 1:
        raise UndecidedError("meets items along two axes")
    (letter,) = letters
    counts: set[int] = set()
    for place, term in enumerate(terms):
        if letter in term:
            size = operation.sizes(place)[term.index(letter)]
            if size.fixed:
                raise UndecidedError("meets another size along the axis of the items")
            counts.add(size.slope)
    if len(counts) > 1 or letter not in result or len(set(result)) != len(result):
        raise UndecidedError("adds items up")
    return [Known(result.index(letter))]


ARITHMETIC: dict[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE, elementwise),
    "Dropout": dropout,
    "QuantizeLinear": quantized,
    "DequantizeLinear": quantized,
    "MatMul": matmul,
    "MatMulInteger": matmul,
    "QLinearMatMul": qlinear_matmul,
    "Gemm": gemm,
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose", "QLinearConv"), convolution),
    "DeformConv": deformed,
    "GridSample": deformed,
    "RoiAlign": regions,
    **dict.fromkeys(
        ("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MaxPool"),
        pooling,
    ),
    **dict.fromkeys(
        ("BatchNormalization", "GroupNormalization", "InstanceNormalization"),
        normalized_by_channel,
    ),
    "LayerNormalization": normalized_after,
    "RMSNormalization": normalized_after,
    "LRN": along_axis(1),
    "LpNormalization": along_axis(-1),
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax"), softmax),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), recurrent),
    "Einsum": einsum,
}
