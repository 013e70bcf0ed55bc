"""The flow of a run: prepare, infer, canonicalise, legalise, step the opset down, look again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from onnx import ModelProto

from graphfix.authoring.catalogue import Catalogue
from graphfix.authoring.declaring import CANONICAL, INTERFACE, PREPARE, TARGETED, Pass
from graphfix.authoring.editing import Recorded
from graphfix.authoring.views import NodeView
from graphfix.authoring.workspace import USUAL_OPSET, Budget, Workspace
from graphfix.checking import check_model, check_whole
from graphfix.engines.placing import as_told
from graphfix.hooks import Hook
from graphfix.model import Model
from graphfix.opset.formats import needed_ir
from graphfix.opset.stepping import OPSET, Blocker, StepBlocked, lower_one, move_to
from graphfix.pipeline.attributing import Opsets, opsets_of
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.consenting import consent_wanting, note_unconsented
from graphfix.pipeline.fingerprints import Fingerprints
from graphfix.pipeline.journal import Journal
from graphfix.pipeline.legalising import Decision, Legaliser
from graphfix.pipeline.mending import is_tolerated, mend_nodes, mends_nodes
from graphfix.pipeline.op_types import check_op_types
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.sweeping import (
    first_of,
    run_graph_pass,
    sweep_rewrite,
    sweep_targeted,
)
from graphfix.pipeline.typing import infer_types
from graphfix.pipeline.validating import interface
from graphfix.report import (
    EXACT,
    LOSSY,
    Finding,
    IoChange,
    NodeRef,
    Site,
    blocking_by_severity,
)
from graphfix.schemas import form_of, newest_opset

FUNCTION = "scope:local-function"
ROUNDS = 12
OPSET_PASS = OPSET
OLDEST_OPSET = 7  # engines and the adapters know nothing older
LOOK_AHEAD = 4
# How many nodes a model may become: this many times what it has, and some more if it is small.
GROWTH, SMALL_GROWTH = 3, 10_000
FOLDING = ("fold-constants", "dead-code")


class Run:
    """One run over one model, which is edited in place.

    Attributes:
        model: The model.
        settings: What was asked for.
        journal: What the passes did.
        findings_before: What stood in the way; empty without a target.
        findings_after: What stands in the way now.
        opsets_before: The opset of each scope when `findings_before` were found.
        seconds: Seconds by stage.
        io_changes: Interface changes that were consented to, and declared shapes that were wrong.
        expected_interface: The inputs and outputs that the result must have.
        original: The model as it came; never changed.
        prepared: The model once its order and imports were mended, which an engine can run where
            it refuses the file; None where there was nothing to mend.
        decisions: What was tried for each node, for `explain`; None where nobody asks.
        plain_nodes: How many nodes there were once functions were inlined and constants folded.
        budget: How many sites may be made, and how many were, those of tries included.
    """

    def __init__(
        self,
        model: Model,
        settings: Settings,
        hooks: Sequence[Hook] = (),
        budget: Budget | None = None,
    ) -> None:
        """Prepare to run; nothing is changed yet."""
        self.model: Model = model
        self.original = model.proto
        self.settings = settings
        self.hooks = hooks
        self.journal: Journal = Journal()
        self.findings_before: tuple[Finding, ...] = ()
        self.findings_after: tuple[Finding, ...] = ()
        self.opsets_before: Opsets = {}
        self.seconds: dict[str, float] = {}
        self.io_changes: tuple[IoChange, ...] = ()
        self.expected_interface: dict[str, str] = {}
        self.plain_nodes: int = model.node_count()
        self.decisions: list[Decision] | None = None
        self.budget = budget if budget is not None else Budget()
        self.prepared: ModelProto | None = None
        self._passes = Catalogue.of(settings.available)
        self._graph_work: Workspace | None = None
        self._mended: tuple[Finding, ...] = ()

    def execute(self) -> None:
        """Run all stages.

        Raises:
            InvalidModel: The graph has a cycle, or external data cannot be read.
            UsageError: A shape or a type that the user gives does not fit the model.
            PassBug: A graph pass edited outside its sites.
        """
        self.io_changes = bind_shapes(self.model, self.settings.shapes)
        self.expected_interface = interface(self.model)
        if self.settings.named is not None:
            self._stage("infer", self._infer_first)
            self._look_before()
            self._stage("passes", self._named)
        else:
            self._stage("prepare", self._prepare)
            self._stage("infer", self._infer_first)
            self._look_before()
            if self.settings.target is not None:
                self._stage("prepare", self._mend)
                self._stage("interface", self._interface)
                self._stage("canonicalise", self._canonicalise)
                # What is folded by now may be what a pass was missing.
                if self._interface():
                    self._stage("canonicalise", self._canonicalise)
                self._stage("legalise", self._legalise)
                self._stage("prepare", self._mend)  # what stood in functions has types by now
            if self.settings.opset is not None:
                self._stage("prepare", self._mend_operators)
                self._stage("opset", self._convert)
                self._stage("prepare", self._mend)  # at a newer opset there may be nothing to mend
            elif self.settings.target is not None:
                self._stage("opset", self._step_down)
                if self.settings.allow_lossy:
                    self._stage("lossy", self._lossy)
        self._expect_corrections()
        self._stage("check", self._look_after)

    def _stage(self, name: str, work: Callable[[], object]) -> None:
        for hook in self.hooks:
            hook.stage(name)
        start = perf_counter()
        work()
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start

    @property
    def _work(self) -> Workspace:
        if self._graph_work is None or self._graph_work.model is not self.model:
            self._graph_work = Workspace(
                self.model,
                self.settings.proves_sites,
                self.settings.blocked,
                self.budget,
                self._passes,
                self._opset_limit(),
            )
            if self.budget.nodes is None:
                self.budget.nodes = GROWTH * self._graph_work.count + SMALL_GROWTH
        return self._graph_work

    def _opset_limit(self) -> int:
        if self.settings.opset is not None:
            return self.settings.opset
        target = self.settings.target
        return target.opset_max if target is not None else USUAL_OPSET

    def _graph_pass(self, declared: Pass, prints: Fingerprints | None = None) -> int:
        if self.budget.exhausted:
            return 0
        functions = self.model.graph
        count = run_graph_pass(
            self.model, self._work, declared, self.settings.options, self.journal, prints
        )
        if self.model.graph is not functions:
            self._graph_work = None  # the pass loaded the model anew
        return count

    def _prepare(self) -> None:
        passes = self._passes.staged(PREPARE, "graph")
        target = self.settings.target
        wanted = [
            each
            for each in passes
            if not is_tolerated(each, target) and not consent_wanting(each, self.settings)
        ]
        said = tuple(check_whole(self.model, target)) if target is not None else ()
        acted = [declared for declared in wanted if self._graph_pass(declared)]
        self._mended = tuple(
            f for f in said if f.certain and any(p.removes_feature(f.feature) for p in acted)
        )
        if acted:
            self.prepared = self.model.to_proto()

    def _mend(self) -> None:
        """Run the rewrites of nodes that the file may not have at its opset."""
        self._mend_with([declared for declared in self._passes if mends_nodes(declared)])

    def _mend_operators(self) -> None:
        """Run those for operators that are no longer there, whatever the opset is to be."""
        passes = [declared for declared in self._passes if mends_nodes(declared)]
        self._mend_with([declared for declared in passes if declared.stage != PREPARE])

    def _mend_with(self, passes: Sequence[Pass]) -> None:
        if mend_nodes(self.model, self._work, passes, self.settings, self.journal):
            self._infer()

    def _interface(self) -> int:
        """Run the passes that change inputs or outputs, where that was consented to."""
        if not self.settings.allow_io_change:
            return 0
        changed = 0
        passes = self._passes.staged(INTERFACE, "graph")
        self.journal.forget_refusals({declared.id for declared in passes})
        for declared in passes:
            if not consent_wanting(declared, self.settings) and first_of(
                self._blocking(), declared
            ):
                changed += self._graph_pass(declared)
                self._infer()
        self._expect_changes()
        return changed

    def _expect_changes(self) -> None:
        """Expect the inputs and outputs as they are now: what changed was consented to."""
        self.expected_interface = interface(self.model)
        news = [c for c in self.journal.io_changes if c not in self.io_changes]
        self.io_changes = (*self.io_changes, *news)

    def _expect_corrections(self) -> None:
        """Expect of an output the shape that a pass proved, where another one was declared."""
        corrected = [c for c in self.journal.io_changes if c not in self.io_changes]
        names = {change.name for change in corrected}
        for key, text in interface(self.model).items():
            if key.split(" ", 2)[0] == "output" and key.split(" ", 2)[2] in names:
                self.expected_interface[key] = text
        self.io_changes = (*self.io_changes, *corrected)

    def _infer(self) -> None:
        infer_types(self.model, self.settings.knowing)

    def _infer_first(self) -> None:
        self._infer()
        check_op_types(self.model, self.settings.op_types)

    def _findings(self, *, consequences: bool = True) -> tuple[Finding, ...]:
        target = self.settings.target
        if target is None:
            return ()
        return check_model(self.model, target, self.settings.assumed, consequences=consequences)

    def _look_before(self) -> None:
        found = as_told(self.model, self._findings())
        # What was mended first was in the way, too.
        self.findings_before = (*(f for f in self._mended if f not in found), *found)
        self.opsets_before = opsets_of(self.model)

    def _look_after(self) -> None:
        self.findings_after = as_told(self.model, self._findings())
        if self.findings_after:
            aside = self._legaliser(lossy=True)
            aside.decisions = None
            note_unconsented(self.findings_after, self.settings, aside, self.journal)

    def _named(self) -> None:
        for declared in self.settings.named or ():
            if declared.kind == "graph":
                # To name a pass is no consent, as for the sites of a rewrite.
                if reason := consent_wanting(declared, self.settings):
                    self.journal.refused(declared.id, reason, NodeRef())
                elif self._graph_pass(declared) and declared.changes_io:
                    self._infer()
                    self._expect_changes()
            else:
                sweep_rewrite(
                    self.model,
                    self._work,
                    declared,
                    self.settings.options,
                    self.journal,
                    self._wanted(declared),
                    allow_lossy=self.settings.allow_lossy,
                )
            self.journal.not_needed(declared.id)

    def _wanted(self, declared: Pass) -> Callable[[NodeView], bool] | None:
        """Return which nodes a named pass is for: those with a finding, where a target is given."""
        if self.settings.target is None:
            return None
        legaliser = self._legaliser()
        return lambda view: first_of(legaliser.blocking(view), declared)

    def _canonicalise(self) -> bool:
        changed = False
        prints = Fingerprints(self.model)
        for _ in range(ROUNDS):
            moved = 0
            for declared in self._passes.staged(CANONICAL, "graph"):
                moved += self._graph_pass(declared, prints)
            rewritten = 0
            for declared in self._passes.staged(CANONICAL, "rewrite"):
                rewritten += sweep_rewrite(
                    self.model, self._work, declared, self.settings.options, self.journal
                )
            if rewritten:
                prints = Fingerprints(self.model)
            if not moved + rewritten:
                break
            changed = True
            self._infer()
        return changed

    def _legaliser(self, *, lossy: bool = False) -> Legaliser:
        target = self.settings.target
        assert target is not None
        return Legaliser(
            self._work,
            target,
            self._passes,
            self.settings.options,
            self.settings.assumed,
            allow_lossy=lossy,
            decisions=self.decisions,
        )

    def _legalise(self) -> None:
        again = {declared.id for declared in self._passes if declared.stage == TARGETED}
        for round_ in range(ROUNDS):
            self.journal.forget_refusals(again)
            moved = 0
            blocking = self._blocking()
            for declared in self._passes.staged(TARGETED, "graph"):
                if declared.accuracy is not LOSSY and first_of(blocking, declared):
                    sites = self._graph_pass(declared)
                    if sites:
                        moved += sites
                        blocking = self._blocking()
            if moved:
                self._infer()
                self._canonicalise()
            if round_ == 0:
                self.plain_nodes = self.model.node_count()
            moved += sweep_targeted(self.model, self._legaliser(), self.journal)
            if not moved and not self._inline_what_is_left():
                break
            self._infer()
            self._canonicalise()

    def _inline_what_is_left(self) -> bool:
        """Inline local functions that the target reads, where findings are left inside of them.

        In the places that call it, types and constants are known that a function lacks.
        """
        if not self.model.functions or not any(
            finding.node.scope.startswith("function:") for finding in self._blocking()
        ):
            return False
        inliners = [
            p for p in self._passes.staged(TARGETED, "graph") if p.removes_feature(FUNCTION)
        ]
        return any(self._graph_pass(declared) for declared in inliners)

    def _blocking(self) -> list[Finding]:
        # What fails only because something is misread goes away with what is misread.
        return [f for f in self._findings(consequences=False) if f.blocks]

    def _lossy(self) -> None:
        for declared in self._passes.staged(TARGETED, "graph"):
            wanted = declared.accuracy is LOSSY and first_of(self._blocking(), declared)
            if wanted and self._graph_pass(declared):
                self._infer()
                self._canonicalise()
        if sweep_targeted(self.model, self._legaliser(lossy=True), self.journal):
            self._infer()
            self._canonicalise()

    def _convert(self) -> None:
        wanted = self.settings.opset
        assert wanted is not None
        before = self.model.opset
        if not self._may_step():
            return
        try:
            moved = self._moved(wanted)
        except StepBlocked as blocked:
            for blocker in blocked.blockers:
                self.journal.refused(OPSET_PASS, blocker.reason, blocker.node)
            return
        for each in moved:
            self.journal.apply([OPSET_PASS], each)
        if wanted < before:
            self._lower_ir()
        self._infer()

    def _lower_ir(self) -> None:
        """Lower the IR version with the opset: who reads no newer opset reads no newer file."""
        older, needed = self.model.ir_version, needed_ir(self.model)
        if needed < older:
            self.model.ir_version = needed
            site = Site(NodeRef(), EXACT, note=f"IR version {older} becomes {needed}")
            self.journal.apply([OPSET_PASS], Recorded(site, computes=False))

    def _may_step(self) -> bool:
        """Say whether the opset may move: not where the user skips it or its result was wrong."""
        return not self.budget.exhausted and any(p.id == OPSET_PASS for p in self._passes)

    def _moved(self, wanted: int) -> list[Recorded]:
        """Move to an opset; what is computed is folded only where a constant is asked for."""
        try:
            return move_to(self.model, self._work, wanted, at_run_time=False)
        except StepBlocked:
            if self.budget.outgrown:
                raise
            for declared in self._passes.staged(CANONICAL, "graph"):
                if declared.id in FOLDING:
                    self._graph_pass(declared)
            self._infer()
            return move_to(self.model, self._work, wanted)

    def _step_down(self) -> None:
        """Lower the opset one step at a time while that removes what stands in the way.

        An engine that reads any number but misreads newer forms is given the highest opset that
        leaves no finding; one that rejects the number itself gets what it takes.
        """
        target = self.settings.target
        assert target is not None
        if not self._may_step() or self.budget.outgrown:
            return
        floor = max(target.opset_min or OLDEST_OPSET, OLDEST_OPSET)
        wanted = max(target.opset_max, floor)
        if self.model.opset > wanted and any(_by_opset(f) for f in self._blocking()):
            steps = self.model.opset - wanted
            helped = self._descend(wanted, steps)
            if not helped and any(_came_after(wanted, f) for f in self._blocking()):
                # What stands for a newer operator may be of a form that the engine misreads.
                self._descend(floor, steps + LOOK_AHEAD)
        while self.model.opset > floor and any(self._may_go_lower(f) for f in self._blocking()):
            # Further down than the engine asks for; a few steps may be needed before the form
            # that it reads is reached.
            if not self._descend(floor, LOOK_AHEAD):
                return

    def _may_go_lower(self, finding: Finding) -> bool:
        """Say whether a few opsets lower the form may be another, or the operator written out."""
        return _is_form(finding) or _came_after(self.model.opset - LOOK_AHEAD, finding)

    def _descend(self, floor: int, steps: int) -> bool:
        """Step down and stay at the highest opset that leaves least; say whether that is lower."""
        start: Model = self.model
        here = self._blocking()
        limits = blocking_by_severity(here) | blocking_by_severity(self.findings_before)
        best: tuple[_Left, Model, Journal] = (_left(here), start, self.journal)
        blockers: tuple[Blocker, ...] = ()
        self.model, self.journal = start.copy(), self.journal.copy()
        self._infer()
        for _ in range(steps):
            if self.model.opset <= floor:
                break
            blockers = self._one_step_down()
            if blockers:
                break
            left = self._blocking()
            # Fewer findings in all are no gain where those of one severity become more.
            if _left(left) < best[0] and (best[0][0] or blocking_by_severity(left) <= limits):
                last = self.model.opset <= floor or not any(_by_opset(f) for f in left)
                kept = self.model if last else self.model.copy()
                best = (_left(left), kept, self.journal.copy())
                if last:
                    break
        _, self.model, self.journal = best
        self._infer()
        for blocker in blockers:
            self.journal.refused(OPSET_PASS, blocker.reason, blocker.node)
        return self.model is not start

    def _one_step_down(self) -> tuple[Blocker, ...]:
        try:
            moved = lower_one(self.model, self._work)
        except StepBlocked as blocked:
            return tuple(blocked.blockers)
        for each in moved:
            self.journal.apply([OPSET_PASS], each)
        self._infer()
        self._canonicalise()
        self._legalise()
        return ()


_Left = tuple[bool, int]


def _left(blocking: Sequence[Finding]) -> _Left:
    """Return what is compared between two opsets: one that is refused hides all the rest."""
    return (any(f.feature == "opset:too-high" for f in blocking), len(blocking))


def _by_opset(finding: Finding) -> bool:
    kind = finding.feature.partition(":")[0]
    return kind in ("form", "opset", "op", "attr", "const", "shape")


def _is_form(finding: Finding) -> bool:
    return finding.feature.startswith("form:")


def _came_after(opset: int, finding: Finding) -> bool:
    kind, _, op = finding.feature.partition(":")
    if kind != "op" or form_of(op, newest_opset()) is None:
        return False  # of another domain, or of none that ONNX knows
    return form_of(op, max(opset, 1)) is None
