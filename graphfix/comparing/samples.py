"""Find input sets that the original runs with."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import onnx.external_data_helper

from graphfix.comparing.engines import Engine, MissingOperator
from graphfix.errors import EngineFailed
from graphfix.feeds import sizes
from graphfix.feeds.kinds import Array, Feed, Value, is_wide_float
from graphfix.feeds.maker import FeedMaker, required_inputs
from graphfix.feeds.user import read_inputs


class Samples:
    """Draws input sets and keeps those that the original runs with."""

    def __init__(
        self,
        model: onnx.ModelProto,
        engine: Engine,
        maker: FeedMaker,
        inputs: Path | None,
        patience: float,
    ) -> None:
        """Read the user's inputs if there are any; draw no more after `patience` seconds.

        Raises:
            UsageError: They do not fit the model.
        """
        self._model = model
        self._engine = engine
        self._maker = maker
        self._user = read_inputs(inputs, model) if inputs is not None else None
        self._deadline = time.monotonic() + patience
        self._attempt: int | None = None
        self.last_error: EngineFailed | None = None

    def next(self, sample: int, redraw: int = 0) -> tuple[Feed, dict[str, Value]] | None:
        """Return an input set and what the original computes; None when it runs with none."""
        if self._user is not None:
            return self._from_user(sample + redraw)
        for attempt in self._attempts(sample):
            if time.monotonic() > self._deadline:
                return None
            try:
                feed = self._maker.draw(sample, attempt, redraw)
                if sample % 5 == 3 and redraw == 0:
                    feed |= self._overrides(sample)
                outputs = self._engine.run(feed)
            except MissingOperator as error:
                # No other size brings an operator.
                self.last_error = error
                return None
            except EngineFailed as error:
                self.last_error = error
                continue
            if self._attempt is None:
                self._attempt = attempt
            return feed, outputs
        return None

    def _attempts(self, sample: int) -> list[int]:
        if not self._maker.is_dynamic():
            # A later attempt still means smaller integers.
            return [0, sizes.TIMID_FROM]
        if self._attempt is None:
            return list(range(sizes.ATTEMPTS))
        if self._attempt < sizes.FREE_PATTERNS:
            free = range(sizes.FREE_PATTERNS)
            return [self._attempt, *(n for n in free if n != self._attempt), sizes.TIMID_FROM]
        # The model wants sizes that agree: look for other ones before settling.
        span = sizes.ATTEMPTS - sizes.FREE_PATTERNS
        start = self._attempt - sizes.FREE_PATTERNS
        others = [sizes.FREE_PATTERNS + (start + 2 * sample + k) % span for k in (0, 1, 2)]
        return [*others, self._attempt]

    def _from_user(self, sample: int) -> tuple[Feed, dict[str, Value]] | None:
        """Return the user's inputs; after the first time with floats moved by some percent."""
        assert self._user is not None
        rng = np.random.default_rng([17, sample])
        feed = self._user
        if sample:
            feed = {name: _jittered(value, rng) for name, value in self._user.items()}
        try:
            return feed, self._engine.run(feed)
        except EngineFailed as error:
            self.last_error = error
            return None

    def _overrides(self, sample: int) -> Feed:
        """Return other values for float initializers that a caller may override (IR 4 on)."""
        if self._model.ir_version < 4:
            return {}
        required = {info.name for info in required_inputs(self._model.graph)}
        names = {info.name for info in self._model.graph.input} - required
        result: Feed = {}
        rng = np.random.default_rng([19, sample])
        for tensor in self._model.graph.initializer:
            if tensor.name in names and not onnx.external_data_helper.uses_external_data(tensor):
                array = onnx.numpy_helper.to_array(tensor)
                if is_wide_float(array.dtype) and array.size > 1:
                    result[tensor.name] = _jittered(array, rng)
        return result


def _jittered(value: Value, rng: np.random.Generator) -> Value:
    if isinstance(value, np.ndarray) and is_wide_float(value.dtype):
        wide = value.astype(np.float64) * (1 + 0.05 * rng.standard_normal(value.shape))
        result: Array = np.asarray(wide).astype(value.dtype)
        return result
    return value
