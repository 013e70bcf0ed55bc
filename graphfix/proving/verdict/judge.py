"""Judge one sample after the other: equal, different, or explained by rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, leaves
from graphfix.proving.verdict.noise import Measured, Noise
from graphfix.proving.verdict.numbers import (
    NOISE_FACTOR,
    Difference,
    cap_of,
    compare,
    compare_tensors,
    magnitude_of,
    magnitudes,
    mismatches,
    widened,
)


class Judge:
    """Collects what differs.

    Attributes:
        broken: Outputs that differ, with what is wrong where they differ most.
        structural: Whether one differs by more than numbers.
        worst: Largest absolute and relative difference per output.
        unstable: How many samples were set aside, because rounding explains their difference
            and no tolerance can be given.
        unstable_reason: What differed in the last one of these.
        unrepeated: How many of them the original itself does not compute twice.
        opened: How many of them ask for an integer of which ONNX leaves open which.
        noise_used: Whether noise had to be measured.
        differences: Of each sample, the largest difference of an output relative to its values.
    """

    def __init__(
        self,
        original: RunnableModel,
        *,
        other_kernels: bool = False,
        arithmetic: str = "",
        lossy: bool = False,
    ) -> None:
        """Remember the original for measuring its noise.

        Args:
            original: The original.
            other_kernels: The other model runs in another engine, whose kernels round in ways of
                their own: floats may differ by as much as the cap of their type.
            arithmetic: The type that these compute all floats in, whose cap holds where it is
                wider; empty for their own.
            lossy: The other model may differ, and by how much is to be measured: no sample is set
                aside for what rounding may explain.
        """
        self._noise = Noise(original)
        self._other_kernels = other_kernels
        self._arithmetic = arithmetic
        self._lossy = lossy
        self._tolerated: dict[str, dict[str, float]] = {}
        self.broken: dict[str, str] = {}
        self._worst_broken: dict[str, tuple[bool, float]] = {}
        self.structural = False
        self.worst: dict[str, tuple[float | None, float | None]] = {}
        self.unstable = 0
        self.unstable_reason = ""
        self.unrepeated = 0
        self.opened = 0
        self.noise_used = False
        self.differences: list[float] = []

    def set_aside(self) -> None:
        """Count a sample that the original itself does not compute twice."""
        self.unstable += 1
        self.unrepeated += 1

    def leave_open(self) -> None:
        """Count a sample in which a NaN or an infinity becomes an integer."""
        self.unstable += 1
        self.opened += 1

    def take(self, feed: Feed, before: dict[str, Value], after: dict[str, Value]) -> bool:
        """Judge a sample; False when it is set aside because rounding alone explains it."""
        found = {
            name: self._compared(value, after.get(name), None) for name, value in before.items()
        }
        measured: Measured | None = None
        unequal = [name for name, difference in found.items() if not difference.equal]
        if unequal:
            self.noise_used = True
            measured = self._measured(unequal, found, feed, before, after)
        for name in unequal:
            if (
                measured is not None
                and _is_small(found[name], before[name])
                and self._noise.measure_precisely(feed, before, measured, name)
            ):
                noise = measured.floats[name]
                found[name] = self._compared(before[name], after.get(name), noise)
        wrong = {name: difference for name, difference in found.items() if not difference.equal}
        if wrong and measured is not None and not self._lossy:
            explained = [
                name for name in wrong if explains(measured, name, before[name], after.get(name))
            ]
            if len(explained) == len(wrong):
                self.unstable += 1
                self.unstable_reason = f"output {explained[0]}: {wrong[explained[0]].reason}"
                return False
            for name in explained:
                del wrong[name]
        self._note(found, wrong)
        if measured is not None:
            self._remember(measured)
        return True

    def measure(self, before: dict[str, Value], after: dict[str, Value]) -> None:
        """Take down by how much models that may differ do so with another sample."""
        found = {
            name: self._compared(value, after.get(name), None) for name, value in before.items()
        }
        wrong = {
            name: difference
            for name, difference in found.items()
            if difference.structural or (name in self.broken and not difference.equal)
        }
        self._note(found, wrong)

    def _note(self, found: Mapping[str, Difference], wrong: Mapping[str, Difference]) -> None:
        self.differences.append(max((d.max_rel or 0.0 for d in found.values()), default=0.0))
        for name, difference in found.items():
            absolute, relative = self.worst.get(name, (0.0, 0.0))
            if difference.max_abs is None or absolute is None or relative is None:
                self.worst[name] = (None, None)
            else:
                self.worst[name] = (
                    max(absolute, difference.max_abs),
                    max(relative, difference.max_rel or 0.0),
                )
        for name, difference in wrong.items():
            # The sentence is that of the sample that `worst` has, lest two figures be read.
            known = self._worst_broken.get(name)
            rank = (difference.structural, difference.max_abs or 0.0)
            if known is None or rank > known:
                self._worst_broken[name] = rank
                self.broken[name] = difference.reason
            self.structural = self.structural or difference.structural

    def _measured(
        self,
        unequal: Sequence[str],
        found: dict[str, Difference],
        feed: Feed,
        before: dict[str, Value],
        after: dict[str, Value],
    ) -> Measured | None:
        """Measure noise until it makes outputs equal or explains them, or there is no more."""
        measured: Measured | None = None
        for measured in self._noise.measures(feed, before):
            for name in unequal:
                noise = measured.floats.get(name)
                found[name] = self._compared(before[name], after.get(name), noise)
            if all(
                found[name].equal or explains(measured, name, before[name], after.get(name))
                for name in unequal
            ):
                break
        return measured

    def _remember(self, measured: Measured) -> None:
        for name, labels in measured.floats.items():
            known = self._tolerated.setdefault(name, {})
            for label, noise in labels.items():
                known[label] = max(known.get(label, 0.0), noise)

    def differs(self, before: dict[str, Value], after: dict[str, Value]) -> bool:
        """Whether outputs differ by more than any sample was allowed to."""
        return any(
            not self._compared(value, after.get(name), self._tolerated.get(name)).equal
            for name, value in before.items()
        )

    def _compared(self, before: Value, after: Value, noise: dict[str, float] | None) -> Difference:
        return compare(before, after, self._allowed(before, noise), self._arithmetic)

    def _allowed(self, value: Value, noise: dict[str, float] | None) -> dict[str, float] | None:
        """Return the noise to allow for by label: what was measured, or what kernels may do."""
        if not self._other_kernels:
            return noise
        known = noise or {}
        granted: dict[str, float] = {}
        sizes = magnitudes(value)
        for label, array in leaves(value):
            if array is not None and is_floating(array.dtype):
                cap = cap_of(array.dtype, self._arithmetic)
                widest = cap * sizes[label] / NOISE_FACTOR
                granted[label] = max(widest, known.get(label, 0.0))
        return granted


def _is_small(difference: Difference, before: Value) -> bool:
    """Say whether a tensor differs by no more than rounding ever may."""
    return (
        not difference.equal
        and not difference.structural
        and isinstance(before, np.ndarray)
        and is_floating(before.dtype)
        and (difference.max_abs or 0.0) <= cap_of(before.dtype) * magnitude_of(before)
    )


def explains(measured: Measured, name: str, before: Value, after: Value) -> bool:
    """Whether rounding errors in the original itself do what the other model does.

    A discrete tensor has to differ only where rounding flips it, a floating one by no more than
    a small multiple of a noise that exceeds every tolerance; a change of shape has to happen
    under rounding as well.
    """
    left, right = list(leaves(before)), list(leaves(after))
    if len(left) != len(right):
        return name in measured.reshaped
    for (label, one), (_, two) in zip(left, right, strict=True):
        if one is None or two is None:
            if one is not two:
                return False
            continue
        if one.dtype != two.dtype:
            return False
        if one.shape != two.shape:
            return name in measured.reshaped
        if is_floating(one.dtype):
            if not _floats_explained(measured, name, label, before, one, two):
                return False
        elif (mismatches(one, two) & ~measured.excuses(name, label, one, two)).any():
            return False
    return True


def _floats_explained(
    measured: Measured, name: str, label: str, whole: Value, one: Array, two: Array
) -> bool:
    noise = measured.floats.get(name, {}).get(label, 0.0)
    magnitude = magnitudes(whole).get(label, 0.0)
    found = compare_tensors(one, two, noise, magnitude=magnitude)
    if found.equal:
        return True
    cap = cap_of(one.dtype) * magnitude
    if NOISE_FACTOR * noise > cap and (found.max_abs or 0.0) <= NOISE_FACTOR * noise:
        odd = mismatches(one, two) & ~_finite_pair(one, two)
        return not (odd & ~measured.excuses(name, label, one, two)).any()
    odd = mismatches(one, two) & ~_finite_pair(one, two)
    only_odd = (found.max_abs or 0.0) <= cap
    return bool(
        odd.any() and only_odd and not (odd & ~measured.excuses(name, label, one, two)).any()
    )


def _finite_pair(one: Array, two: Array) -> Array:
    return np.isfinite(widened(one)) & np.isfinite(widened(two))
