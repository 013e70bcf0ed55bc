"""How far rounding errors move the original: its own noise.

The original is run again with its float weights and inputs moved by one unit in the last place,
and once with onnxruntime's optimisations on, which order the same sums otherwise. Round values
(zeros, small integers, halves: those with many trailing zero bits) are not moved, since every
correct rewrite computes with exactly them, and equal inputs stay equal: a tie that breaks
another way, or a multiple whose remainder is wrong, is a difference and not noise. What quantized
operators round inside is moved by `graphfix.proving.verdict.inner_rounding`.

onnxruntime's optimiser is no witness of its own: it folds what a file declares of sizes, and the
stored value of what a caller may override. Where it goes further than rounding may, or decides
otherwise, that counts as far as weights and inputs that are moved by many units show the same.

Where a small difference is left all the same, the original is run in float64, or, where it is in
float64 itself or onnxruntime has no kernels for that, in the reference evaluator: an operator may
round on round values too, and worse than one unit (onnxruntime's DFT).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from graphfix.errors import EngineFailed
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.evaluators import weight_bytes
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, is_wide_float, leaves
from graphfix.proving.verdict.constants import Change, Constant, changed
from graphfix.proving.verdict.inner_rounding import rounded_inside
from graphfix.proving.verdict.numbers import cap_of, chunks, magnitude_of, mismatches, widened
from graphfix.proving.verdict.wide_sums import summed_widely
from graphfix.proving.verdict.widening import MOST_BYTES, is_double, widened_feed, widened_model

# Weights past this many bytes are copied once, not three times, to measure noise.
_LARGE = 2**28
# Models with more weights, in float64, are not run in the evaluator, which is slow.
_FOR_EVALUATOR = 2**24
# By how many units the last witnesses are moved, their seeds; the optimiser may go as many times as
# far as one unit does.
_FAR = 64
_WITNESSES = (4, 5, 6, 7)
# Trailing mantissa bits that are zero in a round value, by dtype.
_ROUND_BITS = {"float16": 5, "bfloat16": 3, "float32": 12, "float64": 40}
_BITS = {"float16": np.uint16, "bfloat16": np.uint16, "float32": np.uint32, "float64": np.uint64}
# The bits of the exponent, all of which are set where a number is not finite.
_EXPONENT = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}


def moved(array: Array, seed: int, units: int = 1) -> Array:
    """Return floats moved by units in the last place, up or down by a hash of their bits."""
    name = array.dtype.name
    kind: Any = _BITS[name]
    units = min(units, 1 << (_ROUND_BITS[name] - 3))  # short types have few
    mask, exponent = kind((1 << _ROUND_BITS[name]) - 1), kind(_EXPONENT[name])
    below = kind(np.iinfo(kind).max >> 1)
    result: Array = np.array(array, order="C")
    for part in chunks(result):
        bits: Array = part.view(kind)
        hashed = (bits.astype(np.uint64) + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
        hashed >>= np.uint64(40)
        up = (hashed & np.uint64(1)).astype(bool)
        # Past the round values there is always room above in the mantissa, and for one unit below.
        up |= (bits & below) < units
        keep = ((bits & mask) == 0) | ((bits & exponent) == exponent)
        moves: Array = np.where(up, units, -units).astype(kind)
        moves[keep] = 0
        bits += moves
    return result


def moved_value(value: Value, seed: int, units: int = 1) -> Value:
    """Move every float tensor inside a value; the rest stays."""
    if isinstance(value, list):
        return [moved_value(item, seed, units) for item in value]
    if isinstance(value, np.ndarray) and is_wide_float(value.dtype) and value.size:
        return moved(value, seed, units)
    return value


def _mover(seed: int, units: int = 1) -> Change:
    def move(constant: Constant) -> Array | None:
        if not is_wide_float(constant.array.dtype):
            return None
        return moved(constant.array, seed + constant.number, units)

    return move


class Measured(Struct):
    """What noise did to one sample.

    Attributes:
        floats: Largest difference per output and label of a floating tensor.
        flipped: Per output and label, where a discrete tensor (or the place of a NaN) moved.
        reshaped: Outputs whose structure or shape moved.
        integers: Per output and label, the least and the largest integers that there were.
    """

    floats: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    flipped: dict[tuple[str, str], Array] = field(default_factory=dict[tuple[str, str], Array])
    reshaped: set[str] = field(default_factory=set[str])
    integers: dict[tuple[str, str], tuple[Array, Array]] = field(
        default_factory=dict[tuple[str, str], tuple[Array, Array]]
    )

    def add(self, name: str, before: Value, again: Value) -> None:
        """Take in another run of the original."""
        left, right = list(leaves(before)), list(leaves(again))
        if len(left) != len(right):
            self.reshaped.add(name)
            return
        for (label, one), (_, two) in zip(left, right, strict=True):
            if one is None or two is None:
                continue
            if one.shape != two.shape or one.dtype != two.dtype:
                self.reshaped.add(name)
            elif is_floating(one.dtype):
                self._add_floats(name, label, one, two)
            else:
                self._flip(name, label, mismatches(one, two))
                if one.dtype.kind in "iu":
                    low, high = self.integers.get((name, label), (one, one))
                    self.integers[name, label] = np.minimum(low, two), np.maximum(high, two)

    def far(self, caps: Mapping[tuple[str, str], float]) -> set[str]:
        """Return the outputs that decide otherwise, or differ by more than caps."""
        found = self.reshaped | {name for (name, _), where in self.flipped.items() if where.any()}
        return found | {
            name
            for name, labels in self.floats.items()
            if any(gap > caps.get((name, label), 0.0) for label, gap in labels.items())
        }

    def excuses(self, name: str, label: str, one: Array, two: Array) -> Array:
        """Return where a discrete tensor may be another one: not further off than was seen."""
        where = self.flipped.get((name, label))
        if where is None:
            return mismatches(one, one) & False
        if one.dtype.kind not in "iu":
            return where
        low, high = (each.astype(np.float64) for each in self.integers[name, label])
        found = two.astype(np.float64)
        near = (found >= low - (high - low)) & (found <= high + (high - low))
        return np.asarray(where & near)

    def _add_floats(self, name: str, label: str, one: Array, two: Array) -> None:
        a, b = widened(one), widened(two)
        finite = np.isfinite(a) & np.isfinite(b)
        gap = np.abs(a[finite] - b[finite])
        known = self.floats.setdefault(name, {})
        known[label] = max(known.get(label, 0.0), float(gap.max()) if gap.size else 0.0)
        self._flip(name, label, ~finite & mismatches(one, two))

    def _flip(self, name: str, label: str, where: Array) -> None:
        key = (name, label)
        self.flipped[key] = self.flipped[key] | where if key in self.flipped else where


class Noise:
    """Runs the original with rounding errors; each engine is loaded when it is first needed."""

    def __init__(self, original: RunnableModel) -> None:
        """Remember the original.

        Weights that a changed copy has no room for stay as they are: the noise of a big model is
        not overestimated.
        """
        self._original = original
        self._engines: list[tuple[int, Engine]] = []
        self._further = self._opened()
        self._optimised: Engine | None = None
        self._has_optimised = True
        self._witnesses: list[tuple[int, Engine]] | None = None
        self._precise: Engine | None = None
        self._has_precise = True

    def measures(self, feed: Feed, before: dict[str, Value]) -> Iterator[Measured]:
        """Yield how rounding moves the outputs of one sample: one result, which grows.

        What it explains it explains for good, so that no more need be asked for then.
        """
        result = Measured()
        for engine in self._moving():
            self._run([engine], feed, before, result)
            yield result
        optimised = self._optimised_engine()
        if optimised is not None:
            other = Measured()
            self._run([(0, optimised)], feed, before, other)
            self._take_optimised(feed, before, result, other)
        yield result

    def _run(
        self,
        engines: Sequence[tuple[int, Engine]],
        feed: Feed,
        before: dict[str, Value],
        result: Measured,
        units: int = 1,
    ) -> None:
        for seed, engine in engines:
            given = feed
            if seed:  # without one the model itself is another
                given = {name: moved_value(value, seed, units) for name, value in feed.items()}
            try:
                again = engine.run(given)
            except EngineFailed:
                continue  # a rounding error may make a size impossible: no measure of noise
            for name, value in before.items():
                result.add(name, value, again.get(name))

    def _take_optimised(
        self, feed: Feed, before: dict[str, Value], result: Measured, other: Measured
    ) -> None:
        """Add what the optimiser does, as far as rounding can be what it comes of."""
        caps = {
            (name, label): max(
                cap_of(array.dtype) * magnitude_of(array),
                _FAR * result.floats.get(name, {}).get(label, 0.0),
            )
            for name, value in before.items()
            for label, array in leaves(value)
            if array is not None and is_floating(array.dtype)
        }
        doubted = other.far(caps)
        if doubted:
            shown = Measured()
            self._run(self._far_off(), feed, before, shown, _FAR)
            doubted -= shown.far(caps)
        for name in other.floats.keys() - doubted:
            known = result.floats.setdefault(name, {})
            for label, gap in other.floats[name].items():
                known[label] = max(known.get(label, 0.0), gap)
        result.reshaped |= other.reshaped - doubted
        for key, where in other.flipped.items():
            if key[0] not in doubted:
                known_there = result.flipped.get(key)
                result.flipped[key] = where if known_there is None else known_there | where
        for key, (low, high) in other.integers.items():
            if key[0] not in doubted:
                least, most = result.integers.get(key, (low, high))
                result.integers[key] = np.minimum(least, low), np.maximum(most, high)

    def _far_off(self) -> list[tuple[int, Engine]]:
        """Return the original with weights that are moved further than the optimiser rounds."""
        if self._witnesses is None:
            self._witnesses = []
            few = weight_bytes(self._original.proto) > _LARGE
            for seed in _WITNESSES[:1] if few else _WITNESSES:
                model = changed(self._original, _mover(seed, _FAR)) or self._original
                with contextlib.suppress(EngineFailed):
                    self._witnesses.append((seed, model.open()))
        return self._witnesses

    def measure_precisely(
        self, feed: Feed, before: dict[str, Value], measured: Measured, name: str
    ) -> bool:
        """Add how far an output is from what it is in float64; False where that says nothing.

        A distance above every tolerance is none of rounding: an engine that means something else
        by an old operator, or a result that jumps.
        """
        value = before[name]
        if not isinstance(value, np.ndarray):
            return False
        exact = self._precise_outputs(widened_feed(feed)).get(name)
        if not isinstance(exact, np.ndarray) or exact.shape != value.shape:
            return False
        one, two = widened(value), widened(exact)
        finite = np.isfinite(one) & np.isfinite(two)
        gap = float(np.abs(one[finite] - two[finite]).max(initial=0.0))
        if gap > cap_of(value.dtype) * magnitude_of(value):
            return False
        known = measured.floats.setdefault(name, {})
        known[""] = max(known.get("", 0.0), gap)
        return True

    def _precise_outputs(self, feed: Feed) -> dict[str, Value]:
        """Return what the original gives in float64; nothing where no engine tells.

        What onnxruntime loads in float64 it may still not run: it has no GRU and no LSTM (1.32).
        """
        engine = self._precise_engine()
        if engine is None:
            return {}
        try:
            return engine.run(feed)
        except EngineFailed:
            self._precise, self._has_precise = None, False
        model = widened_model(self._original.proto)
        if model is None or weight_bytes(model) > _FOR_EVALUATOR:
            return {}
        with contextlib.suppress(EngineFailed):
            other = replace(self._original, proto=model, turns=None).open_reference()
            outputs = other.run(feed)
            self._precise = other
            return outputs
        return {}

    def _precise_engine(self) -> Engine | None:
        if self._precise is None and self._has_precise:
            proto = self._original.proto
            model = widened_model(proto)
            with contextlib.suppress(EngineFailed):
                if model is not None:
                    self._precise = replace(self._original, proto=model, turns=None).open()
                elif is_double(proto) and weight_bytes(proto) <= MOST_BYTES:
                    self._precise = self._original.open_reference()
            self._has_precise = self._precise is not None
        return self._precise

    def _moving(self) -> Iterator[tuple[int, Engine]]:
        """Yield the original with rounding errors, and the seed that moves its inputs as well."""
        yield from tuple(self._engines)
        for found in self._further:
            self._engines.append(found)
            yield found

    def _opened(self) -> Iterator[tuple[int, Engine]]:
        few = weight_bytes(self._original.proto) > _LARGE
        wide = None if few else summed_widely(self._original.proto)
        inside = [] if few else rounded_inside(self._original.proto)
        if wide is not None:
            inside.append(wide)
        copies = ((0, self._original.of(copy)) for copy in inside)
        moving = (
            (seed, changed(self._original, _mover(seed)) or self._original)
            for seed in ((1,) if few else (1, 2, 3))
        )
        for seed, model in chain(moving, copies):
            try:
                engine = model.open()
            except EngineFailed:
                continue  # one way of measuring less
            yield seed, engine

    def _optimised_engine(self) -> Engine | None:
        """Return the original as onnxruntime rewrites it: not every one runs there."""
        if self._optimised is None and self._has_optimised:
            with contextlib.suppress(EngineFailed):
                self._optimised = self._original.open_optimised()
            self._has_optimised = self._optimised is not None
        return self._optimised
