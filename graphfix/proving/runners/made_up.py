"""What stands for an operator of which only the types are known, in both models alike.

A plugin computes what no one here knows. For the models around it that does not matter: where both
have the same plugins in the same places, they agree whatever those compute. So each is replaced by
a function that depends on every element of every input, on its place and on the attributes, and
that changes little where its inputs do. It must not be simpler than a plugin may be: a function of
each element alone would hide a Transpose that a repair moved past it.

The functions are called ``like_0``, ``like_0_2`` for two outputs and so on, by the inputs that the
outputs are like.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphfix.proving.values.kinds import Array, is_floating

_PREFIX = "like_"
_TURN = 0.7  # how far places next to each other are apart


def place_of(likes: Sequence[int]) -> str:
    """Return where the function for outputs like these inputs is found."""
    return f"{__name__}:{_PREFIX}{'_'.join(map(str, likes))}"


def is_made_up(place: str) -> bool:
    """Say whether a function is one of these."""
    return place.startswith(f"{__name__}:")


def __getattr__(name: str) -> Callable[[list[Array | None], dict[str, object]], tuple[Array, ...]]:
    """Return the function of a name."""
    parts = name.removeprefix(_PREFIX).split("_")
    if not name.startswith(_PREFIX) or not all(part.isdecimal() for part in parts):
        raise AttributeError(name)
    return partial(_outputs, [int(part) for part in parts])


def _outputs(
    likes: Sequence[int], inputs: list[Array | None], attributes: dict[str, object]
) -> tuple[Array, ...]:
    salt = zlib.crc32(repr(sorted(attributes.items(), key=str)).encode()) % 997 / 100
    found: list[Array] = []
    for number, place in enumerate(likes):
        model = inputs[place] if place < len(inputs) else None
        if model is None:
            raise ValueError(f"it is to be like input {place}, which is not there")
        found.append(_like(model, inputs, salt + number))
    return tuple(found)


def _like(model: Array, inputs: Sequence[Array | None], salt: float) -> Array:
    """Return numbers of the type and shape of an array."""
    flat: Any = model.reshape(-1)
    if not is_floating(model.dtype):  # the numbers themselves may be indices: none is new
        return np.asarray(np.roll(flat, 1 + int(salt) % 3).reshape(model.shape))
    wide: Any = flat.astype(np.float64)
    places = np.arange(model.size)
    moved: Any = np.sin(wide + _TURN * (places + salt)) + 0.25 * np.roll(wide, 1)
    moved = moved + sum(_weighed(other, number) for number, other in enumerate(inputs))
    return np.asarray(moved).astype(model.dtype).reshape(model.shape)


def _weighed(array: Array | None, number: int) -> float:
    """Return one number that depends on every element of an input and its place."""
    if array is None or not array.size or array.dtype.kind not in "fiub":
        return 0.0
    wide: Any = array.reshape(-1).astype(np.float64)
    turned: Any = np.cos(_TURN * np.arange(number, number + array.size))
    return float((wide * turned).mean())
