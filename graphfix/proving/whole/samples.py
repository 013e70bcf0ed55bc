"""Find input sets that the original runs with."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnx.external_data_helper

from graphfix.errors import EngineFailed
from graphfix.ir.protos import required_inputs
from graphfix.proving.inputs import sizes
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.room import Room, elements
from graphfix.proving.inputs.user import read_inputs
from graphfix.proving.runners.engine import Engine, MissingForm, MissingOperator
from graphfix.proving.values.kinds import Array, Feed, Value, is_floating, is_wide_float, leaves
from graphfix.proving.verdict.numbers import compare, finite
from graphfix.proving.whole.options import FEWEST_SAMPLES
from graphfix.worker.heap import FILLINGS, unwritten_memory_filled
from graphfix.worker.limits import more_work

# The part of the time after which rare sizes are no longer tried, and how many samples try all.
_FOR_RARE = 0.2
# The part of the time after which sizes of 0 and 1 are no longer tried.
_FOR_EDGES = 0.5
_RESCANS = 3
# A model that ran at none of all sizes is given all of them so many times, with other values.
_SCANS = 2


class Samples:
    """Draws input sets and keeps those that the original runs with.

    Attributes:
        maker: What draws them.
        room: Whether there is memory at some sizes; None where no one says.
        every: All input sets that there are, where they can be listed; then these are drawn, one
            for each number.
        last_error: Why the original did not run with the last set that failed.
    """

    def __init__(
        self,
        model: onnx.ModelProto,
        engine: Engine,
        maker: FeedMaker,
        inputs: Path | None,
        patience: float,
        every: list[Feed] | None = None,
        room: Room | None = None,
        *,
        smallest_first: bool = False,
        repeating: bool = False,
    ) -> None:
        """Read the user's inputs if there are any; draw no more after `patience` seconds of work.

        Sizes are chosen for which there is `room`; where memory runs out all the same, smaller
        ones are tried. `smallest_first` begins with these. Where a model is `repeating`, the first
        sizes must be such that it computes the same again.

        Raises:
            UsageError: They do not fit the model.
        """
        self._model = model
        self._engine = engine
        self.maker = maker
        self._user = read_inputs(inputs, model) if inputs is not None else None
        self._began = time.process_time()
        self._patience = patience
        self.room = room
        self._smallest_first = smallest_first
        self._known: list[int] = []
        self._repeating = repeating and maker.is_dynamic()
        self._refused: set[int] = set()
        self._last = 0
        self._rescans = 0
        self._scans = 0
        self.every = every if inputs is None else None
        self.last_error: EngineFailed | None = None
        self.last_feed: Feed | None = None

    def next(self, sample: int, redraw: int = 0) -> tuple[Feed, dict[str, Value]] | None:
        """Return an input set and what the original computes; None when it runs with none.

        Raises:
            MemoryError: Memory ran out at the smallest sizes, too.
        """
        if self._user is not None:
            return self._from_user(sample + redraw)
        if self.every is not None:
            return self._run(self.every[sample % len(self.every)])
        passed_over: list[tuple[int, bool]] = []
        guesses: Iterable[tuple[int, bool]] = self._guesses(sample)
        if self._smallest_first:
            guesses = sorted(guesses, key=lambda guess: self._cost(sample, guess[0]))
        for attempt, other_side in guesses:
            if attempt in self._refused:
                continue
            rare = attempt not in self._known and bool(self._known or attempt >= sizes.ATTEMPTS)
            if self._spent() > (_FOR_RARE if rare else 1.0):
                return None
            if not self._fits(sample, attempt):
                passed_over.append((attempt, other_side))
                continue
            found = self._try(sample, attempt, redraw, other_side=other_side)
            if found is not None:
                return found
            if isinstance(self.last_error, MissingOperator) and not isinstance(
                self.last_error, MissingForm
            ):
                return None  # no other size brings an operator
        return None if self._known else self._smallest(sample, redraw, passed_over)

    def _try(
        self, sample: int, attempt: int, redraw: int, *, other_side: bool
    ) -> tuple[Feed, dict[str, Value]] | None:
        """Draw once and run; None where the original does not run with that."""
        try:
            feed = self.maker.draw(sample, attempt, redraw, other_side=other_side)
            if sample % 5 == 3 and redraw == 0:
                feed |= self._overrides(sample)
            self.last_feed = feed
            outputs = self._engine.run(feed)
        except EngineFailed as error:
            self.last_error = error
            return None
        except MemoryError:
            if self.room is None:
                raise
            shapes = self.maker.shapes(sample, attempt)
            if not self.maker.is_dynamic():
                if self.room.grow(shapes):
                    return self._try(sample, attempt, redraw, other_side=other_side)
                raise
            self.room.ran_out(shapes)
            return None
        self._last = attempt
        if self._repeating and not self._known and not repeats(self._engine, feed, outputs):
            self.last_error = EngineFailed("it computes something else each time")
            self._refused.add(attempt)
            return None
        if attempt not in self._known:
            self._known.append(attempt)
        return feed, outputs

    def refuse_last(self) -> None:
        """Draw no more of the sizes that were drawn last: the original does not mean them."""
        self._refused.add(self._last)
        self._known = [attempt for attempt in self._known if attempt not in self._refused]

    def _fits(self, sample: int, attempt: int) -> bool:
        if self.room is None or not self.maker.is_dynamic():
            return True
        return self.room.fits(self.maker.shapes(sample, attempt))

    def _smallest(
        self, sample: int, redraw: int, passed_over: list[tuple[int, bool]]
    ) -> tuple[Feed, dict[str, Value]] | None:
        """Try what takes least of what was too big, with as much memory as that needs.

        Raises:
            MemoryError: That does not suffice.
        """
        if not passed_over or self.room is None:
            return None
        attempt, other_side = min(passed_over, key=lambda guess: self._cost(sample, guess[0]))
        if self.room.grow(self.maker.shapes(sample, attempt)):
            return self._try(sample, attempt, redraw, other_side=other_side)
        if self.last_error is None:
            raise MemoryError
        return None  # at sizes that fit there is another reason

    def _cost(self, sample: int, attempt: int) -> int:
        return elements(self.maker.shapes(sample, attempt))

    def at_edges(
        self, tried: Sequence[int], engine: Engine | None = None, *, alone: bool = True
    ) -> Iterator[tuple[Feed, dict[str, Value]]]:
        """Yield input sets with sizes of 0 and 1 that the original runs with, and what it computes.

        The other sizes are those of the first sample. A result with a NaN or an infinity, such as
        the mean of nothing, is left out.

        Args:
            tried: 0, 1 or both.
            engine: What runs the original, if not what runs it on other sizes.
            alone: Try each dimension alone too, not only all of them together.
        """
        if self._user is not None or self.every is not None or not self._known:
            return
        edges = self.maker.edges(tried)
        for number, edge in enumerate(edges if alone else edges[: len(tried)]):
            if self._spent() > _FOR_EDGES:
                return
            try:
                feed = self.maker.draw(0, self._known[0], number, edge=edge)
                outputs = (engine or self._engine).run(feed)
            except EngineFailed:
                continue
            if all_finite(outputs):
                yield feed, outputs

    def extend(self, times: float) -> float | None:
        """Ask for so many times of what is spent until now; None where it is enough, or refused.

        Returns:
            The seconds for everything, those that are spent left out.
        """
        spent = time.process_time() - self._began
        more = more_work(2 * self._patience - spent, times * spent)
        if more is not None:
            self._patience = (more + spent) / 2
        return more

    def has_time(self, done: int) -> bool:
        """Say whether another sample is likely to be done in time, after so many."""
        return done < FEWEST_SAMPLES or self._spent() * (done + 1) / done <= 1.0

    @property
    def ran_first(self) -> int | None:
        """The attempt at sizes with which the original ran first; None for the user's inputs."""
        free = self._user is None and self.every is None
        return self._known[0] if free and self._known else None

    def _spent(self) -> float:
        """Return which part of the time is over."""
        return (time.process_time() - self._began) / self._patience

    def _guesses(self, sample: int) -> Iterator[tuple[int, bool]]:
        """Yield attempts, and whether to take the other side of branches than the sample does."""
        sides: tuple[bool, ...] = (False, True) if self.maker.has_sides() else (False,)
        near = [0, sizes.CONSERVATIVE_FROM]  # a later attempt still means smaller integers
        if self.maker.is_dynamic():
            near = self._near(sample) if self._known else []
            rest = [n for n in range(self.maker.attempts()) if n not in near]
            if not self._known:
                if self._scans >= _SCANS:  # from here on only sizes that change with the sample
                    rest = [*range(sizes.FREE_PATTERNS), sizes.CONSERVATIVE_FROM]
                self._scans += 1
                yield from ((n, side) for side in sides for n in rest)
                return
            yield from ((n, False) for n in near)
            # One side of a branch may want other sizes: a few samples look for them.
            if self._rescans < _RESCANS:
                self._rescans += 1
                yield from ((n, False) for n in rest)
            sides = sides[1:]
        yield from ((n, side) for side in sides for n in near)

    def _near(self, sample: int) -> list[int]:
        """Return the attempts that are likely to run, after those that did."""
        first = self._known[0]
        turn = sample % len(self._known)
        known = [*self._known[turn:], *self._known[:turn]]
        if first < sizes.FREE_PATTERNS:
            free = range(sizes.FREE_PATTERNS)
            return list(dict.fromkeys([first, *free, sizes.CONSERVATIVE_FROM, *known]))
        # The model wants sizes that agree: look for other ones before settling.
        if first < sizes.ATTEMPTS:
            span = sizes.ATTEMPTS - sizes.FREE_PATTERNS
            start = first - sizes.FREE_PATTERNS
            others = [sizes.FREE_PATTERNS + (start + 2 * sample + k) % span for k in (0, 1, 2)]
        else:
            others = [self.maker.neighbour(known[0])]
        return list(dict.fromkeys([*others, *known]))

    def _from_user(self, sample: int) -> tuple[Feed, dict[str, Value]] | None:
        """Return the user's inputs; after the first time with floats moved by some percent."""
        assert self._user is not None
        rng = np.random.default_rng([17, sample])
        feed = self._user
        if sample:
            feed = {name: _jittered(value, rng) for name, value in self._user.items()}
        return self._run(feed)

    def _run(self, feed: Feed) -> tuple[Feed, dict[str, Value]] | None:
        self.last_feed = feed
        try:
            return feed, self._engine.run(feed)
        except EngineFailed as error:
            self.last_error = error
            return None
        except MemoryError:
            shapes = {name: v.shape for name, v in feed.items() if isinstance(v, np.ndarray)}
            if self.room is None or not self.room.grow(shapes):
                raise
            return self._run(feed)

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


def all_finite(values: dict[str, Value]) -> bool:
    """Say whether no floating tensor has a NaN or an infinity."""
    return all(
        array is None or not is_floating(array.dtype) or finite(array)
        for value in values.values()
        for _, array in leaves(value)
    )


def repeats(engine: Engine, feed: Feed, outputs: dict[str, Value]) -> bool:
    """Say whether a model computes the same again, with other values in its memory.

    At sizes that do not fit, onnxruntime's Concat leaves parts of its output as the memory was
    where one operand is empty: such sizes have no meaning.
    """
    turned = {name: _turned(value) for name, value in feed.items()}
    for byte in FILLINGS:
        with unwritten_memory_filled(byte):
            with contextlib.suppress(EngineFailed):
                engine.run(turned)
            try:
                again = engine.run(feed)
            except EngineFailed:
                return False
        if not all(compare(value, again.get(name)).equal for name, value in outputs.items()):
            return False
    return True


def _turned(value: Value) -> Value:
    if isinstance(value, list):
        return [_turned(item) for item in value]
    return -value if isinstance(value, np.ndarray) and is_wide_float(value.dtype) else value


def _jittered(value: Value, rng: np.random.Generator) -> Value:
    if isinstance(value, np.ndarray) and is_wide_float(value.dtype):
        wide = value.astype(np.float64) * (1 + 0.05 * rng.standard_normal(value.shape))
        result: Array = np.asarray(wide).astype(value.dtype)
        return result
    return value
