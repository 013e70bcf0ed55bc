"""Could the comparison have failed? Change the other model by 5% and see whether it does.

Several kinds of change are tried, because some models do not notice one of them by design: a
normalisation hides a common factor, a Clip hides a large step.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

import numpy as np

from graphfix.errors import EngineFailed
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, is_integer, is_wide_float
from graphfix.proving.verdict.constants import Change, Constant, Kind, changed, kinds

_SINGLE_TRIES = 6
_STEP = 0.05
_PART = 2**16


def changed_models(model: RunnableModel, known: Mapping[int, Kind]) -> Iterator[RunnableModel]:
    """Yield copies of a model with constants changed by 5%, several kinds of change.

    Floats that only set sizes stay as they are where there are others: engines refuse most other
    sizes.

    Args:
        model: The model.
        known: What its constants are.
    """
    rng = np.random.default_rng(7)
    quiet = {number for number, kind in known.items() if kind.floats and kind.silent}
    if any(kind.floats and not kind.silent for kind in known.values()):
        known = {number: kind for number, kind in known.items() if number not in quiet}
    else:
        quiet.clear()
    floats = sorted((n for n in known if known[n].floats), key=lambda n: -known[n].size)
    integers = sorted((n for n in known if not known[n].floats), key=lambda n: -known[n].size)
    changes: list[Change] = []
    if floats:
        changes += [_scaled_floats, _jittered_floats(rng, None), _moved_floats(rng, None)]
    if len(floats) > 1:
        changes += [_moved_floats(rng, chosen) for chosen in floats[:_SINGLE_TRIES]]
    changes += [_stepped_integers(chosen) for chosen in integers[:_SINGLE_TRIES]]
    for change in changes:
        other = changed(model, _sparing(change, quiet))
        if other is not None:
            yield other


def _sparing(change: Change, quiet: Container[int]) -> Change:
    return lambda constant: None if constant.number in quiet else change(constant)


def _scaled_floats(constant: Constant) -> Array | None:
    array = constant.array
    if not is_wide_float(array.dtype):
        return None
    return _as(array.dtype, array.astype(np.float64) * (1 + _STEP))


def _jittered_floats(rng: np.random.Generator, chosen: int | None) -> Change:
    def change(constant: Constant) -> Array | None:
        array = constant.array
        if not is_wide_float(array.dtype) or chosen not in (None, constant.number):
            return None
        factor = 1 + _STEP * rng.standard_normal(array.shape)
        return _as(array.dtype, array.astype(np.float64) * factor)

    return change


def _moved_floats(rng: np.random.Generator, chosen: int | None) -> Change:
    def change(constant: Constant) -> Array | None:
        array = constant.array
        if not is_wide_float(array.dtype) or chosen not in (None, constant.number):
            return None
        shift = _STEP * _spread(array) * rng.standard_normal(array.shape)
        return _as(array.dtype, array.astype(np.float64) + shift)

    return change


def _stepped_integers(chosen: int) -> Change:
    def change(constant: Constant) -> Array | None:
        return _stepped(constant.array) if constant.number == chosen else None

    return change


def _as(dtype: np.dtype[Any], wide: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(wide).astype(dtype)


def _spread(array: Array) -> float:
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    return float(np.sqrt(np.mean(finite**2))) if finite.size and finite.any() else 1.0


def _stepped(array: Array) -> Array:
    """Return integers one higher, the greatest one lower."""
    wide = array.astype(np.int64)
    return np.where(wide == wide.max(), wide - 1, wide + 1).astype(array.dtype)


def changed_feeds(feed: Feed) -> Iterator[Feed]:
    """Yield inputs changed by 5%, by a step, or by swapping their elements."""
    rng = np.random.default_rng(11)
    for kind in (_scaled, _shifted, _rolled):
        new = {name: _each(value, kind, rng) for name, value in feed.items()}
        yield new


def _each(
    value: Value, kind: Callable[[Array, np.random.Generator], Array], rng: np.random.Generator
) -> Value:
    if isinstance(value, list):
        return [_each(item, kind, rng) for item in value]
    if isinstance(value, dict):
        return {key: item * (1 + _STEP) for key, item in value.items()}
    return value if value is None else kind(value, rng)


def _scaled(array: Array, rng: np.random.Generator) -> Array:
    if is_floating(array.dtype):
        return _in_parts(array, lambda wide, noise: wide * (1 + _STEP * noise), rng)
    return array


def _shifted(array: Array, rng: np.random.Generator) -> Array:
    if is_floating(array.dtype):
        most = float(np.abs(array).max(initial=0))
        return _in_parts(array, lambda wide, noise: wide + _STEP * (1 + most) * noise, rng)
    if array.dtype.kind == "b":
        return ~array
    return _stepped(array) if is_integer(array.dtype) and array.size else array


def _in_parts(
    array: Array, change: Callable[[Array, Array], Array], rng: np.random.Generator
) -> Array:
    """Change floats a part at a time: float64 of a whole image takes more than a run with it."""
    flat = array.reshape(-1)
    new = np.empty_like(flat)
    for start in range(0, flat.size, _PART):
        wide = flat[start : start + _PART].astype(np.float64)
        new[start : start + _PART] = change(wide, rng.standard_normal(wide.shape))
    return new.reshape(array.shape)


def _rolled(array: Array, rng: np.random.Generator) -> Array:
    return np.roll(array.reshape(-1), 1).reshape(array.shape)


def notices(
    model: RunnableModel,
    engine: Engine,
    feeds: list[Feed],
    differs: Callable[[int, dict[str, Value]], bool],
) -> str:
    """Look for a change that the comparison notices.

    Args:
        model: The model to change.
        engine: The model as it is, loaded.
        feeds: Its inputs, one per sample.
        differs: Whether outputs differ from those of the original for a sample number.

    Returns:
        What was noticed (``constants`` or ``inputs``); an empty string if nothing was.
    """
    known = kinds(model)
    weights = [k for k in known.values() if k.floats and k.size > 1 and not k.silent]
    for other in changed_models(model, known):
        try:
            loaded = other.open()
            if any(differs(n, loaded.run(feed)) for n, feed in enumerate(feeds)):
                return "constants"
        except EngineFailed:
            continue  # the change made a size or an axis impossible: no evidence either way
    if weights:
        return ""
    for number, feed in enumerate(feeds):
        for other_feed in changed_feeds(feed):
            try:
                if differs(number, engine.run(other_feed)):
                    return "inputs"
            except EngineFailed:
                continue  # as above
    return ""
