"""The sizes on which a site was compared, for its certificate."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import onnx

from graphfix.ir.protos import required_inputs
from graphfix.proving.values.kinds import Feed
from graphfix.report import InputSizes

_INPUTS, _SHAPES = 4, 6


class SizesTried:
    """Takes down the shapes of the inputs of a site, the first few that differ."""

    def __init__(self, model: onnx.ModelProto) -> None:
        """Begin with the inputs of the site."""
        names = [info.name for info in required_inputs(model.graph)]
        self._tried: dict[str, dict[tuple[int, ...], None]] = {n: {} for n in names[:_INPUTS]}

    def take(self, feed: Feed) -> None:
        """Take down an input set that was compared."""
        for name, tried in self._tried.items():
            value = feed.get(name)
            if isinstance(value, np.ndarray) and value.ndim and len(tried) < _SHAPES:
                tried[value.shape] = None

    def sizes(self) -> tuple[InputSizes, ...]:
        """Return the inputs that have axes, each with its shapes."""
        return tuple(InputSizes(name, tuple(tried)) for name, tried in self._tried.items() if tried)


def joined(one: Iterable[InputSizes], two: Iterable[InputSizes]) -> tuple[InputSizes, ...]:
    """Return the shapes of two proofs of one site."""
    found: dict[str, dict[tuple[int, ...], None]] = {}
    for each in (*one, *two):
        found.setdefault(each.name, {}).update(dict.fromkeys(each.shapes))
    return tuple(InputSizes(name, tuple(shapes)) for name, shapes in found.items())
