"""The proof of one site; runs inside the child process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.ir.protos import required_inputs
from graphfix.proving.inputs.maker import inlined
from graphfix.proving.inputs.same_sizes import does_the_same_with_sizes
from graphfix.proving.runners.engine import Engine, MissingForm, MissingOperator
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.sites.parameters import MOST_DRIVEN, driven, parameters_of
from graphfix.proving.sites.samples import (
    EXTREME,
    FOR_INTEGERS,
    STYLES,
    SampleMaker,
    Style,
    marked,
    shape_only,
    text_of,
)
from graphfix.proving.sites.shorter import Shorter
from graphfix.proving.sites.shrinking import shrink
from graphfix.proving.sites.sizes_tried import SizesTried
from graphfix.proving.sites.truth import FittingEngine, Truth
from graphfix.proving.values.kinds import Feed, Value, is_floating, leaves
from graphfix.proving.verdict.inside import Inside
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.numbers import widened
from graphfix.proving.whole.further_samples import Further
from graphfix.proving.whole.samples import Samples, all_finite
from graphfix.report import APPROXIMATE, EXACT, LOSSY, Accuracy, Certificate, Verdict

# Above this many elements over all samples there are fewer samples.
_WORK = 2**24
_FEWEST = 3
# Sites this small say little in one sample, and cost little: the styles come more than once.
_FEW_ELEMENTS, _ROUNDS = 256, 2
# Numbers that a pass claims come after so many samples.
_CLAIMED_AFTER = 2
# Long axes come after so many samples.
_LONG_AFTER = 2
# Samples that say nothing where the original divides by nothing.
_ODD = frozenset({Style.SIZES, Style.TELLING, Style.DRIVEN})
# CPU seconds for samples, and where the model's own values are there.
_SEARCH, _SEARCH_WITH_OWN = 15.0, 5.0
# CPU seconds for telling sizes.
_FURTHER = 0.2
# A site that has been compared this often, for so many seconds of CPU, has been compared enough:
# what a certificate looks at does not depend on what else a machine does.
_PATIENCE = ((6, 0.15), (4, 0.5), (2, 2.0))


@dataclass(frozen=True, slots=True)
class Case:
    """One site.

    Attributes:
        before: What was removed, see `graphfix.proving.sites.cutting`.
        after: What was added.
        accuracy: Its label: whether a difference was consented to, or the pass claims a domain and
            an error of its own.
        claims: The special numbers, ``nan`` or ``inf``, that go through as they did.
        own: The values that the model itself has there, where it was run.
        short: The same site with shorter axes; `own` is cut to them. None where there is none.
        whole: Run a site with shorter axes once at its own sizes as well.
    """

    before: onnx.ModelProto
    after: onnx.ModelProto
    accuracy: Accuracy = EXACT
    claims: frozenset[str] = frozenset()
    own: Feed | None = None
    short: Shorter | None = None
    whole: bool = False


def ignored(_feed: Feed) -> None:
    """Take no note of inputs."""


def _with_long(
    styles: tuple[Style, ...], short: Shorter
) -> tuple[tuple[Style, ...], list[Mapping[str, int]]]:
    """Return the styles with those of long axes after the first ones, and the sizes of each."""
    early = styles[:_LONG_AFTER]
    sizes: list[Mapping[str, int]] = [
        short.sizes[number % len(short.sizes)] for number in range(len(styles))
    ]
    sizes[_LONG_AFTER:_LONG_AFTER] = short.long
    others = tuple(Style.OTHER for _ in short.long)
    return (*early, *others, *styles[_LONG_AFTER:]), sizes


def inconclusive(reason: str, samples: int = 0) -> Certificate:
    """Return the certificate of what was not shown."""
    return Certificate(Verdict.INCONCLUSIVE, samples=samples, reason=reason)


def _varies(value: Value) -> bool:
    """Say whether a value holds more than one number, as zeros from an input of zeros do not."""
    arrays = [array for _, array in leaves(value) if array is not None and array.size]
    return any(bool((array != array.reshape(-1)[0]).any()) for array in arrays)


class SiteProof:
    """Compares both sides of a site, loaded, on one sample after the other."""

    def __init__(
        self,
        case: Case,
        original: RunnableModel,
        engines: tuple[Engine, Engine],
        gentle: bool,
        elements: int,
    ) -> None:
        self._case = case
        self._before, self._after = engines
        self._unread = shape_only(case.before, case.after)
        self._maker = SampleMaker(case.before)
        self._maker.unread = self._unread
        parameters = parameters_of(case.before)
        self._parameters = parameters[:MOST_DRIVEN]
        self._maker.parameters = frozenset(p.name for p in parameters)
        styles: tuple[Style, ...] = STYLES
        if gentle:
            styles = (Style.NATURAL, Style.OTHER)
        elif case.accuracy is APPROXIMATE:
            styles = tuple(s for s in STYLES if s not in (Style.LARGE, Style.EDGES))
        count = max(_FEWEST, min(len(styles), _WORK // max(elements, 1)))
        inputs = required_inputs(case.before.graph)
        if not [i for i in inputs if i.name not in self._unread] and not self._maker.is_dynamic():
            count = 1  # every sample would be the same
        if count > 1 and elements <= _FEW_ELEMENTS and not gentle:
            styles = styles * _ROUNDS
            count *= _ROUNDS
        styles = styles[:count]
        if not gentle and case.accuracy is not APPROXIMATE and self._maker.has_integers():
            styles = (*styles, *FOR_INTEGERS * _ROUNDS)
        self._truth = Truth(original)
        self._inside = Inside(original)
        self._unchecked = self._inside.has_unchecked
        if case.claims and not gentle:
            styles = (*styles[:_CLAIMED_AFTER], Style.SPECIAL, *styles[_CLAIMED_AFTER:])
        if case.short is not None and case.before is case.short.before:
            styles, self._maker.cuts = _with_long(styles, case.short)
        self._maker.styles = self._styles = styles
        self._maker.special = case.claims
        self._judge = Judge(original)
        self.given: Sequence[Feed] = ()
        self.failing: Callable[[Feed], None] = ignored
        self._gentle = gentle
        self._alike = 1  # so many sites are proved together
        self._taken = 0
        self._own_taken = 0
        self._untried = ""
        self._first: Feed | None = None
        self._said_something: set[str] = set()
        self._varied = False
        self._set_aside = 0
        self._tried = SizesTried(case.before)

    def run(self, *, once: bool = False) -> Certificate:
        """Compare until enough was compared, or on one sample alone."""
        start = time.process_time()
        if self._case.own is not None:
            found = self._look_at_own(self._case.own)
            if found is not None:
                return found
        for feed in self.given:
            try:
                expected = self._before.run(feed)
            except EngineFailed:
                continue
            found = self._look(feed, expected, Style.GIVEN)
            if found is not None:
                return found
        dynamic = self._maker.is_dynamic()
        engine = FittingEngine(self._before, self._inside) if dynamic else self._before
        seconds = _SEARCH if self._case.own is None else _SEARCH_WITH_OWN
        samples = Samples(self._case.before, engine, self._maker, None, seconds)
        for number, style in enumerate(self._styles[:1] if once else self._styles):
            drawn = samples.next(number)
            if drawn is None:
                error = samples.last_error
                if isinstance(error, MissingOperator) and not isinstance(error, MissingForm):
                    break
                continue
            feed, expected = drawn
            if style in EXTREME and not all_finite(expected):
                continue
            found = self._look(feed, expected, style)
            if found is not None:
                return found
            if self._is_enough(start):
                break
        if self._own_taken and self._taken == self._own_taken:
            found = self._look_in_own_shapes(self._case.own or {}, time.process_time())
            if found is not None:
                return found
        if not self._taken:
            return self._nothing(samples)
        found = None if once else self._look_further(samples)
        if found is not None:
            return found
        silent = [o.name for o in self._case.before.graph.output]
        silent = [marked(name) for name in silent if name not in self._said_something]
        if silent:
            return inconclusive(f"{', '.join(silent)} is empty or NaN in every sample", self._taken)
        if self._set_aside and not self._varied:
            return inconclusive(self._moved_by_rounding(), self._taken)
        return self._measured(Verdict.EQUAL, self._untried)

    def _look_at_own(self, own: Feed) -> Certificate | None:
        """Compare on the values of the model itself, as far as they say something."""
        try:
            expected = self._before.run(own)
        except EngineFailed:
            return None
        if not all_finite(expected):
            return None
        before = self._taken
        found = self._look(own, expected, Style.OWN)
        self._own_taken += self._taken - before
        return found

    def _is_enough(self, start: float) -> bool:
        """Say whether the site was compared so often that it took long enough since `start`."""
        spent = time.process_time() - start
        return any(self._taken >= n and spent > s * self._alike for n, s in _PATIENCE)

    def _look_in_own_shapes(self, own: Feed, start: float) -> Certificate | None:
        """Compare on other values in the model's own shapes, where no made ones agree."""
        for number, style in enumerate(self._styles[1:]):
            feed = self._maker.in_style(own, style, np.random.default_rng([29, number]))
            try:
                expected = self._before.run(feed)
            except EngineFailed:
                continue
            if style not in EXTREME or all_finite(expected):
                found = self._look(feed, expected, style)
                if found is not None:
                    return found
            if self._is_enough(start):
                break
        return None

    def _look_further(self, samples: Samples) -> Certificate | None:
        """Compare on sizes and parameters at which a rewrite may go wrong alone."""
        return (
            self._look_at_edges(samples)
            or self._look_at_telling_sizes(samples)
            or self._look_at_parameters()
        )

    def _look_at_telling_sizes(self, samples: Samples) -> Certificate | None:
        """Compare on sizes next to the numbers and ends of types that sizes meet on either side."""
        attempt = samples.ran_first
        if self._gentle or attempt is None:
            return None
        before = self._case.before
        graphs = [inlined(model).graph for model in (before, self._case.after)]
        if does_the_same_with_sizes(*graphs):
            return None
        further = Further(before, self._maker, self._before, attempt, _FURTHER, self._unread)
        for feed, expected in further.at_telling_sizes(graphs):
            found = self._look(feed, expected, Style.TELLING)
            if found is not None:
                return found
        return None

    def _look_at_edges(self, samples: Samples) -> Certificate | None:
        """Compare on sizes of 0 and 1, one of which a rewrite may take for something else."""
        if self._gentle:
            return None
        tried = (1,) if self._case.accuracy is APPROXIMATE else (1, 0)
        for feed, expected in samples.at_edges(tried, self._before):
            found = self._look(feed, expected, Style.SIZES)
            if found is not None:
                return found
        return None

    def _look_at_parameters(self) -> Certificate | None:
        """Compare on parameters at the ends of what the original takes."""
        if self._gentle or self._case.accuracy is APPROXIMATE or self._first is None:
            return None
        ran: set[str] = set()
        for name, feed in driven(self._parameters, self._first, np.random.default_rng(31)):
            try:
                expected = self._before.run(feed)
            except (EngineFailed, MemoryError):
                continue
            ran.add(name)
            if all_finite(expected):
                found = self._look(feed, expected, Style.DRIVEN)
                if found is not None:
                    return found
        refused = [marked(p.name) for p in self._parameters if p.name not in ran]
        if refused and "" not in ran:
            self._untried = f"the original takes {', '.join(refused)} as drawn and in no other way"
        return None

    def _look(self, feed: Feed, expected: dict[str, Value], style: Style) -> Certificate | None:
        """Compare on one sample; a certificate where nothing more is to be looked at."""
        try:
            got = self._after.run(feed)
        except MissingOperator as error:
            return inconclusive(f"no engine has {error.key[1]} of the result: {error.message}")
        except EngineFailed as error:
            if not self._is_meant(feed, style):
                return None
            self.failing(feed)
            inputs = text_of(feed)
            reason = f"the result fails where the original runs ({inputs}): {error.message}"
            return Certificate(Verdict.MISMATCH, samples=self._taken, reason=reason)
        meant = self._truth.of(feed, expected, got)
        if meant is None:
            return None
        expected = meant
        differs = (style in _ODD or self._unchecked) and self._judge.differs(expected, got)
        if differs and not self._is_meant(feed, style):
            return None
        if self._judge.take(feed, expected, got):
            self._taken += 1
            self._tried.take(feed)
            if style not in _ODD:
                self._first = self._first or feed
                self._said_something |= self._saying(expected, style)
                self._varied = self._varied or any(map(_varies, expected.values()))
        elif style not in _ODD:
            self._set_aside += 1
        return self._differs(feed, style) if self._judge.broken else None

    def _is_meant(self, feed: Feed, style: Style) -> bool:
        """Say whether a difference counts: odd sizes and parameters may mean nothing."""
        return self._inside.is_meant(feed) if style in _ODD else self._inside.is_written(feed)

    def _nothing(self, samples: Samples) -> Certificate:
        if self._judge.unstable:
            return inconclusive(self._moved_by_rounding())
        error = samples.last_error
        text = error.message if error is not None else "every result is infinite or NaN"
        return inconclusive(
            f"the part before the repair does not run on any input that was tried: {text}"
        )

    def _moved_by_rounding(self) -> str:
        return f"rounding alone changes the result: {self._judge.unstable_reason}"

    def _saying(self, expected: dict[str, Value], style: Style) -> set[str]:
        """Return the outputs that say something."""
        found: set[str] = set()
        for name, value in expected.items():
            for _, array in leaves(value):
                if array is None:
                    continue
                if not array.size:
                    # What is empty whatever the input has no more to it than that, nor has
                    # what is empty in the model itself.
                    said = style is Style.OWN or not self._maker.is_dynamic()
                else:
                    said = not is_floating(array.dtype) or not np.isnan(widened(array)).all()
                if said:
                    found.add(name)
        return found

    def _measured(self, status: Verdict, reason: str) -> Certificate:
        absolute = [worst[0] for worst in self._judge.worst.values()]
        relative = [worst[1] for worst in self._judge.worst.values()]
        return Certificate(
            status,
            max((a for a in absolute if a is not None), default=None),
            max((r for r in relative if r is not None), default=None),
            self._taken,
            reason,
            self._own_taken,
            self._tried.sizes(),
        )

    def _differs(self, feed: Feed, style: Style) -> Certificate:
        name, why = next(iter(self._judge.broken.items()))
        if self._case.accuracy is LOSSY and not self._judge.structural:
            return self._measured(Verdict.LOSSY, why)
        small = shrink(feed, self._fails)
        self.failing(small)
        text = text_of(small)
        reason = f"{marked(name)}: {why} ({style} values); the smallest input found: {text}"
        return self._measured(Verdict.MISMATCH, reason)

    def _fails(self, feed: Feed) -> bool:
        try:
            expected, got = self._before.run(feed), self._after.run(feed)
        except EngineFailed:
            return False
        return self._judge.differs(expected, got)
