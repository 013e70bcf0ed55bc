"""What the stages of a run share: the model, what was found, and the tools to edit it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from onnx import ModelProto

from graphfix.analysis.folding.known_values import infer_computed_sizes
from graphfix.authoring.declaring import TARGETED, Pass
from graphfix.authoring.registry import Catalogue
from graphfix.authoring.spared_nodes import Spared
from graphfix.authoring.workspace import USUAL_OPSET, Budget, Workspace
from graphfix.engines.checking import (
    OF_TYPES,
    Checked,
    check_alone,
    features_of,
    with_consequences,
)
from graphfix.ir.model import Model
from graphfix.ir.protos import called
from graphfix.ir.storage.weights import LEAST_SHARED, type_name
from graphfix.ir.views import NodeView
from graphfix.pipeline.faults import Specimen
from graphfix.pipeline.hooks import Hook, telling_node, telling_progress
from graphfix.pipeline.legaliser import Decision, Legaliser
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.original import Fingerprints
from graphfix.pipeline.removers import Opsets
from graphfix.pipeline.selecting import spared_nodes
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.sweep import (
    Journal,
    Left,
    run_graph_pass,
    sweep_patterns,
    sweep_rewrite,
    sweep_targeted,
)
from graphfix.pipeline.validation import interface
from graphfix.report import LOSSY, Finding, IoChange, Placement
from graphfix.validity.examination import examine, types_said

if TYPE_CHECKING:
    from graphfix.analysis.integer_products import Products
    from graphfix.report.costs import IntegerPlaces

# How many nodes a model may become: this many times what it has, and some more if it is small.
GROWTH, SMALL_GROWTH = 3, 10_000


@dataclass(slots=True, eq=False)
class Run:
    """One run over one model, which is edited in place: what the stages of a run work on.

    Attributes:
        model: The model.
        settings: What was asked for.
        hooks: Notified of stages and passes.
        budget: How many sites may be made, and how many were, those of tries included.
        original: The model as it came; never changed.
        passes: Every pass that may be used.
        journal: What the passes did.
        findings_before: What blocked it; empty without a target.
        findings_after: What blocks it now.
        before_last: What blocked it before the passes that come after all others.
        mended: What was in the way of the file before its order and imports were mended.
        placed_before: Where the nodes ran; None without a provider of onnxruntime.
        placed_after: Where they run now.
        opsets_before: The opset of each scope when `findings_before` were found.
        seconds: Seconds by stage.
        io_changes: Interface changes that were consented to, and declared shapes that were wrong.
        expected_interface: The inputs and outputs that the result must have.
        prepared: The model once its order and imports were mended, which an engine can run where
            it refuses the file; None where there was nothing to mend.
        decisions: What was tried for each node, for `explain`; None where no one asks.
        plain_nodes: How many nodes there were once functions were inlined and constants folded.
        leavable: Whether the last sweep dropped trees for what graph passes of last resort remove.
        hindering: What the last sweep found of nodes that it dropped trees for.
        left: The features that the trees of a pass left to them, by the place of the pass.
        rule_faults: The rules that raised on the model as it came or on the result.
        known_faults: What is wrong with the file as it came, as features, and what inference says
            of its types; None where no one looked.
        products: The products in 8 bits of the model as it came; None where it has none.
        integers: What of them is computed in floats now; None where nothing is.
    """

    model: Model
    settings: Settings
    hooks: Sequence[Hook] = ()
    budget: Budget = field(default_factory=Budget)
    original: ModelProto = field(init=False)
    passes: Catalogue = field(init=False)
    journal: Journal = field(init=False, default_factory=Journal)
    findings_before: tuple[Finding, ...] = field(init=False, default=())
    findings_after: tuple[Finding, ...] = field(init=False, default=())
    before_last: tuple[Finding, ...] = field(init=False, default=())
    mended: tuple[Finding, ...] = field(init=False, default=())
    placed_before: Placement | None = field(init=False, default=None)
    placed_after: Placement | None = field(init=False, default=None)
    opsets_before: Opsets = field(init=False, default_factory=dict[str, "int | None"])
    seconds: dict[str, float] = field(init=False, default_factory=dict[str, float])
    io_changes: tuple[IoChange, ...] = field(init=False, default=())
    expected_interface: dict[str, str] = field(init=False, default_factory=dict[str, str])
    prepared: ModelProto | None = field(init=False, default=None)
    decisions: list[Decision] | None = field(init=False, default=None)
    plain_nodes: int = field(init=False)
    leavable: bool = field(init=False, default=False)
    hindering: Sequence[Finding] = field(init=False, default=())
    left: list[Left] = field(init=False, default_factory=list[Left])
    rule_faults: list[Specimen] = field(init=False, default_factory=list[Specimen])
    known_faults: tuple[frozenset[str], str] | None = None
    products: Products | None = field(init=False, default=None)
    integers: IntegerPlaces | None = field(init=False, default=None)
    spared: Spared | None = field(init=False, default=None)
    _graph_work: Workspace | None = field(init=False, default=None)
    _checked: tuple[Model, Checked] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Look at the model; nothing is changed yet."""
        self.original = self.model.proto
        self.passes = Catalogue.of(self.settings.available)
        self.plain_nodes = self.model.node_count()
        asked = self.settings
        if asked.only or asked.excepted:
            self.spared = spared_nodes(self.model, asked.only, asked.excepted)

    def timed(self, name: str, stage: Callable[[Run], object]) -> None:
        """Run a stage, and tell the hooks and the clock of it."""
        for hook in self.hooks:
            hook.stage(name)
        start = perf_counter()
        stage(self)
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start

    def _telling_nodes(self) -> Callable[[int, NodeView], None] | None:
        """Return what tells the hooks at which node the run is; None where none listens."""
        tell = telling_progress(self.hooks)
        if tell is None:
            return None
        total = self.model.node_count()
        name = telling_node(self.hooks)

        def on_node(done: int, view: NodeView) -> None:
            outputs = (tensor.name for tensor in view.node.outputs)
            node = called(view.op, view.name, outputs)
            if name is not None:
                name(node)
            tell(done, total)

        return on_node

    def faults(self, *, changed: bool) -> frozenset[str]:
        """Return what is wrong with the file, as features: what is mended is never valid.

        Args:
            changed: Whether anything was mended in the file already: what was out of order had no
                types, and inference is asked of them again.
        """
        if self.known_faults is None:
            found = examine(Model(self.original, base_dir=self.model.base_dir))
            self.known_faults = features_of(found.complaints), found.typed
        features, typed = self.known_faults
        if typed and changed:
            typed = types_said(self.model)
        return features | OF_TYPES if typed else features

    @property
    def work(self) -> Workspace:
        """The names that are taken in the model, and what its edits are held to."""
        if self._graph_work is None or self._graph_work.model is not self.model:
            self._graph_work = Workspace(
                self.model,
                self.settings.proves_sites,
                self.settings.blocked,
                self.budget,
                self.passes,
                self._opset_limit(),
                self.spared,
            )
            if self.budget.nodes is None:
                self.budget.nodes = GROWTH * self._graph_work.count + SMALL_GROWTH
        return self._graph_work

    def _opset_limit(self) -> int:
        if self.settings.opset is not None:
            return self.settings.opset
        target = self.settings.target
        return target.opset_max if target is not None else USUAL_OPSET

    def graph_pass(self, declared: Pass, prints: Fingerprints | None = None) -> int:
        """Run a graph pass, where another site may be made; see `run_graph_pass`.

        It is not asked where the model does not hold what it looks at.
        """
        if self.budget.exhausted or not _holds(self.model, declared.looks_at):
            return 0
        self._checked = None
        functions = self.model.graph
        count = run_graph_pass(
            self.model, self.work, declared, self.settings.options, self.journal, prints
        )
        if self.model.graph is not functions:
            self._graph_work = None  # the pass loaded the model again
        return count

    def rewrite(
        self,
        declared: Pass,
        wanted: Callable[[NodeView], bool] | None = None,
        *,
        allow_lossy: bool = False,
    ) -> int:
        """Apply one rewrite; arguments as for `sweep_rewrite`."""
        options = self.settings.options
        count = sweep_rewrite(
            self.model, self.work, declared, options, self.journal, wanted, allow_lossy=allow_lossy
        )
        return self._changed(count)

    def patterns(
        self,
        passes: Sequence[Pass],
        wanted: Callable[[Pass], Callable[[NodeView], bool] | None],
        *,
        allow_lossy: bool = False,
    ) -> int:
        """Apply passes that have patterns, in their order; arguments as for `sweep_patterns`."""
        options = self.settings.options
        count = sweep_patterns(
            self.model, self.work, passes, options, self.journal, wanted, allow_lossy=allow_lossy
        )
        return self._changed(count)

    def _changed(self, count: int) -> int:
        """Forget what the rules said where sites changed; return how many did."""
        if count:
            self._checked = None
        return count

    def sweep(self, *, lossy: bool = False, leaving: bool = False) -> int:
        """Rewrite every node that has a finding which some pass removes; return how many.

        Args:
            lossy: Whether lossy trees may be chosen.
            leaving: Whether trees may leave findings to the graph passes of last resort.
        """
        checked = self.checked()
        self._checked = None
        legaliser = self.legaliser(lossy=lossy)
        legaliser.leaving = leaving
        legaliser.unfinished = self.settings.unfinished
        count = sweep_targeted(
            self.model,
            legaliser,
            self.journal,
            checked.is_clean,
            self._telling_nodes(),
            self.left,
        )
        self.leavable, self.hindering = legaliser.leavable, legaliser.hindering
        if not count:
            self._checked = (self.model, checked)
        return count

    def infer(self) -> None:
        """Infer every type, those of operators without schema included."""
        self._checked = None
        infer_types(self.model, self.settings.knowing)

    def findings(self, *, consequences: bool = True) -> tuple[Finding, ...]:
        """Return what blocks it on the target; nothing without one."""
        target = self.settings.target
        if target is None:
            return ()
        found = self.checked().findings
        if not consequences:
            return found
        return with_consequences(self.model, target, self.settings.assumed, found)

    def checked(self) -> Checked:
        """Return what the rules say of the model as it is; there is a target.

        Every edit goes through this record, which asks them again only after one.
        """
        target = self.settings.target
        assert target is not None
        known = self._checked
        if known is None or known[0] is not self.model or infer_computed_sizes(self.model):
            known = self.model, check_alone(self.model, target, self.settings.assumed)
            self._checked = known
        return known[1]

    def blocking(self) -> list[Finding]:
        """Return what has to go.

        What fails only because something is misread goes away with what is misread.
        """
        return [f for f in self.findings(consequences=False) if f.blocks]

    def kept_off(self) -> list[Finding]:
        """Return what has to go, and what keeps a node off the engine."""
        return [f for f in self.findings(consequences=False) if f.blocks or f.keeps_off]

    def legaliser(self, *, lossy: bool = False) -> Legaliser:
        """Return what finds rewrites for the model as it is now; there is a target."""
        target = self.settings.target
        assert target is not None
        return Legaliser(
            self.work,
            target,
            self.passes,
            self.settings.options,
            self.settings.assumed,
            allow_lossy=lossy,
            decisions=self.decisions,
            finishers=[
                declared
                for declared in self.passes.staged(TARGETED, "graph")
                if declared.last_resort
                and (self.settings.allow_lossy or declared.accuracy is not LOSSY)
            ],
        )

    def expect_changes(self) -> None:
        """Expect the inputs and outputs as they are now: what changed was consented to."""
        self.expected_interface = interface(self.model)
        news = [c for c in self.journal.io_changes if c not in self.io_changes]
        self.io_changes = (*self.io_changes, *news)


def _holds(model: Model, looked_at: Sequence[str]) -> bool:
    """Say whether a model holds what a pass looks at, see `graph_pass`: one word of each text."""
    ops = {node.op for node in model.nodes()} if looked_at else set[str]()
    return all(any(_shows(model, ops, word) for word in each.split()) for each in looked_at)


def _shows(model: Model, ops: Collection[str], word: str) -> bool:
    kind, _, name = word.rpartition(":")
    if kind == "type":
        types = {tensor.elem_type for node in model.nodes() for tensor in node.outputs}
        return name in map(type_name, types)
    if kind == "attribute":
        start = name.removesuffix("*")
        names = {own for node in model.nodes() for own in node.attrs}
        return name in names or (start != name and any(own.startswith(start) for own in names))
    if word == "weights:alike":
        kinds = [
            (one.elem_type, one.weights.shape)
            for graph in model.graphs()
            for one in graph.initializers
            if one.weights.nbytes >= LEAST_SHARED
        ]
        return len(set(kinds)) < len(kinds)
    if word == "input:unset":
        return any(node.inputs and not node.inputs[-1].name for node in model.nodes())
    if kind == "ir":
        return model.ir_version <= int(name)
    return model.is_text if word == "file:text" else word in ops
