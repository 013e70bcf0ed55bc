"""What a site computed before: as an engine says it, and as ONNX means it."""

from __future__ import annotations

import numpy as np

from graphfix.errors import EngineFailed
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.inexact import has_inexact_integers
from graphfix.proving.values.kinds import Feed, Value, is_integer, leaves
from graphfix.proving.verdict.inside import Inside
from graphfix.proving.verdict.numbers import compare


class FittingEngine:
    """What was there before, on inputs that fit and give it something to compute."""

    def __init__(self, engine: Engine, inside: Inside) -> None:
        """Wrap what runs it, and what says whether its operators take their operands."""
        self.name = engine.name
        self._engine, self._inside = engine, inside

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once; raises `EngineFailed` where inputs do not fit or every result is empty."""
        if not self._inside.takes(feed):
            raise EngineFailed("the operands do not fit each other")
        found = self._engine.run(feed)
        arrays = [array for value in found.values() for _, array in leaves(value)]
        if arrays and all(array is not None and not array.size for array in arrays):
            # Sizes such as h // 4 - 1 can are as zero: others are tried.
            raise EngineFailed("every result is empty")
        return found


class Truth:
    """What a site means where kernels of onnxruntime round its integers."""

    def __init__(self, original: RunnableModel) -> None:
        """Look at what was there before."""
        self._original = original
        self._rounds = has_inexact_integers(original.proto)
        self._reference: Engine | None = None

    def of(
        self, feed: Feed, expected: dict[str, Value], got: dict[str, Value]
    ) -> dict[str, Value] | None:
        """Return what the original means; None where that is not known.

        What the kernels of `graphfix.proving.runners.inexact` say of integers is no truth. Where
        both sides say the same all the same, nothing has to be known.

        Args:
            feed: The inputs.
            expected: The outputs of the original in onnxruntime.
            got: The outputs of the result.
        """
        if not self._rounds:
            return expected
        whole = [
            n for n, v in expected.items() if isinstance(v, np.ndarray) and is_integer(v.dtype)
        ]
        differ = [n for n in whole if not compare(expected[n], got.get(n)).equal]
        if not differ:
            return expected
        try:
            if self._reference is None:
                self._reference = self._original.open_reference()
            meant = self._reference.run(feed)
        except EngineFailed:
            return None
        right = all(compare(meant[n], got.get(n)).equal for n in differ)
        rounded = any(not compare(meant[n], expected[n]).equal for n in differ)
        if not right and rounded:
            return None
        return {**expected, **{n: meant[n] for n in differ}}
