"""The proof of one site; runs inside the child process."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.protos import copied
from graphfix.proving.inputs.maker import required_inputs
from graphfix.proving.runners.engine import Engine, MissingForm, MissingOperator
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.sites.parameters import driven, parameters_of
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
from graphfix.proving.sites.shrinking import shrink
from graphfix.proving.sites.truth import NonEmptyEngine, Truth
from graphfix.proving.values.kinds import Feed, Value, is_floating, leaves
from graphfix.proving.verdict.inside import Inside
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.numbers import widened
from graphfix.proving.whole.samples import Samples, all_finite
from graphfix.report import APPROXIMATE, EXACT, LOSSY, Accuracy, Certificate, Verdict

# Inputs with more elements than this together are made only if smaller ones say nothing, and
# with more than that never.
MANY_ELEMENTS = 2**24
MOST_ELEMENTS = 2**26
# Above this many elements over all samples there are fewer samples.
_WORK = 2**24
_FEWEST = 3
# Sites this small say little in one sample, and cost little: the styles come more than once.
_FEW_ELEMENTS, _ROUNDS = 256, 2
# Numbers that a pass claims come behind so many samples.
_CLAIMED_AFTER = 2
# Samples that say nothing where the original divides by nothing.
_ODD = frozenset({Style.SIZES, Style.DRIVEN})
# Sizes above the first become the second, or a little more, where inputs are too big.
_LONG, _SHORT = 64, 12
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
    """

    before: onnx.ModelProto
    after: onnx.ModelProto
    accuracy: Accuracy = EXACT
    claims: frozenset[str] = frozenset()
    own: Feed | None = None


def _ignored(_feed: Feed) -> None:
    """Take no note of inputs."""


def certify(
    case: Case,
    evaluators: Evaluators,
    *,
    gentle: bool = False,
    given: Sequence[Feed] = (),
    failing: Callable[[Feed], None] = _ignored,
) -> Certificate:
    """Run both sides of a site on the same inputs and compare.

    Args:
        case: The site.
        evaluators: Numpy models of operators that no engine has.
        gentle: Only inputs of the kind that a model meets; an engine crashed on the others.
        given: Inputs to begin with; those that the site before does not run with are left out.
        failing: Told of the smallest inputs found on which both sides differ.
    """
    elements = _elements(case.before)
    if elements > MANY_ELEMENTS and not given:
        small = replace(case, before=smaller(case.before), after=smaller(case.after))
        if _elements(small.before) <= MANY_ELEMENTS:
            found = certify(small, evaluators, gentle=gentle)
            if found.status in (Verdict.EQUAL, Verdict.LOSSY):
                return found
        if elements > MOST_ELEMENTS:
            return _open(f"its inputs have {elements} elements, too many to make")
    original = RunnableModel(case.before, evaluators=evaluators)
    try:
        before = original.open()
    except EngineFailed as error:
        return _open(f"the part before the repair cannot be run: {error.message}")
    try:
        after = original.of(case.after).open()
    except MissingOperator as error:
        return _open(f"no engine has {error.key[1]} of the result: {error.message}")
    except EngineFailed as error:
        return Certificate(Verdict.MISMATCH, reason=f"the result does not load: {error.message}")
    proof = _Proof(case, original, (before, after), gentle, elements)
    proof.given, proof.failing = given, failing
    return proof.run()


def smaller(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy whose inputs have small sizes: equal ones stay equal, others differ.

    A site for which the sizes matter does not run so, or computes something else; only that both
    sides are equal then says something.
    """
    copy = copied(model)
    sizes: dict[int, int] = {}
    for info in copy.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_value > _LONG:
                dim.dim_value = sizes.setdefault(dim.dim_value, _SHORT + 2 * len(sizes))
    return copy


def _open(reason: str, samples: int = 0) -> Certificate:
    return Certificate(Verdict.INCONCLUSIVE, samples=samples, reason=reason)


def _elements(model: onnx.ModelProto) -> int:
    """Count the elements of the inputs whose values are read, dynamic dims as eight."""
    unread = shape_only(model)
    total = 0
    for info in required_inputs(model.graph):
        if info.name not in unread and info.type.HasField("tensor_type"):
            dims = info.type.tensor_type.shape.dim
            total += math.prod(d.dim_value if d.HasField("dim_value") else 8 for d in dims)
    return total


class _Proof:
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
        self._parameters = parameters_of(case.before)
        self._maker.parameters = frozenset(p.name for p in self._parameters)
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
        if case.claims and not gentle:
            styles = (*styles[:_CLAIMED_AFTER], Style.SPECIAL, *styles[_CLAIMED_AFTER:])
        self._maker.styles = self._styles = styles
        self._maker.special = case.claims
        self._judge = Judge(original)
        self.given: Sequence[Feed] = ()
        self.failing: Callable[[Feed], None] = _ignored
        self._gentle = gentle
        self._taken = 0
        self._own_taken = 0
        self._untried = ""
        self._first: Feed | None = None
        self._said_something: set[str] = set()

    def run(self) -> Certificate:
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
            found = self._look(feed, expected, Style.NATURAL)
            if found is not None:
                return found
        engine = NonEmptyEngine(self._before) if self._maker.is_dynamic() else self._before
        samples = Samples(self._case.before, engine, self._maker, None, 15.0)
        for number, style in enumerate(self._styles):
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
            spent = time.process_time() - start
            if any(self._taken >= few and spent > seconds for few, seconds in _PATIENCE):
                break
        if self._own_taken and self._taken == self._own_taken:
            found = self._look_in_own_shapes(self._case.own or {})
            if found is not None:
                return found
        if not self._taken:
            return self._nothing(samples)
        found = self._look_at_edges(samples) or self._look_at_parameters()
        if found is not None:
            return found
        silent = [o.name for o in self._case.before.graph.output]
        silent = [marked(name) for name in silent if name not in self._said_something]
        if silent:
            return _open(f"{', '.join(silent)} is empty or NaN in every sample", self._taken)
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

    def _look_in_own_shapes(self, own: Feed) -> Certificate | None:
        """Compare on other numbers in the model's own shapes, where no made ones agree."""
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
            return _open(f"no engine has {error.key[1]} of the result: {error.message}")
        except EngineFailed as error:
            if style in _ODD and not self._inside.is_meant(feed):
                return None
            self.failing(feed)
            told = text_of(feed)
            reason = f"the result fails where the original runs ({told}): {error.message}"
            return Certificate(Verdict.MISMATCH, samples=self._taken, reason=reason)
        meant = self._truth.of(feed, expected, got)
        if meant is None:
            return None
        expected = meant
        if style in _ODD and self._judge.differs(expected, got) and not self._inside.is_meant(feed):
            return None
        if self._judge.take(feed, expected, got):
            self._taken += 1
            if style not in _ODD:
                self._first = self._first or feed
                self._listen(expected, style)
        return self._differs(feed, style) if self._judge.broken else None

    def _nothing(self, samples: Samples) -> Certificate:
        if self._judge.unstable:
            return _open(f"rounding alone changes the result: {self._judge.unstable_reason}")
        error = samples.last_error
        text = error.message if error is not None else "every result is infinite or NaN"
        return _open(f"the part before the repair does not run on any input that was tried: {text}")

    def _listen(self, expected: dict[str, Value], style: Style) -> None:
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
                    self._said_something.add(name)

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
