"""Whether there is memory for a model at some sizes; if not, smaller ones are tried."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import onnx

from graphfix.proving.inputs.needs import Shapes, peak_bytes
from graphfix.worker.advice import TOO_MUCH
from graphfix.worker.limits import gibibytes, more_memory

# Inputs of fewer elements together are tried without a look at what the model takes.
_SURE = 2**16
# What is held apart from one run, in float64 for each number of the inputs: numbers as they are
# drawn and changed. Samples past 128 MiB are in files.
_KEPT = 3
_BASE = 2**27
_ENDLESS = 2**44  # 16 TiB
_SMALLER = 4


class Room:
    """What memory there is for one model.

    Attributes:
        short: What was missing where something did not fit, with the option that gives more.
    """

    def __init__(
        self, model: onnx.ModelProto, memory: int | None, weights: int = 0, most: int | None = None
    ) -> None:
        """Look at nothing yet.

        Args:
            model: The model.
            memory: The bytes that there are; None where no one says.
            weights: Bytes that are held in any case.
            most: How many elements all inputs together may have; None for any number.
        """
        self._model = model
        self._memory = memory
        self._weights = weights
        self._most = most
        self._needed: dict[str, int] = {}
        self.short = ""

    def fits(self, shapes: Shapes) -> bool:
        """Say whether the model can be run on inputs of these shapes."""
        count = elements(shapes)
        if self._most is not None and count > self._most:
            return False
        if self._memory is None or count <= _SURE:
            return True
        if self.needed(shapes) <= self._memory:
            return True
        self._note(shapes)
        return False

    def needed(self, shapes: Shapes) -> int:
        """Return about how many bytes a comparison takes at these shapes."""
        if elements(shapes) >= _ENDLESS:
            return _ENDLESS  # sizes for which no tensor can be named
        key = repr(sorted((name, tuple(shape)) for name, shape in shapes.items()))
        if key not in self._needed:
            peak = peak_bytes(self._model, shapes)
            kept = _KEPT * 8 * elements(shapes)
            found = (peak + kept) * 5 // 4 + self._weights + _BASE
            self._needed[key] = min(found, _ENDLESS)
        return self._needed[key]

    def ran_out(self, shapes: Shapes) -> None:
        """Note that memory did not suffice at these shapes: only much smaller ones fit now."""
        self._note(shapes)
        self._most = elements(shapes) // _SMALLER

    def grow(self, shapes: Shapes) -> bool:
        """Give this process what the model needs at these shapes, where that is reasonable.

        Returns:
            Whether there is more memory now.
        """
        if self._memory is None:
            return False
        more = more_memory(self._memory, self.needed(shapes))
        if more is None:
            self._note(shapes)
            return False
        self._memory = more
        return True

    def _note(self, shapes: Shapes) -> None:
        needed = self.needed(shapes)
        if needed == _ENDLESS:
            self.short = TOO_MUCH
            return
        least = max(needed, 2 * (self._memory or 0)) + 2**29
        self.short = (
            f"it needs about {gibibytes(needed)}; --max-memory {math.ceil(least / 2**30)}GiB "
            "gives more"
        )


def elements(shapes: Mapping[str, Sequence[int]]) -> int:
    """Return how many elements inputs of these shapes have together."""
    return sum(math.prod(shape) for shape in shapes.values())
