"""Inputs that wrong rewrites stumble over: zeros, ones, negatives, ties, edges, large numbers.

Sizes, indices, masks and everything else that must suit its use come from
`graphfix.proving.inputs`; what may be any number is replaced by the values of a style. NaN and
infinities come where the passes of a site claim them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.ir.protos import required_inputs
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.proving.inputs import draws, roles
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.uses import Use, attribute_of, consumers, int_attribute, uses_of
from graphfix.proving.sites.indices import counted_from_the_end
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, is_integer


class Style(StrEnum):
    """What the free inputs of a sample are made of."""

    NATURAL = "natural"
    TIES = "ties"
    NEGATIVE = "negative"
    EDGES = "edges"
    SMALL = "small"
    ONES = "ones"
    ZEROS = "zeros"
    LARGE = "large"
    OTHER = "other"
    WIDE = "wide"
    POWERS = "large integer"
    FACTORS = "integer factor"
    LARGEST = "largest integer"
    SPECIAL = "special"
    SIZES = "sizes of 0 and 1"
    TELLING = "sizes next to what they meet"
    DRIVEN = "extreme parameters"
    OWN = "the model's own"
    GIVEN = "given"  # such as the inputs that a reproducer keeps


# The most telling first: a site that takes long is run on these only.
STYLES = (
    Style.NATURAL,
    Style.TIES,
    Style.NEGATIVE,
    Style.EDGES,
    Style.SMALL,
    Style.OTHER,
    Style.WIDE,
    Style.ONES,
    Style.ZEROS,
    Style.LARGE,
)
# Results that are not finite say nothing in these: they lie outside of what a pass claims.
EXTREME = frozenset(
    {Style.EDGES, Style.ONES, Style.ZEROS, Style.LARGE, Style.WIDE}
    | {Style.POWERS, Style.FACTORS, Style.LARGEST}
)
# Come where a site computes with integers: sums and products past what floats hold exactly, and
# remainders next to the ends of a type.
FOR_INTEGERS = (Style.POWERS, Style.FACTORS, Style.LARGEST)
# Powers of two past which a type or a float ends, and those that a product is to pass.
_HELD = (24, 31, 32, 53, 62, 63, 64)
_PASSED = (24, 31, 53, 62)
_FROM_FEEDS = {Style.NATURAL: 0, Style.OTHER: 4}
# What floats have in these is drawn without a look at what they had before.
_OWN_FLOATS = frozenset(
    {Style.TIES, Style.NEGATIVE, Style.EDGES, Style.SMALL, Style.ONES, Style.ZEROS}
    | {Style.LARGE, Style.WIDE}
)
# The greatest magnitude of "large", by dtype: its square is still a number.
_LARGE = {"float16": 200.0, "bfloat16": 1e6, "float32": 1e6, "float64": 1e9}
_LEAST = {"float16": 6e-8, "bfloat16": 1e-40, "float32": 1e-45, "float64": 5e-324}
# Powers of two by which the operands of a float remainder are scaled, dividend and divisor, by
# dtype: quotients have more bits than the dtype, and the numbers few, so that noise moves none.
_DIVIDED = {"float32": ((0, 30), (-3, 4)), "float64": ((0, 80), (-3, 4))}
_FEW_BITS = 11
_NO_EXTREMES = frozenset({"Gather", "Pow", "Range"})
_UPDATED = frozenset({"Scatter", "ScatterElements", "ScatterND"})
_DIVISIONS = frozenset({"Div", "Mod"})
_SIZES = frozenset({"Shape", "Size"})
# Operators of other libraries whose first input says how much is made.
_MAKERS = frozenset(
    {"arange", "full", "zeros", "ones", "empty", "eye", "linspace", "logspace", "range", "rand"}
    | {"randn", "randint"}
)
_WIDE_INTEGERS = frozenset(
    {onnx.TensorProto.INT32, onnx.TensorProto.INT64}
    | {onnx.TensorProto.UINT32, onnx.TensorProto.UINT64}
)
# Sizes that are free to choose are not chosen so that an input has more elements than this.
MOST_DRAWN = 2**22


class SampleMaker(FeedMaker):
    """Draws input sets in a style; the number of a sample says which.

    Attributes:
        styles: The styles, one for each sample.
        unread: Inputs of which nothing but the shape is read.
        special: What the special style has, ``nan`` and ``inf``.
        parameters: Inputs that decide what a node does, if only through arithmetic: any number
            there may ask for more memory than there is.
        cuts: The sizes of axes that were made shorter, one set for each sample; see
            `graphfix.proving.sites.shorter`.
    """

    styles: Sequence[Style] = STYLES
    unread: frozenset[str] = frozenset()
    special: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    cuts: Sequence[Mapping[str, int]] = ()
    _turn: int = 0
    _found: dict[str, list[Use]] | None = None
    _replaced: bool = False

    def draw(
        self,
        sample: int,
        attempt: int = 0,
        redraw: int = 0,
        *,
        other_side: bool = False,
        edge: Mapping[str, int] | None = None,
    ) -> Feed:
        """Return one input set; see `FeedMaker.draw`."""
        style = Style.NATURAL if edge else self.styles[sample % len(self.styles)]
        self._turn = sample
        self._replaced = style in _OWN_FLOATS and self._has_free_floats_alone()
        feed = super().draw(sample, attempt, redraw, other_side=other_side, edge=edge)
        return self.in_style(feed, style, np.random.default_rng([23, self.seed, sample, redraw]))

    def _has_free_floats_alone(self) -> bool:
        """Say whether a style with floats of its own replaces all that is drawn before it."""
        return not self.parameters and all(
            info.name in self.unread
            or (
                info.type.WhichOneof("value") == "tensor_type"
                and is_floating(numpy_dtype(info.type.tensor_type.elem_type))
                and draws.is_free((2, 2), self._uses(info.name))
            )
            for info in self._inputs
        )

    def _pinned(self) -> dict[str, int]:
        """Return the sizes that are decided: those of axes that were made shorter, too."""
        pinned = super()._pinned()
        return {**pinned, **self.cuts[self._turn % len(self.cuts)]} if self.cuts else pinned

    def in_style(self, feed: Feed, style: Style, rng: np.random.Generator) -> Feed:
        """Return an input set of the same shapes, whose free values are those of a style."""
        if style is Style.NEGATIVE:
            feed = counted_from_the_end(self.model, feed, rng)
        return {
            name: value
            if name in self.unread or name in self.parameters
            else self._restyled(name, value, style, self._uses(name), rng)
            for name, value in feed.items()
        }

    def _uses(self, name: str) -> Sequence[Use]:
        """Return where an input ends up, calls of functions as they are."""
        if self._found is None:
            readers = consumers(self.model.graph)
            self._found = {i.name: uses_of(i.name, readers) for i in self.model.graph.input}
        return self._found.get(name, ())

    def _tensor(
        self,
        name: str,
        elem_type: int,
        shape: tuple[int, ...],
        chosen: Mapping[str, int],
        style: int,
        attempt: int,
        rng: np.random.Generator,
    ) -> Array:
        dtype = numpy_dtype(elem_type)
        if name in self.unread and dtype.isbuiltin == 1:
            return np.zeros(shape, dtype)  # pages that no one touches cost nothing
        if math.prod(shape) > MOST_DRAWN and self.is_dynamic():
            raise EngineFailed(f"an input of {math.prod(shape)} elements is too big to make")
        if self._replaced:
            return np.zeros(shape, dtype)
        return super()._tensor(name, elem_type, shape, chosen, style, attempt, rng)

    def _restyled(
        self, name: str, value: Value, style: Style, uses: Sequence[Use], rng: np.random.Generator
    ) -> Value:
        if isinstance(value, list):
            return [self._restyled(name, item, style, uses, rng) for item in value]
        if not isinstance(value, np.ndarray) or style in _FROM_FEEDS:
            return value
        if is_floating(value.dtype):
            if style in FOR_INTEGERS:
                return value
            if not draws.is_free(value.shape, uses):
                return value
            if style is Style.SPECIAL:
                return _with_special(value, self.special, rng)
            return draws.cast(_floats(value, style, uses, rng), value.dtype)
        plain = is_integer(value.dtype) and value.dtype.isbuiltin == 1 and _is_number(uses)
        if plain and not _has_role(uses, value.shape, rng):
            # numpy makes numbers, which are no arrays, of what has no axes
            drawn = _integers(np.atleast_1d(value), style, uses, rng)
            return drawn.reshape(value.shape)
        return value

    def has_integers(self) -> bool:
        """Say whether an input is integers of 32 bits or more that are computed with."""
        readers = consumers(self.model.graph)
        rng = np.random.default_rng(0)
        for info in required_inputs(self.model.graph):
            wide = info.type.tensor_type.elem_type in _WIDE_INTEGERS
            if wide and info.name not in self.parameters and info.name not in self.unread:
                uses = uses_of(info.name, readers)
                if _is_number(uses) and not _has_role(uses, (2,), rng):
                    return True
        return False


def _is_number(uses: Sequence[Use]) -> bool:
    """Say whether any integer may go where a tensor is used."""
    return bool(uses) and all(
        use.op in roles.ARITHMETIC
        or (use.position == 0 and not _makes(use))
        or (use.op in _UPDATED and use.position == 2)
        for use in uses
    )


def _makes(use: Use) -> bool:
    named = attribute_of(use.node, "operator")
    name = named.s.decode("utf-8", "replace") if named is not None else use.op
    return name.removeprefix("aten::") in _MAKERS


def _has_role(uses: Sequence[Use], shape: tuple[int, ...], rng: np.random.Generator) -> bool:
    """Say whether integers must suit their use; a divisor only must not be 0."""
    divides = [use for use in uses if use.op in _DIVISIONS and use.position == 1]
    others = [use for use in uses if use not in divides]
    return roles.draw(others, shape, lambda _: None, rng) is not None


def shape_only(*models: onnx.ModelProto) -> frozenset[str]:
    """Return the inputs of which the models read nothing but the shape."""
    read: set[str] = set()
    for model in models:
        for name, uses in consumers(model.graph).items():
            if any(use.op not in _SIZES for use in uses):
                read.add(name)
        read |= {info.name for info in model.graph.output}
        for node in model.graph.node:
            for attribute in node.attribute:
                for body in (attribute.g, *attribute.graphs):
                    read |= {info.name for info in body.output}
    return frozenset(i.name for i in models[0].graph.input if i.name not in read)


def _floats(like: Array, style: Style, uses: Sequence[Use], rng: np.random.Generator) -> Array:
    shape = like.shape
    if style is Style.ZEROS:
        return np.zeros(shape)
    if style is Style.ONES:
        return np.ones(shape)
    if style is Style.NEGATIVE:
        return -np.abs(rng.standard_normal(shape)) - 0.01
    if style is Style.SMALL:
        return rng.standard_normal(shape) * 1e-3
    if style is Style.TIES:
        return rng.integers(-5, 6, shape) / 2
    if style is Style.WIDE:
        operands = [use.position for use in uses if use.op == "Mod"]
        if operands and like.dtype.name in _DIVIDED:
            low, high = _DIVIDED[like.dtype.name][operands[0]]
            numbers = rng.integers(1, 2**_FEW_BITS, shape) * 2.0 ** rng.integers(low, high, shape)
            return np.where(rng.random(shape) < 0.5, -1.0, 1.0) * numbers
        most = math.log10(min(1e5, _largest(like, uses)))
        signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
        return signs * 10.0 ** rng.uniform(-3.0, most, shape)
    if style is Style.LARGE:
        most = _largest(like, uses)
        return rng.uniform(-most, most, shape)
    least = _LEAST.get(like.dtype.name, 0.25)
    edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, least, -least, 2.0, -3.0, 0.999, 1.5])
    return edges[rng.integers(0, len(edges), shape)]


def _largest(like: Array, uses: Sequence[Use]) -> float:
    """Return the largest magnitude to try."""
    # The rounding of a large number to an integer that does not hold it is no one's to say.
    most = 100.0 if any(use.op == "Cast" for use in uses) else 1e9
    return min(most, _LARGE.get(like.dtype.name, 4.0))


def _with_special(value: Array, special: frozenset[str], rng: np.random.Generator) -> Array:
    """Put the special numbers into some places; a single one becomes each of them in turn."""
    numbers = [np.nan] * ("nan" in special) + [np.inf, -np.inf] * ("inf" in special)
    odd = np.asarray(numbers)[rng.integers(0, len(numbers), value.shape)]
    places = rng.random(value.shape) < 0.25
    if value.size and not places.any():
        places.reshape(-1)[rng.integers(0, value.size)] = True
    return np.where(places, odd, value.astype(np.float64)).astype(value.dtype)


def _integers(like: Array, style: Style, uses: Sequence[Use], rng: np.random.Generator) -> Array:
    shape, dtype = like.shape, like.dtype
    low, high = _limits(like, uses)
    divides = any(use.op in _DIVISIONS and use.position == 1 for use in uses)
    if style is Style.ZEROS and not divides:
        return np.zeros(shape, dtype)
    if style is Style.ONES:
        return np.ones(shape, dtype)
    if style is Style.NEGATIVE and low < 0:
        return (-rng.integers(1, 20, shape)).astype(dtype)
    if style is Style.TIES:
        values = rng.integers(max(low, -3), 4, shape)
        return np.where(values == 0, 2 if divides else 0, values).astype(dtype)
    if any(_is_limited(use) for use in uses):
        return like
    if style in FOR_INTEGERS:
        return _past_floats(like, style, low, high, rng)
    if style in (Style.EDGES, Style.LARGE, Style.WIDE):
        if style is Style.WIDE:
            signs = np.where(rng.random(shape) < 0.5, -1.0 if low < 0 else 1.0, 1.0)
            return (signs * 2.0 ** rng.uniform(0.0, math.log2(high), shape)).astype(dtype)
        middle = [high // 2, high - high // 4]
        edges = np.array([low, low + 1, high, high - 1, 0, 1, *middle], dtype=object)
        if divides:
            edges[edges == 0] = 2
        return edges[rng.integers(0, len(edges), shape)].astype(dtype)
    return like


def _limits(like: Array, uses: Sequence[Use]) -> tuple[int, int]:
    """Return the least and the greatest integer to try."""
    limits = np.iinfo(like.dtype)
    low, high = int(limits.min), int(limits.max)
    if low < 0 and any(use.op in _DIVISIONS for use in uses):
        low += 1  # the smallest by -1 ends the process of an engine
    if any(use.op == "Mod" and int_attribute(use.node, "fmod", 0) for use in uses):
        # onnxruntime computes the remainder of C in float64.
        high = min(high, 2**52)
        low = max(low, -high)
    return low, high


def _is_limited(use: Use) -> bool:
    """Say whether large integers ask for too much there, or for what is not in a table."""
    return use.op in _NO_EXTREMES and (use.op, use.position) != ("Gather", 0)


def _past_floats(like: Array, style: Style, low: int, high: int, rng: np.random.Generator) -> Array:
    """Return integers that float32, float64 or int32 do not hold, or whose product they do not."""
    magnitudes = {Style.POWERS: _powers, Style.FACTORS: _factors, Style.LARGEST: _largest_integers}
    numbers = magnitudes[style](like, high, rng)
    signs = np.where(rng.random(like.shape) < 0.3, -1, 1) if low < 0 else np.ones_like(like)
    return np.asarray(np.clip(numbers * signs.astype(object), low, high)).astype(like.dtype)


def _powers(like: Array, high: int, rng: np.random.Generator) -> Array:
    """Return integers next to the powers past which floats and types end; some are small."""
    powers = [p for p in _HELD if 2**p - 1 <= high] or [high.bit_length()]
    chosen = rng.integers(0, len(powers), like.shape)
    numbers = np.array([2**p for p in powers], dtype=object)[chosen]
    numbers = numbers + rng.integers(-3, 4, like.shape).astype(object)
    few = rng.random(like.shape) < 0.25
    return np.where(few, rng.integers(1, 9, like.shape).astype(object), numbers)


def _factors(like: Array, high: int, rng: np.random.Generator) -> Array:
    """Return integers whose product along an axis passes a limit that none of them passes."""
    along = max(like.shape[rng.integers(0, like.ndim)] if like.ndim else 1, 2)
    bits = _PASSED[rng.integers(0, len(_PASSED))] / along
    most = max(3, min(int(2.0**bits) * 2, high // 4, 2**40))
    return rng.integers(1, most, like.shape).astype(object) * 2 + 1


def _largest_integers(like: Array, high: int, rng: np.random.Generator) -> Array:
    """Return integers of which one leaves nearly all of itself when it is divided by another."""
    return high - rng.integers(0, 9, like.shape).astype(object)


def marked(name: str) -> str:
    """Mark a short name, for which each site that shares a proof puts a name of its own."""
    return f"@{name}@"


def text_of(values: Feed) -> str:
    """Write small inputs for a person: shapes, and the elements that are not zero."""
    parts = [f"{marked(name)} = {_one(value)}" for name, value in values.items()]
    return "; ".join(parts) or "no input"


def _one(value: Value, shown: int = 6) -> str:
    if not isinstance(value, np.ndarray):
        return f"{type(value).__name__} of {len(value)}" if value is not None else "nothing"
    head = f"{value.dtype.name}{list(value.shape)}"
    if value.size == 1:
        return f"{head} {value.reshape(-1)[0]!s}"
    if value.size == 0:
        return head
    flat = value.reshape(-1)
    if value.dtype.kind in "OUS":
        return f"{head} {list(flat[:shown])}"
    if bool((flat == flat[0]).all()):
        return f"{head} all {flat[0]!s}"
    places = np.flatnonzero(flat != np.zeros(1, flat.dtype)[0])
    others = [
        f"{[int(i) for i in np.unravel_index(int(place), value.shape)]} {flat[place]!s}"
        for place in places[:shown]
    ]
    more = f" and {len(places) - shown} more" if len(places) > shown else ""
    return f"{head} zero but for {', '.join(others)}{more}"
