"""Compute in fewer dimensions than an engine has: between two Reshapes, or by two more of them.

What it does: Neighbouring dimensions of one kind become one, and those of size 1 are left out: a
    Reshape joins them, the operator computes with few, and another Reshape gives the sizes back.
When it refuses: Sizes are unknown or 0; the dimensions do not become fewer, or not few enough;
    something else reads what lies between.
Accuracy: Exact: the same values are moved or combined.
References: https://onnx.ai/onnx/operators/onnx__Reshape.html,
    https://onnx.ai/onnx/repo-docs/Broadcasting.html; measured with onnxruntime-qnn 2.7.0 and in the
    simulator of rknn-toolkit2 2.3.2
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import groupby, permutations
from math import prod
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, axes_of, need_rank, rewrite

_COMBINING = ("Add", "Div", "Mul", "Sub")
_REDUCING = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum")
_RESHAPING = ("Reshape", "Squeeze", "Unsqueeze")
_EACH = "Atan Ceil Cos Elu Floor HardSigmoid HardSwish Neg Round Sign Sin Softplus Sqrt Tanh"
_FEW, _SOME = 4, 5
_FAR = 6  # dimensions whose orders are all tried
_NUMBERS = 2**24  # of a constant that is repeated
Sizes = tuple[int, ...]
Turn = tuple[list[int], list[int]]


@rewrite(
    "Reshape", removes="rank:Reshape.*", emits=(*_COMBINING, "Reshape"), since=7, claims="nan inf"
)
def pairs_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Add and multiply pairs of tensors with the dimensions joined that neither broadcasts alone.

    Why engines need it: ncnn has no tensor of more than four dimensions next to a batch of 1.
        Relative positions of image transformers are sums of a row and a column, with five.
    Before:
        s = Add (a, b)                      a: [18, 3, 3, 3, 1], b: [18, 3, 3, 1, 3]
        y = Reshape <[9, 2, 9, 9]> (s)
    After:
        s = Add (Reshape <[162, 3, 1]> (a), Reshape <[162, 1, 3]> (b))
        y = Reshape <[9, 2, 9, 9]> (s)
    """
    maker = _made_by(node.need(0), *_COMBINING)
    pair = [one for one in maker.inputs if one is not None]
    whole, ends, *shapes = _known(node.need(0), node.output(0), *pair)
    full = [[1] * (len(whole) - len(shape)) + list(shape) for shape in shapes]
    ones = [tuple(size == 1 for size in sizes) for sizes in zip(*full, strict=True)]
    runs = _runs(ones, whole)
    if not len(runs) < len(whole) or len(runs) > _FEW:
        raise Refuse(f"{_FEW} dimensions at most must be left; {len(runs)} are")
    operands = [
        build.Reshape(_source(one), [1 if alone[place] else size for alone, size in runs])
        for place, one in enumerate(pair)
    ]
    return build.Reshape(build.node(maker.op, *operands), ends)


def _source(value: Value) -> Value:
    """Return the tensor that an operand is a Reshape of, where it has fewer dimensions itself."""
    maker = value.producer
    apart = maker is not None and not maker.domain and maker.op in ("Reshape", "Unsqueeze")
    source = maker.need(0) if maker is not None and apart else value
    _at_most(_FEW, source)
    return source


@rewrite(
    "Reshape", removes="rank:Reshape.*", emits=(*_COMBINING, "Reshape"), since=7, claims="nan inf"
)
def arithmetic_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Add, or multiply by, a constant without dimensions of size 1 that nothing needs.

    Why engines need it: ncnn has no tensor of more than four dimensions next to a batch of 1. Masks
        of shifted windows are added with five.
    Before:
        a = Reshape <[1, 4, 3, 49, 49]> (x)            # x: [4, 3, 49, 49]
        b = Add (a, m)                                 # m: [1, 4, 1, 49, 49], a constant
        y = Reshape <[4, 3, 49, 49]> (b)
    After:
        a = Reshape <[4, 3, 49, 49]> (x)
        b = Add (a, m)                                 # m: [4, 1, 49, 49]
        y = Reshape <[4, 3, 49, 49]> (b)
    """
    value = node.need(0)
    shape, ends = _known(value, node.output(0))
    kept = [axis for axis, size in enumerate(shape) if size != 1]
    if len(kept) == len(shape) or not kept:
        raise Refuse(f"some sizes must be 1, and others not; they are {list(shape)}")
    steps: list[tuple[str, Array, bool]] = []
    while (maker := _made_by(value, "Reshape", *_COMBINING)).op != "Reshape":
        first = maker.need(0).is_constant
        array = build.need_const(maker.need(0 if first else 1), "one operand")
        value = maker.need(1 if first else 0)
        if value.static_shape != shape:
            raise Refuse("a constant must not be larger than the tensor; one is")
        full = [1] * (len(shape) - array.ndim) + list(array.shape)
        steps.append((maker.op, np.reshape(array, [full[axis] for axis in kept]), first))
    if not steps:
        raise Refuse("something must be added or multiplied; nothing is")
    x = build.Reshape(maker.need(0), [shape[axis] for axis in kept])
    for op, array, first in reversed(steps):
        write: Callable[[Value | Array, Value | Array], Value] = getattr(build, op)
        x = write(array, x) if first else write(x, array)
    return build.Reshape(x, ends)


@rewrite(
    "Reshape",
    removes="rank:Expand.* rank:Reshape.* rank:Unsqueeze.*",
    emits="Expand Reshape",
    since=8,
    claims="nan inf",
)
def expand_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Repeat elements between two reshapes in the fewest dimensions that keep the axes apart.

    Why engines need it: QNN has no tensor of more than five dimensions; einops repeats patches with
        six.
    Before:
        a = Reshape <[2, 3, 2, 1, 3, 1]> (x)                        # x: [2, 3, 2, 3]
        b = Expand <[2, 3, 2, 2, 3, 2]> (a)
        y = Reshape <[2, 3, 4, 6]> (b)
    After:
        a = Reshape <[12, 1, 3, 1]> (x)
        b = Expand <[12, 2, 3, 2]> (a)
        y = Reshape <[2, 3, 4, 6]> (b)
    """
    x = _made_by(node.need(0), "Expand").need(0)
    before, after, ends = _known(x, node.need(0), node.output(0))
    full = (1,) * (len(after) - len(before)) + before
    runs = _runs([one != two for one, two in zip(full, after, strict=True)], after)
    if not runs or len(runs) >= len(after):
        raise Refuse("neighbouring axes must be of one kind; none are")
    while x.producer is not None and x.producer.op in _RESHAPING:
        x = x.producer.need(0)
    narrow = build.Reshape(x, [1 if repeated else size for repeated, size in runs])
    return build.Reshape(build.Expand(narrow, [size for _, size in runs]), ends)


@rewrite(
    _REDUCING,
    removes=tuple(f"rank:{op}.*" for op in _REDUCING),
    emits=(*_REDUCING, "Reshape"),
    claims="nan inf",
)
def reduction_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Reduce a reshaped tensor in the fewest dimensions that keep its axes apart.

    What it does: Where a tensor is reshaped, and perhaps transposed, before it is reduced,
        neighbouring axes that are reduced become one axis, and so do those that stay; the result is
        reshaped. A Transpose that leaves the order of what stays alone is left out.
    Why engines need it: QNN has no tensor of more than five dimensions; einops pools patches with
        six.
    Before:
        a = Reshape <[2, 3, 2, 2, 3, 2]> (x)                        # x: [2, 3, 4, 6]
        b = Transpose <perm = [0, 1, 2, 4, 3, 5]> (a)
        y = ReduceMax <axes = [4, 5], keepdims = 0> (b)
    After:
        a = Reshape <[12, 2, 3, 2]> (x)
        b = ReduceMax <axes = [1, 3], keepdims = 0> (a)
        y = Reshape <[2, 3, 2, 3]> (b)
    When it refuses: Sizes or axes are unknown, a size is 0, nothing is reduced; the tensor is not
        reshaped; the Transpose changes the order of what stays; the dimensions do not become fewer.
    Accuracy: Exact for maxima and minima; sums and means of floats up to the order of their terms.
    """
    x, given = node.need(0), node.input(1)
    axes = node.attr("axes", ()) if given is None else build.need_const(given, "the axes")
    shape, ends = _known(x, node.output(0))
    reduced = {int(axis) % len(shape) for axis in axes}
    if not reduced:
        raise Refuse("the axes must be given; none are")
    maker, order = x.producer, list(range(len(shape)))
    if maker is not None and maker.op == "Transpose":
        order = list(maker.attr("perm", ())) or order[::-1]
        maker = maker.need(0).producer
    if maker is None or maker.op != "Reshape":
        raise Refuse(f"{x.name} must be the output of a Reshape; it does not")
    staying = [order[axis] for axis in range(len(shape)) if axis not in reduced]
    if staying != sorted(staying):
        raise Refuse("the Transpose must keep the order of what stays; it does not")
    places = sorted(range(len(shape)), key=lambda axis: order[axis])
    runs = _runs([axis in reduced for axis in places], [shape[axis] for axis in places])
    if len(runs) >= len(shape) or not any(gone for gone, _ in runs):
        raise Refuse("neighbouring axes must be of one kind; none are")
    flat = build.Reshape(maker.need(0), [size for _, size in runs])
    along = [place for place, (gone, _) in enumerate(runs) if gone]
    return build.Reshape(build.node(node.op, flat, axes=along, keepdims=0), ends)


@rewrite("Reshape", removes="rank:Reshape.* rank:Transpose.*", emits="Reshape Transpose", since=5)
def transpose_of_fewer_dimensions(node: NodeView, build: Builder) -> Value:
    """Transpose blocks of a tensor without giving each its own dimension.

    Why engines need it: QNN has no tensor of more than five dimensions, and ncnn none of more than
        four next to a batch of 1. Windows of transformers and shuffled pixels are written with six,
        and with five.
    Before:
        a = Reshape <[2, 4, 7, 4, 7, 96]> (x)
        t = Transpose <perm = [0, 1, 3, 2, 4, 5]> (a)
        y = Reshape <[32, 49, 96]> (t)
    After:
        a = Reshape <[8, 7, 4, 672]> (x)
        t = Transpose <perm = [0, 2, 1, 3]> (a)
        y = Reshape <[32, 49, 96]> (t)
    """
    first, shape, order, ends = _turned_between(node, _SOME)
    sizes, perm = _blocks(shape, order)
    if len(sizes) > _SOME:
        raise Refuse(f"{_SOME} dimensions at most must be left; {len(sizes)} are")
    if len(sizes) == len(shape):
        raise Refuse(f"some of the {len(shape)} dimensions must stay together; none do")
    return build.Reshape(build.Transpose(build.Reshape(first, sizes), perm=perm), ends)


@rewrite("Reshape", removes="rank:Reshape.* rank:Transpose.*", emits="Reshape Transpose", since=5)
def transpose_in_two_turns(node: NodeView, build: Builder) -> Value:
    """Transpose many dimensions in two turns of few.

    What it does: Between a Reshape that splits dimensions and one that joins them, transposes
        twice, each time blocks of dimensions that stay side by side then.
    Why engines need it: ncnn has no tensor of more than four dimensions next to a batch of 1.
        Queries, keys and values of transformers are split with five, of which none stay side by
        side.
    Before:
        a = Reshape <[9, 9, 3, 2, 8]> (x)
        t = Transpose <perm = [2, 0, 3, 1, 4]> (a)
        y = Reshape <[3, 18, 9, 8]> (t)
    After:
        a = Reshape <[81, 3, 16]> (x)
        b = Reshape <[27, 9, 2, 8]> (Transpose <perm = [1, 0, 2]> (a))
        y = Reshape <[3, 18, 9, 8]> (Transpose <perm = [0, 2, 1, 3]> (b))
    """
    value, shape, order, ends = _turned_between(node, _FEW)
    for sizes, perm in _turns(*_blocks(shape, order)):
        value = build.Transpose(build.Reshape(value, sizes), perm=perm)
    return build.Reshape(value, ends)


def _turns(sizes: Sequence[int], order: Sequence[int]) -> tuple[Turn, Turn]:
    """Return two transpositions of few dimensions that do together what one does."""
    found: list[tuple[Turn, Turn]] = []
    if _FEW < len(sizes) <= _FAR:
        for start in permutations(range(len(sizes))):
            turned = [sizes[axis] for axis in start]
            rest = [start.index(axis) for axis in order]
            pair = _blocks(sizes, start), _blocks(turned, rest)
            if max(len(blocks) for blocks, _ in pair) <= _FEW:
                found.append(pair)
    if not found:
        raise Refuse(f"two turns of {_FEW} dimensions must make it; of {list(order)} none do")
    return min(found, key=lambda pair: sum(len(blocks) for blocks, _ in pair))


@rewrite(
    "Squeeze",
    removes="rank:Unsqueeze.* rank:Transpose.* rank:Squeeze.*",
    emits="Transpose",
    claims="nan inf",
)
def transpose_between_unsqueeze_and_squeeze(node: NodeView, build: Builder) -> Value:
    """Transpose without the axes of size 1 that are put in before and taken out after.

    What it does: Where the axes that an Unsqueeze puts in are those that a Squeeze takes out of
        the output of a Transpose of them, the others are transposed alone.
    Why engines need it: ncnn has tensors of four axes next to the batch, and the exporter of
        PyTorch takes the queries, keys and values of nn.MultiheadAttention apart with five.
    Before:
        u = Unsqueeze <axes = [0]> (x)                # x: float[5,2,3,8]
        t = Transpose <perm = [3, 1, 2, 0, 4]> (u)
        y = Squeeze <axes = [3]> (t)
    After: y = Transpose <perm = [2, 0, 1, 3]> (x)
    When it refuses: The axes are computed or left out, others go than came, the order is not
        explicit, a rank is unknown, or something else reads what lies between.
    """
    turn = _made_by(node.need(0), "Transpose")
    wide = _made_by(turn.need(0), "Unsqueeze")
    rank = need_rank(turn.need(0))
    perm = [int(axis) for axis in turn.attr("perm", ())]
    if sorted(perm) != list(range(rank)):
        raise Refuse("the order of the Transpose must be explicit; it is not")
    came, gone = _axes(wide, rank, build), {perm[axis] for axis in _axes(node, rank, build)}
    if came != gone:
        raise Refuse(f"the axes that came must go; {sorted(came)} came and {sorted(gone)} go")
    left = sorted(set(perm) - came)
    return build.Transpose(wide.need(0), perm=[left.index(axis) for axis in perm if axis in left])


def _axes(node: NodeView, rank: int, build: Builder) -> set[int]:
    """Return the axes of a Squeeze or Unsqueeze, counted from the front of the wider tensor."""
    axes = node.attr("axes") or axes_of(node.input(1), "the axes", build)
    if not axes:
        raise Refuse(f"the axes of the {node.op} must be explicit; they are not")
    return {int(axis) % rank for axis in axes}


@rewrite(
    _EACH,
    removes=" ".join(f"rank:{op}.5" for op in _EACH.split()),
    emits=("Reshape", _EACH),
    claims="nan inf",
)
def elementwise_of_four_dimensions(node: NodeView, build: Builder) -> Value:
    """Compute an operator of each number in four dimensions instead of five.

    Why engines need it: QNN leaves Sqrt, Tanh, Neg and others of five dimensions to the CPU.
    Before: y = Sqrt (x)                                   # x: [2, 3, 4, 5, 6]
    After: y = Reshape (Sqrt (Reshape (x, {6, 4, 5, 6})), {2, 3, 4, 5, 6})
    """
    return _of_four(node, build)


@rewrite(
    "Max Min", removes="rank:Max.5 rank:Min.5", emits="Max Min Reshape", since=8, claims="nan inf"
)
def larger_of_four_dimensions(node: NodeView, build: Builder) -> Value:
    """Take the larger or smaller of numbers in four dimensions instead of five.

    Why engines need it: QNN leaves Max and Min of floats of five dimensions to the CPU.
    Before: y = Max (x, 0.5)                               # x: [2, 3, 4, 5, 6]
    After: y = Reshape (Max (Reshape (x, {6, 4, 5, 6}), 0.5), {2, 3, 4, 5, 6})
    When it refuses: There are not five dimensions, or a size is open or 0; an operand is repeated
        along an axis.
    """
    return _of_four(node, build)


def _of_four(node: NodeView, build: Builder) -> Value:
    (sizes,) = _known(node.output(0))
    if len(sizes) != _SOME:
        raise Refuse(f"there must be {_SOME} dimensions; there are {len(sizes)}")
    joined = [sizes[0] * sizes[1], *sizes[2:]]
    given = [_in(joined, value, sizes, build) for value in node.inputs if value is not None]
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.Reshape(build.node(node.op, *given, **attributes), sizes)


@rewrite(
    "Where",
    removes=" ".join(f"rank:Where.{rank}" for rank in range(_SOME, 9)),
    emits="Reshape Where",
    since=9,
    claims="nan inf",
)
def where_of_one_dimension(node: NodeView, build: Builder) -> Value:
    """Choose between numbers of many dimensions in a row.

    Why engines need it: rknn-toolkit2 ends its process on Where of five dimensions and more.
    Before: y = Where (c, 0, x)                            # x: [2, 3, 4, 5, 6]
    After: y = Reshape (Where (Reshape (c, {720}), 0, Reshape (x, {720})), {2, 3, 4, 5, 6})
    When it refuses: There are fewer than five dimensions, or a size is open or 0; an operand that
        is computed is repeated along an axis.
    """
    (sizes,) = _known(node.output(0))
    if len(sizes) < _SOME:
        raise Refuse(f"there must be {_SOME} dimensions or more; there are {len(sizes)}")
    few = prod(sizes) <= _NUMBERS
    rows = [_in([prod(sizes)], node.need(at), sizes, build, constants=few) for at in range(3)]
    return build.Reshape(build.Where(*rows), sizes)


def _in(
    joined: list[int], value: Value, sizes: Sizes, build: Builder, *, constants: bool = False
) -> Value:
    """Return an operand in joined dimensions; one number as it is, `constants` repeated before."""
    shape = value.static_shape
    if shape == sizes:
        return build.Reshape(value, joined)
    if shape is not None and prod(shape) == 1:
        return value if len(shape) <= len(joined) else build.Reshape(value, [1])
    array = value.array() if constants else None
    if array is None:
        a_constant = "a constant, " if constants else ""
        raise Refuse(
            f"{value.name} must be {a_constant}a scalar or of the shape of the result; it is not"
        )
    return build.constant(np.broadcast_to(array, sizes).reshape(joined))


def _known(*values: Value | None) -> list[Sizes]:
    """Return the sizes of tensors, all known and none of them 0."""
    sizes = [None if value is None else value.static_shape for value in values]
    found = [one for one in sizes if one is not None and 0 not in one]
    if len(found) != len(sizes):
        raise Refuse("all sizes must be known and none of them 0")
    return found


def _at_most(most: int, value: Value) -> None:
    if value.rank is None or value.rank > most:
        raise Refuse(f"{value.name} must have {most} dimensions at most; it has {value.rank}")


def _made_by(value: Value, *ops: str) -> NodeView:
    """Return the node that computes a tensor by one of some operators, for one reader alone."""
    maker = value.producer
    if maker is None or maker.domain or maker.op not in ops:
        raise Refuse(f"{value.name} must be the output of {' or '.join(ops)}; it does not")
    if value.is_graph_output or len(value.consumers) != 1:
        raise Refuse(f"{value.name} must have one reader; it has others")
    return maker


def _runs(kinds: Sequence[Hashable], sizes: Sequence[int]) -> list[tuple[Any, int]]:
    """Return the kind of each run of neighbours of one kind, and its size.

    Axes of size 1 go with any neighbour.
    """
    several = [(kind, size) for kind, size in zip(kinds, sizes, strict=True) if size != 1]
    return [
        (kind, prod(size for _, size in run))
        for kind, run in groupby(several, key=lambda one: one[0])
    ]


def _turned_between(node: NodeView, most: int) -> tuple[Value, Sizes, list[int], Sizes]:
    """Return what a Transpose between two Reshapes turns.

    Returns:
        What the first Reshape reads, the sizes that it gives, the order into which these are
        transposed, and the sizes that the last one gives; both ends have `most` dimensions.
    """
    turn = _made_by(node.need(0), "Transpose")
    split, last = turn.need(0), node.output(0)
    first = _made_by(split, "Reshape").need(0)
    shape, ends = _known(split, last)
    for end in (first, last):
        if end is not None:
            _at_most(most, end)
    return first, shape, [int(axis) for axis in turn.attr("perm", range(len(shape))[::-1])], ends


def _blocks(shape: Sequence[int], order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the sizes of blocks that stay together, and how these are transposed."""
    runs: list[list[int]] = []
    for axis in (axis for axis in order if shape[axis] != 1):
        before = range(runs[-1][-1] + 1, axis) if runs else ()
        if runs and axis > runs[-1][-1] and all(shape[one] == 1 for one in before):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    starts = sorted(run[0] for run in runs)
    by_start = {run[0]: run for run in runs}
    sizes = [prod(shape[axis] for axis in by_start[start]) for start in starts]
    return sizes or [1], [starts.index(run[0]) for run in runs] or [0]
