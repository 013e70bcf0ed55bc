"""The comparison of two whole models; runs inside the child process."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from graphfix.analysis.packed_products import formula_said
from graphfix.engines.engine import Engine
from graphfix.errors import EngineFailed, NoDevice
from graphfix.ir.storage.weights import dtype_of
from graphfix.proving.inputs import draws
from graphfix.proving.inputs.maker import inlined
from graphfix.proving.runners.engine import MissingOperator
from graphfix.proving.values.kinds import Feed, Value, is_floating, leaves
from graphfix.proving.values.shelf import Shelf
from graphfix.proving.verdict import power
from graphfix.proving.verdict.expected import upper_limit
from graphfix.proving.verdict.inside import Inside
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.verdict.numbers import cap_of
from graphfix.proving.whole.changed_alike import Pair, noticed_past_thresholds
from graphfix.proving.whole.drawing import judged_draws
from graphfix.proving.whole.further_samples import Further
from graphfix.proving.whole.informative import InformativeOutputs
from graphfix.proving.whole.options import FEWEST_SAMPLES, ORIGINAL_FAILS, RESULT_FAILS
from graphfix.proving.whole.preparing import Prepared, Task, prepare
from graphfix.proving.whole.samples import repeats
from graphfix.proving.whole.smaller_images import Corner, corner
from graphfix.report import OutputDifference, Verdict, Verification

# Samples that have so many numbers together, inputs and outputs, are enough; two are, at least:
# what is the same in both has not moved.
_MANY = 2**20
_ALIKE = 0.1  # the part of it for changing constants of both
_FURTHER = 1.0  # CPU seconds for telling sizes, and for overridden values
# What the fewest samples and all that is asked of them take, in times of what the original takes
# for the first.
_SAMPLES_WORTH = 12.0
# How many more samples say what is to be expected of a difference that is consented to.
_FOR_A_LIMIT = 16
_MEASURED = "more for what to expect of others"


def compare(task: Task) -> Verification:
    """Compare two models; see `graphfix.proving.models.compare_files`."""
    ready = prepare(task)
    if isinstance(ready, Verification):
        return ready
    return Comparison(task, ready).verdict()


def compare_as_run(task: Task) -> Verification:
    """Compare two models that run in a way of their own; no constant is changed in both."""
    ready = prepare(task)
    if isinstance(ready, Verification):
        return ready
    if ready.chance is not None:
        return Verification(Verdict.INCONCLUSIVE, "numbers are drawn at random", ready.before.name)
    return Comparison(task, ready, alike=False).verdict()


def _elements(*samples: Sequence[Feed]) -> int:
    values = [value for kind in samples for sample in kind for value in sample.values()]
    return sum(a.size for value in values for _, a in leaves(value) if a is not None)


class Comparison:
    """Runs samples until there are enough that say something."""

    def __init__(
        self,
        task: Task,
        ready: Prepared,
        *,
        kernels: Engine | None = None,
        alike: bool = True,
    ) -> None:
        self._task = task
        self._alike = alike  # whether a constant can be changed in both
        self._other_kernels = kernels is not None
        self._arithmetic = "" if kernels is None else kernels.arithmetic
        self._interface = ready.interface
        self._before = ready.before
        self._after = ready.after
        self._samples = ready.samples
        self._chance = ready.chance
        self._judge = Judge(
            task.before,
            other_kernels=self._other_kernels,
            arithmetic=self._arithmetic,
            lossy=task.options.lossy,
        )
        self._shelf = Shelf(task.scratch)
        self._feeds: list[Feed] = []
        self._values: list[dict[str, Value]] = []
        self._more: dict[str, int] = {}
        self._size = 0
        self._further: list[dict[str, Value]] = []
        self._small: tuple[Corner | None] | None = None
        self._outputs = InformativeOutputs(task.before)
        self._inside = Inside(task.before)
        self._past_thresholds = False

    def verdict(self) -> Verification:
        wanted = self._task.options.samples
        every = self._samples.every
        failed = self._run_range(0, 1)
        if failed is None and (self._feeds or self._judge.unstable or every is not None):
            once = every is None and self._is_enough_once(wanted)
            wanted = 1 if once else self._enough(wanted)
            failed = self._run_range(1, wanted if every is None else len(every))
        if failed is not None:
            return failed
        if not self._feeds and self._judge.unstable == 0:
            error = self._samples.last_error
            text = error.message if error is not None else "no sample"
            what = ORIGINAL_FAILS
            if isinstance(error, MissingOperator):
                what = f"the original cannot be run, no engine has {error.key[1]}"
            never = not isinstance(error, MissingOperator) and self._result_fails()
            return Verification(Verdict.SKIPPED, f"{what}: {text}", runs_never=never)
        few = self._samples.has_time(len(self._feeds)) and len(self._feeds) < wanted
        if every is None and (self._outputs.silent([*self._values, *self._further]) or few):
            # Other styles and sizes may move what has not moved yet, or avoid a tie.
            failed = self._run_range(wanted, 2 * wanted)
            if failed is not None:
                return failed
        if self._feeds and not self._judge.broken and not self._other_kernels:
            failed = self._run_further()
            if failed is not None:
                return failed
        if self._task.options.lossy and self._judge.broken and every is None:
            failed = self._measure_more(2 * wanted)
        return failed or self._conclude()

    def _enough(self, wanted: int) -> int:
        """Return how many samples are enough: fewer where each has many numbers."""
        drawn = self._feeds[:1] if self._task.options.inputs is None else []
        styled = any(draws.has_all_styles(feed.values()) for feed in drawn)
        if styled and self._size >= _MANY // 4:
            return min(wanted, FEWEST_SAMPLES)
        return min(wanted, max(FEWEST_SAMPLES, _MANY // max(self._size, 1)))

    def _is_enough_once(self, wanted: int) -> bool:
        """Say whether both models are equal on corners of images that are too many for all samples.

        At their own size they have been compared once, with numbers of every style.
        """
        if self._enough(wanted) == wanted or not self._feeds or self._judge.broken:
            return False
        small = self._corner()
        if small is None or self._task.options.inputs is not None:
            return False
        others = small.further(
            range(1, wanted), self._task.options, self._interface, self._judge.differs
        )
        if not others or self._outputs.silent(others):
            return False
        self._more["on corners of its images"] = len(others)
        self._further += others
        return True

    def _corner(self) -> Corner | None:
        """Return both models on a corner of the first sample, where that has many numbers."""
        if not self._may_change_constants() or self._size < _MANY:
            return None
        if self._small is None:
            asked = (self._task.before, self._task.after, self._feeds[0], self._interface)
            self._small = (corner(*asked, self._judge.differs),)
        return self._small[0]

    def _run_further(self) -> Verification | None:
        """Run what usual samples are not; returns a verdict only where the result does not run."""
        task = self._task
        alone = task.before.turns is None  # each change of turns loads a big model again
        kinds = [("with sizes of 0 or 1", self._samples.at_edges(task.options.edges, alone=alone))]
        attempt = self._samples.ran_first
        if alone and attempt is not None and self._chance is None:
            before = task.before.proto
            engine, maker = self._before, self._samples.maker
            room = self._samples.room
            further = Further(before, maker, engine, attempt, _FURTHER, room=room)
            graphs = [inlined(model).graph for model in (before, task.after.proto)]
            kinds.append(("with sizes next to what they meet", further.at_telling_sizes(graphs)))
            kinds.append(("with overridden initializers", further.overridden()))
        for kind, drawn in kinds:
            for feed, expected in drawn:
                got = self._got(feed)
                wrong = isinstance(got, Verification) or self._judge.differs(expected, got)
                if wrong and not (
                    self._inside.is_meant(feed) and repeats(self._before, feed, expected)
                ):
                    continue
                if isinstance(got, Verification):
                    return got
                if self._judge.take(feed, expected, got):
                    self._more[kind] = self._more.get(kind, 0) + 1
                    self._further.append(self._shelf.put(expected))
                if self._judge.broken and not self._task.options.lossy:
                    return None
        return None

    def _run_range(self, first: int, last: int) -> Verification | None:
        """Run samples; returns a verdict only where the result does not run."""
        for number in range(first, last):
            if not self._samples.has_time(len(self._feeds)):
                return None
            drawn = self._samples.next(number)
            if drawn is None:
                if not self._feeds and self._samples.every is None:
                    return None
                continue
            feed, expected = drawn
            if not self._feeds:
                self._ask_for_time()
                self._size = _elements([feed], [expected])
            got = self._got(feed)
            if isinstance(got, Verification):
                return got
            if self._is_meaningless(feed, expected, got):
                self._judge.set_aside()
                self._samples.refuse_last()
                continue
            if self._is_open(feed, expected, got):
                self._judge.leave_open()
                continue
            if self._judge.take(feed, expected, got):
                self._feeds.append(self._shelf.put(feed))
                self._values.append(self._shelf.put(expected))
            if self._judge.broken and not self._task.options.lossy:
                return None
        return None

    def _measure_more(self, first: int) -> Verification | None:
        """Run more samples for what they differ by; returns a verdict only if one does not run."""
        for number in range(first, first + _FOR_A_LIMIT):
            drawn = self._samples.next(number) if self._samples.has_time(number) else None
            if drawn is None:
                break
            feed, expected = drawn
            got = self._got(feed)
            if isinstance(got, Verification):
                return got
            if not (
                self._is_meaningless(feed, expected, got) or self._is_open(feed, expected, got)
            ):
                self._judge.measure(expected, got)
                self._more[_MEASURED] = self._more.get(_MEASURED, 0) + 1
        return None

    def _is_meaningless(
        self, feed: Feed, expected: dict[str, Value], got: dict[str, Value]
    ) -> bool:
        """Say whether the original computes something else each time at the sizes of a sample."""
        free = self._samples.ran_first is not None and self._samples.maker.is_dynamic()
        if self._chance is not None or not free:
            return False
        return self._judge.differs(expected, got) and not repeats(self._before, feed, expected)

    def _is_open(self, feed: Feed, expected: dict[str, Value], got: dict[str, Value]) -> bool:
        """Say whether a difference follows an integer that the original has for no number."""
        if self._chance is not None or self._task.before.turns is not None:
            return False
        differs = self._inside.makes_integers and self._judge.differs(expected, got)
        return differs and self._inside.leaves_open(feed)

    def _ask_for_time(self) -> None:
        more = self._samples.extend(_SAMPLES_WORTH)
        if more is not None:
            self._task.options = structs.replace(self._task.options, timeout=more)

    def _got(self, feed: Feed) -> dict[str, Value] | Verification:
        """Return what the result computes, or a verdict where it does not run."""
        try:
            return self._run_after(feed)
        except MissingOperator as error:
            reason = f"no engine has {error.key[1]} of the result: {error.message}"
            return Verification(Verdict.INCONCLUSIVE, reason, self._method())
        except NoDevice as error:
            return Verification(Verdict.BUILT, str(error), self._method())
        except EngineFailed as error:
            if self._other_kernels:  # it is not the result that is at fault
                reason = f"{self._after.name} does not run it: {error.message}"
                return Verification(Verdict.INCONCLUSIVE, reason, self._method())
            reason = f"{RESULT_FAILS}: {error.message}"
            return Verification(Verdict.MISMATCH, reason, self._method())

    def _result_fails(self) -> bool:
        """Say whether the result does not run either with what was tried last."""
        feed = self._samples.last_feed
        if feed is None:
            return False
        try:
            self._run_after(feed)
        except MissingOperator:
            return False  # of another engine
        except EngineFailed:
            return True
        return False

    def _run_after(self, feed: Feed) -> dict[str, Value]:
        return self._interface.read(self._after.run(self._interface.fed(feed)))

    def _may_change_constants(self) -> bool:
        alone = self._task.before.turns is None
        return self._alike and alone and self._chance is None and not self._other_kernels

    def _method(self) -> str:
        names = dict.fromkeys((self._before.name, self._after.name))
        count = len(self._feeds)
        text = f"{' against '.join(names)}, {count} sample{'s' * (count != 1)}"
        made_up = self._task.before.evaluators.made_up()
        if made_up:
            text += f", made-up functions for {' and '.join(made_up)} in both"
        more = [f"{count} {kind}" for kind, count in self._more.items() if count]
        if more:
            text += f" and {' and '.join(more)}"
        if self._outputs.moved:
            text += f", {', '.join(sorted(self._outputs.moved))} with weights changed alike in both"
        if self._past_thresholds:
            text += ", with thresholds moved alike in both"
        if self._judge.noise_used:
            text += ", tolerance from the original's own noise"
        if self._other_kernels:
            text += self._leeway()
        models = (self._task.before.proto, self._task.after.proto)
        level = formula_said(models[:1] if self._other_kernels else models)
        return "; ".join([text, *filter(None, [level]), *self._interface.notes])

    def _leeway(self) -> str:
        """Return by how much the floats of an engine may differ, and why."""
        kinds = [
            dtype_of(o.type.tensor_type.elem_type) for o in self._task.before.proto.graph.output
        ]
        caps = {cap_of(dtype, self._arithmetic) for dtype in kinds if dtype and is_floating(dtype)}
        if not caps:
            return ""
        widest = f", floats within {max(caps):g} of the largest"
        return f"{widest}, as it computes in {self._arithmetic}" if self._arithmetic else widest

    def _conclude(self) -> Verification:
        if self._judge.broken:
            return self._different()
        if not self._feeds and self._judge.opened:
            reason = (
                "a NaN or an infinity becomes an integer, and ONNX leaves open which, in "
                f"{self._judge.opened} of {self._judge.unstable} samples"
            )
            return self._result(Verdict.INCONCLUSIVE, reason)
        if not self._feeds and self._judge.unrepeated == self._judge.unstable:
            reason = "the original computes something else each time, at every size that was tried"
            return self._result(Verdict.INCONCLUSIVE, reason)
        if not self._feeds:
            reason = (
                "rounding errors alone change the outputs of the original in every sample: "
                + self._judge.unstable_reason
            )
            return self._result(Verdict.INCONCLUSIVE, reason)
        if self._samples.every is not None and not self._judge.unstable:
            return self._result(
                Verdict.EQUAL, "compared on every input with which the original runs"
            )
        silent = self._outputs.silent([*self._values, *self._further])
        if silent and self._may_change_constants():
            silent = self._outputs.unmoved(
                silent, self._pair(), _ALIKE * self._task.options.timeout
            )
        if silent:
            text = "; ".join(f"output {name} {reason}" for name, reason in silent.items())
            return self._result(Verdict.INCONCLUSIVE, text, frozenset(silent))
        if not self._outputs.dependent:
            text = "no output depends on an input: compared exactly"
            return self._result(Verdict.EQUAL, text)
        if not self._would_notice() and not self._would_notice_past_thresholds():
            reason = "no change of a constant or an input by 5% shows in an output"
            return self._result(Verdict.INCONCLUSIVE, reason)
        if self._chance is None:
            return self._result(Verdict.EQUAL, "")
        drawn = judged_draws(self._chance, self._method(), "numbers are drawn at random")
        return self._result(drawn.status, drawn.reason)

    def _would_notice(self) -> bool:
        """Say whether a change of a constant or an input shows; big inputs are cut for that."""
        small = self._corner()
        if small is not None and power.notices(
            small.after,
            small.engine,
            [small.feed],
            lambda _, got: self._judge.differs(small.expected, self._interface.read(got)),
        ):
            return True
        feeds = [self._interface.fed(feed) for feed in self._feeds]
        return bool(power.notices(self._task.after, self._after, feeds, self._differs))

    def _would_notice_past_thresholds(self) -> bool:
        """Say whether it shows where thresholds, moved alike in both models, are passed."""
        if not self._may_change_constants():
            return False
        self._past_thresholds = noticed_past_thresholds(self._pair())
        return self._past_thresholds

    def _pair(self) -> Pair:
        feeds = [(feed, self._interface.fed(feed)) for feed in self._feeds]
        return Pair(self._task.before, self._task.after, feeds, self._interface.read)

    def _differs(self, sample: int, got: dict[str, Value]) -> bool:
        return self._judge.differs(self._values[sample], self._interface.read(got))

    def _different(self) -> Verification:
        structural = self._judge.structural
        status = Verdict.LOSSY if self._task.options.lossy and not structural else Verdict.MISMATCH
        text = "; ".join(f"output {n}: {reason}" for n, reason in self._judge.broken.items())
        return self._result(status, text)

    def _result(
        self, status: Verdict, reason: str, silent: frozenset[str] = frozenset()
    ) -> Verification:
        outputs: list[OutputDifference] = []
        for info in self._task.before.proto.graph.output:
            worst = self._judge.worst.get(info.name, (None, None))
            verdict: Verdict = status if status is Verdict.INCONCLUSIVE else Verdict.EQUAL
            if silent and info.name not in silent:
                verdict = Verdict.EQUAL
            if info.name in self._judge.broken:
                verdict = status
            outputs.append(OutputDifference(info.name, worst[0], worst[1], verdict))
        samples = len(self._feeds) + sum(self._more.values())
        expected = upper_limit(self._judge.differences) if status is Verdict.LOSSY else None
        if expected is not None:
            reason += (
                f"; 99 of 100 other inputs are expected to differ by less than {expected:.2g} "
            )
            reason += "of the largest value"
        return Verification(
            status, reason, self._method(), tuple(outputs), samples=samples, expected_rel=expected
        )
