"""Computed parameters of a site, driven through what their operators allow.

Pads, axes, steps and the like that come from outside are drawn tame by `graphfix.proving.inputs`,
so that a site runs at all. Here they are zero, negative, as large as a side and beyond; what the
original refuses is left out.

Which inputs are parameters says the schema of each operator: ONNX names them alike. Those of
`_MEANINGS` are followed back to the inputs of the site, through integer arithmetic too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto

import numpy as np
import onnx
from msgspec import Struct

from graphfix.ir.protos import all_nodes, required_inputs
from graphfix.operators.table import MOVES_FIRST
from graphfix.proving.inputs.uses import Use, consumers, reached
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating

_MOST = 48
# So many parameters of a site are driven, the first ones.
MOST_DRIVEN = 6
# A drawn size makes no tensor of more elements than this.
_MOST_ELEMENTS = 2**20
_FAR = (2**63 - 1, -(2**63), 2**63 - 2, -(2**63) + 1, 2**31 - 1, -(2**31))


class Meaning(Enum):
    """What the values of a parameter stand for."""

    PLACE = auto()  # along an axis, cut off at its ends
    STEP = auto()
    DIAGONAL = auto()
    PAD = auto()
    AXIS = auto()
    INDEX = auto()
    COUNT = auto()  # of what is made or taken
    TERM = auto()  # of a sequence of numbers
    SHAPE = auto()
    SCALE = auto()
    SHARE = auto()


# Input name in the schema -> meaning.
_MEANINGS: Mapping[str, Meaning] = {
    "starts": Meaning.PLACE,
    "ends": Meaning.PLACE,
    "steps": Meaning.STEP,
    "pads": Meaning.PAD,
    "axes": Meaning.AXIS,
    "axis": Meaning.AXIS,
    "position": Meaning.INDEX,
    "indices": Meaning.INDEX,
    "K": Meaning.COUNT,
    "M": Meaning.TERM,
    "repeats": Meaning.COUNT,
    "depth": Meaning.COUNT,
    "split": Meaning.COUNT,
    "size": Meaning.COUNT,
    "num_mel_bins": Meaning.COUNT,
    "start": Meaning.TERM,
    "limit": Meaning.TERM,
    "delta": Meaning.TERM,
    "dft_length": Meaning.COUNT,
    "frame_step": Meaning.COUNT,
    "max_output_boxes_per_class": Meaning.COUNT,
    "sequence_lens": Meaning.COUNT,
    "shape": Meaning.SHAPE,
    "sizes": Meaning.SHAPE,
    "image_shape": Meaning.SHAPE,
    "block_shape": Meaning.SHAPE,
    "scales": Meaning.SCALE,
    "ratio": Meaning.SHARE,
}
# Names that say something else, or too little, in these.
_OWN: Mapping[tuple[str, str], Meaning | None] = {
    ("Trilu", "k"): Meaning.DIAGONAL,
    ("ConstantOfShape", "input"): Meaning.SHAPE,
    # Writing twice to one place has no defined order.
    ("Scatter", "indices"): None,
    ("ScatterElements", "indices"): None,
    ("ScatterND", "indices"): None,
    ("Attention", "K"): None,
}
_UNLIMITED = frozenset({Meaning.PLACE, Meaning.DIAGONAL})
_SINCE_FROM_THE_END = 11

# Their first input comes out with its values as they are.
_CARRIERS = MOVES_FIRST | {"Cast"}
_ARITHMETIC = frozenset(
    {"Add", "Sub", "Mul", "Div", "Neg", "Abs", "Max", "Min", "Mod", "Where", "Concat", "Sum"}
)
_DEPTH = 8


class Parameter(Struct, frozen=True):
    """An input of a site that decides what one of its nodes does.

    Attributes:
        name: Of the input.
        use: Where it ends up.
        meaning: What its values stand for there.
        direct: Whether it gets there as it is, not through arithmetic.
    """

    name: str
    use: Use
    meaning: Meaning
    direct: bool


def meaning_of(use: Use, opset: int) -> Meaning | None:
    """Return what a node takes an input for; None where it is data, or no schema says it."""
    if use.node.domain not in ("", "ai.onnx"):
        return None
    try:
        schema = onnx.defs.get_schema(use.op, opset, "")
    except onnx.defs.SchemaError:
        return None
    if use.position >= len(schema.inputs):
        return None
    name = schema.inputs[use.position].name
    meaning = _OWN.get((use.op, name), _MEANINGS.get(name))
    if meaning is Meaning.INDEX and opset < _SINCE_FROM_THE_END:
        return None  # negative ones mean nothing
    return meaning


def parameters_of(model: onnx.ModelProto) -> list[Parameter]:
    """Return the inputs of a site that are computed parameters of its nodes."""
    opset = next((e.version for e in model.opset_import if e.domain in ("", "ai.onnx")), 0)
    if not any(meaning_of(u, opset) for u in _all_uses(model.graph)):
        return []
    readers = consumers(model.graph)
    found: list[Parameter] = []
    for info in required_inputs(model.graph):
        if info.type.WhichOneof("value") == "tensor_type":
            parameter = _parameter(info.name, readers, opset)
            if parameter is not None:
                found.append(parameter)
    return found


def _all_uses(graph: onnx.GraphProto) -> Iterator[Use]:
    for node in all_nodes(graph.node):
        yield from (Use(node, position) for position, name in enumerate(node.input) if name)


def _parameter(name: str, readers: Mapping[str, list[Use]], opset: int) -> Parameter | None:
    for use, direct in reached(name, readers, _continues, _DEPTH):
        meaning = meaning_of(use, opset)
        if meaning is not None:
            return Parameter(name, use, meaning, direct)
    return None


def _continues(use: Use) -> bool:
    return (use.op in _CARRIERS and use.position == 0) or use.op in _ARITHMETIC


def driven(
    parameters: Sequence[Parameter], feed: Feed, rng: np.random.Generator
) -> Iterator[tuple[str, Feed]]:
    """Yield input sets in which parameters are at the ends of what is allowed, and beyond.

    Args:
        parameters: Those of the site.
        feed: An input set that the original runs with.
        rng: Which of the numbers come together.

    Yields:
        The name of the parameter, empty where all of them were drawn; and the input set.
    """
    ranges = {p.name: _numbers(p, feed) for p in parameters}
    given = [p for p in parameters if _is_drawable(feed.get(p.name))]
    count = 0
    for parameter in given:
        for array in _arrays(parameter, feed, ranges[parameter.name], rng):
            fresh: Feed = {**feed, parameter.name: array}
            if count < _MOST and not _same([parameter], fresh, feed) and _fits([parameter], fresh):
                count += 1
                yield parameter.name, fresh
    for _ in range(min(_MOST, 8 * len(given)) if len(given) > 1 else 0):
        together: Feed = dict(feed)
        for parameter in given:
            together[parameter.name] = _mixed(parameter, feed, ranges[parameter.name], rng)
        if not _same(given, together, feed) and _fits(given, together):
            yield "", together


def _same(parameters: Sequence[Parameter], one: Feed, two: Feed) -> bool:
    return all(np.array_equal(np.asarray(one[p.name]), np.asarray(two[p.name])) for p in parameters)


def _is_drawable(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0 and value.dtype.kind in "iuf"


def _side(parameter: Parameter, feed: Feed) -> int:
    """Return a size of what the parameter is for."""
    data = feed.get(parameter.use.node.input[0]) if parameter.use.node.input else None
    if isinstance(data, np.ndarray) and data.ndim:
        axis = next((a.i for a in parameter.use.node.attribute if a.name == "axis"), -1)
        return int(data.shape[axis if -data.ndim <= axis < data.ndim else -1])
    return 4


def _least_side(parameter: Parameter, feed: Feed) -> int:
    data = feed.get(parameter.use.node.input[0])
    return min(data.shape, default=0) if isinstance(data, np.ndarray) else 1


def _numbers(parameter: Parameter, feed: Feed) -> list[float]:
    """Return the numbers to try, the most telling first."""
    side = _side(parameter, feed)
    table: dict[Meaning, Sequence[float]] = {
        Meaning.PLACE: (0, -1, 1, side, -side, side - 1, side + 3, -side - 1, *_FAR),
        Meaning.STEP: (-1, 2, -2, 1, 3, side + 1, -side - 1, 2**31 - 1),
        Meaning.DIAGONAL: (0, -1, 1, 2, side, -side, side + 5, -side - 5, *_FAR),
        Meaning.PAD: (-1, 0, 1, 2, -2, side - 1, -side, side, 9),
        Meaning.AXIS: (0, -1, 1, -2, 2),
        Meaning.INDEX: (0, -1, side - 1, -side),
        # No operator allows a negative one, and Tile of onnxruntime ends its process.
        Meaning.COUNT: (0, 1, 2, 3, side, 5),
        Meaning.TERM: (0, 1, -1, 2, 7, -3, side),
        Meaning.SHAPE: (0, 1, -1, 2, side, 3),
        Meaning.SCALE: (1.0, 2.0, 0.5, 3.0, 1 / 3, 0.6, 1.7),
        Meaning.SHARE: (0.0, 0.5, 0.25, 0.99),
    }
    found = list(table[parameter.meaning])
    if parameter.meaning is Meaning.PAD:
        # No one says what cropping more than there is gives.
        found = [n for n in found if n >= -_least_side(parameter, feed)]
    if not parameter.direct and parameter.meaning in (Meaning.PAD, Meaning.COUNT):
        found = [0, 1, 2, 3]
    elif not parameter.direct:
        found += [0, 1, -1, 2, 3, -2, -3, 7, side, -side]
    return list(dict.fromkeys(found))


def _arrays(
    parameter: Parameter, feed: Feed, numbers: Sequence[float], rng: np.random.Generator
) -> Iterator[Array]:
    """Yield a number everywhere, and at one place among what suits the rest."""
    natural = feed[parameter.name]
    assert isinstance(natural, np.ndarray)
    if parameter.meaning is Meaning.AXIS and natural.size > 1:
        rank = int(natural.max()) + 1
        yield (natural - rank).astype(natural.dtype)
        return
    if parameter.meaning is Meaning.COUNT and natural.size > 1:
        whole = natural.copy()  # parts of the same sum, of which one is nothing
        whole.reshape(-1)[0] += whole.reshape(-1)[-1]
        whole.reshape(-1)[-1] = 0
        yield whole
    for number in numbers:
        if not _holds(natural, number):
            continue
        if natural.size == 1 or parameter.meaning is not Meaning.SCALE:
            yield np.full_like(natural, number)
        if natural.size > 1:
            alone = natural.copy()
            alone.reshape(-1)[rng.integers(0, natural.size)] = number
            yield alone
            last = natural.copy()
            last.reshape(-1)[-1] = number
            yield last
    if natural.size > 1:
        yield natural.reshape(-1)[::-1].reshape(natural.shape).copy()


def _mixed(
    parameter: Parameter, feed: Feed, numbers: Sequence[float], rng: np.random.Generator
) -> Array:
    natural = feed[parameter.name]
    assert isinstance(natural, np.ndarray)
    possible = [n for n in numbers if _holds(natural, n)]
    if not possible or (parameter.meaning is Meaning.AXIS and natural.size > 1):
        return natural
    chosen = np.array(possible, dtype=natural.dtype)[rng.integers(0, len(possible), natural.shape)]
    return np.where(rng.random(natural.shape) < 0.7, chosen, natural)


def _holds(array: Array, number: float) -> bool:
    if is_floating(array.dtype):
        return abs(number) < 2**24
    limits = np.iinfo(array.dtype)
    return int(limits.min) <= number <= int(limits.max) and number == int(number)


def _fits(parameters: Sequence[Parameter], feed: Feed) -> bool:
    """Say whether no tensor gets big, whatever the numbers are multiplied with."""
    largest = max((v.size for v in feed.values() if isinstance(v, np.ndarray)), default=1)
    rank = max((v.ndim for v in feed.values() if isinstance(v, np.ndarray)), default=1)
    total = max(largest, 1)
    for parameter in parameters:
        value = feed[parameter.name]
        if parameter.meaning in _UNLIMITED or parameter.meaning is Meaning.STEP:
            continue
        assert isinstance(value, np.ndarray)
        sizes = [max(abs(float(v)), 1.0) for v in value.reshape(-1)]
        if parameter.meaning is Meaning.PAD:
            total *= int((1 + 2 * max(sizes)) ** min(rank, len(sizes)))
        elif value.size > 16:
            continue  # indices and lengths: nothing is made of their number
        else:
            total *= int(math.prod(sizes))
    return total <= _MOST_ELEMENTS
