"""One sweep over the nodes of every scope, for all passes at once, and what they did.

What passes did is collected in a journal, and then frozen into outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct, field

from graphfix.authoring.applying import Edit
from graphfix.authoring.declaring import Pass
from graphfix.authoring.drafting import draft_rewrite
from graphfix.authoring.editing import Editor, Recorded
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.patterns.match import Unmatched
from graphfix.authoring.registry import ANY
from graphfix.authoring.workspace import Workspace
from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.graph import Graph, Node
from graphfix.ir.importing import first_misplaced, sort_graph
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Refuse
from graphfix.pipeline.faults import Crash, surroundings
from graphfix.pipeline.legaliser import Legaliser
from graphfix.pipeline.original import Fingerprints
from graphfix.pipeline.pattern_places import PatternPlaces
from graphfix.report import (
    EXACT,
    LOSSY,
    Accuracy,
    Certificate,
    Finding,
    IoChange,
    NodeRef,
    Outcome,
    Site,
    Status,
    Verdict,
)


class Applied(Struct, frozen=True):
    """One site that was changed: the record of it from the pass to its proof.

    Attributes:
        passes: The passes that made it, the one that matched first; several where one needed what
            another gives.
        site: The site.
        evidence: What its proof is made from; None where it has none.
        certificate: The proof; None before there is one, and where nothing is to be proved.
        computes: False where a number of the file changed, or a node went that nothing used, and
            nothing that is computed.
    """

    passes: tuple[str, ...]
    site: Site
    evidence: Evidence | None = None
    certificate: Certificate | None = None
    computes: bool = True

    @property
    def differs(self) -> bool:
        """Whether the proof shows that the site computes something else."""
        return self.certificate is not None and self.certificate.status is Verdict.MISMATCH

    @property
    def proved(self) -> Site:
        """The site with its proof."""
        return replace(self.site, certificate=self.certificate) if self.certificate else self.site


class Journal(Struct):
    """Collects sites by pass, status and reason, in the order in which they first came.

    Attributes:
        applied: The sites that were changed, in their order.
        io_changes: What passes changed of inputs and outputs: by consent, or a wrong shape.
        crashes: The first node at which each pass raised, and what was there.
    """

    applied: list[Applied] = field(default_factory=list[Applied])
    io_changes: list[IoChange] = field(default_factory=list[IoChange])
    crashes: dict[str, Crash] = field(default_factory=dict[str, Crash])
    _entries: dict[tuple[str, Status, str], list[Site]] = field(
        default_factory=dict[tuple[str, Status, str], list[Site]]
    )
    _refused: set[tuple[tuple[str, Status, str], NodeRef]] = field(
        default_factory=set[tuple[tuple[str, Status, str], NodeRef]]
    )

    def copy(self) -> Journal:
        """Return a journal that continues independently."""
        entries = {key: list(sites) for key, sites in self._entries.items()}
        return Journal(
            list(self.applied),
            list(self.io_changes),
            dict(self.crashes),
            entries,
            set(self._refused),
        )

    def apply(self, passes: Iterable[str], recorded: Recorded) -> None:
        """Record a site that was changed, by the passes that made it."""
        names = tuple(dict.fromkeys(passes))
        self.applied.append(
            Applied(names, recorded.site, recorded.evidence, computes=recorded.computes)
        )
        for name in names:  # where its sites are among the outcomes
            self._entries.setdefault((name, Status.APPLIED, ""), [])

    def refused(self, pass_id: str, reason: str, node: NodeRef) -> None:
        """Record a place that was left alone; the same place and reason count once."""
        key = (pass_id, Status.REFUSED, reason)
        sites = self._entries.setdefault(key, [])
        if (key, node) not in self._refused:
            self._refused.add((key, node))
            sites.append(Site(node))

    def failed(self, pass_id: str, reason: str, at: NodeView | None) -> None:
        """Record a fault of a pass; of the first one, keep what is there now."""
        node = at.ref() if at is not None else NodeRef()
        self._entries.setdefault((pass_id, Status.FAILED, reason), []).append(Site(node))
        if pass_id not in self.crashes:
            pieces = surroundings(at.node) if at is not None else ()
            self.crashes[pass_id] = Crash(pass_id, node, reason, pieces)

    def not_needed(self, pass_id: str, reason: str = "", node: NodeRef | None = None) -> None:
        """Record that a pass that was asked for found nothing to do, and where it came nearest."""
        if not any(known == pass_id for known, _, _ in self._entries):
            sites = [] if node is None else [Site(node)]
            self._entries[(pass_id, Status.NOT_NEEDED, reason)] = sites

    def forget_refusals(self, pass_ids: Collection[str]) -> None:
        """Drop the refusals of some passes: a later round looks at the same places again."""
        self._entries = {
            key: sites
            for key, sites in self._entries.items()
            if key[1] is not Status.REFUSED or key[0] not in pass_ids
        }
        self._refused = {(key, node) for key, node in self._refused if key in self._entries}

    def applied_passes(self) -> tuple[str, ...]:
        """Return the passes that changed something, in the order of their first site."""
        return tuple(k[0] for k in self._entries if k[1] is Status.APPLIED)

    def labelled(self, accuracy: Accuracy) -> bool:
        """Say whether a site that was changed has this label."""
        return any(each.site.accuracy is accuracy for each in self.applied)

    def outcomes(self) -> tuple[Outcome, ...]:
        """Freeze what was collected, with the proofs that there are."""
        changed: dict[str, list[Site]] = {}
        for each in self.applied:
            site = each.proved
            for name in each.passes:
                changed.setdefault(name, []).append(site)
        return tuple(
            Outcome(
                pass_id,
                status,
                reason,
                tuple(changed[pass_id] if status is Status.APPLIED else sites),
            )
            for (pass_id, status, reason), sites in self._entries.items()
        )


# How often a pattern is looked for in what its own sites made; one that makes what it looks for
# would continue for ever.
PATTERN_ROUNDS = 16
Options = Mapping[str, Mapping[str, Any]]


def sweep_targeted(
    model: Model,
    legaliser: Legaliser,
    journal: Journal,
    is_clean: Callable[[Node], bool],
    on_node: Callable[[int, NodeView], None] | None = None,
    left: list[Left] | None = None,
) -> int:
    """Rewrite every node that has a finding which some pass removes; return how many.

    Args:
        model: The model.
        legaliser: Finds the rewrites.
        journal: Where sites and refusals go.
        is_clean: Says of a node of the model as it is that nothing was found there.
        on_node: Is given each node with a finding, and how many nodes came before it.
        left: Is given what each tree leaves to graph passes of last resort.
    """
    editor = Editor(model, legaliser.workspace, {}, EXACT)
    changed = seen = 0
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            seen += 1
            if not changed and is_clean(view.node):
                continue
            findings = legaliser.blocking(view)
            if not findings:
                continue
            if on_node is not None:
                on_node(seen - 1, view)
            tree = legaliser.solve(view, findings)
            if tree is None:
                blocked = any(finding.blocks for finding in findings)
                _note_rejections(legaliser, view, journal, refusals=blocked)
                continue
            try:
                editor.apply(tree.draft, tree.accuracy, "; ".join(tree.notes))
            except PassBug as bug:
                journal.failed(tree.passes[0], str(bug), view)
                continue
            changed += 1
            journal.apply(tree.passes, editor.recorded[-1])
            if left is not None and tree.left:
                left.append(Left(tree.passes[0], view.ref(), frozenset(tree.left)))
    editor.finish()
    return changed


def _note_rejections(
    legaliser: Legaliser, view: NodeView, journal: Journal, *, refusals: bool
) -> None:
    for rejection in legaliser.rejections:
        if rejection.bug is not None:
            journal.failed(rejection.pass_id, rejection.reason, view)
        elif refusals:
            journal.refused(rejection.pass_id, rejection.reason, view.ref())


def sweep_rewrite(
    model: Model,
    workspace: Workspace,
    declared: Pass,
    options: Options,
    journal: Journal,
    wanted: Callable[[NodeView], bool] | None = None,
    *,
    allow_lossy: bool = False,
) -> int:
    """Apply one rewrite on every node it matches; return how many changed.

    Args:
        model: The model.
        workspace: Its names.
        declared: The pass.
        options: Options by pass.
        journal: Where sites and refusals go.
        wanted: Which of the matching nodes; None for all.
        allow_lossy: Whether lossy sites were consented to; naming a pass is no consent.
    """
    editor = Editor(model, workspace, {}, declared.accuracy)
    changed = 0
    ops = {op for _, op in declared.matches}
    looked_at = () if ANY in ops else tuple(ops)
    sites = _Sites(editor, declared, options, journal, allow_lossy)
    for graph in editor.graphs():
        for view in editor.nodes(graph, *looked_at):
            if declared.matches_node(view) and (wanted is None or wanted(view)):
                changed += sites.apply_at(view) is not None
    editor.finish()
    return changed


def sweep_patterns(
    model: Model,
    workspace: Workspace,
    passes: Sequence[Pass],
    options: Options,
    journal: Journal,
    wanted: Callable[[Pass], Callable[[NodeView], bool] | None] | None = None,
    *,
    allow_lossy: bool = False,
) -> int:
    """Apply passes that have patterns, one after the other; return how many sites changed.

    Where a pattern may match is found in one walk for all of them. Arguments as for
    `sweep_rewrite`; `wanted` says which nodes a pass is for.
    """
    places = PatternPlaces(model, passes)
    editor = Editor(model, workspace, {}, EXACT)
    unsorted: dict[int, Graph] = {}
    changed = 0
    for declared in passes:
        asked = wanted(declared) if wanted is not None else None
        sites = _Sites(editor, declared, options, journal, allow_lossy)
        for node in _taken(places, declared):
            view = NodeView(node)
            if not declared.matches_node(view) or (asked is not None and not asked(view)):
                continue
            edit = sites.apply_at(view)
            if edit is None:
                continue
            changed += 1
            places.renew(edit.added)
            if declared.pattern is not None and len(declared.pattern.outputs) > 1:
                unsorted[id(edit.graph)] = edit.graph
        if sites.nearest is None:
            journal.not_needed(declared.id)
        else:
            at, miss = sites.nearest
            journal.not_needed(declared.id, f"the nearest is no match: {miss.reason}", at)
    editor.finish()
    for graph in unsorted.values():  # what stands for several nodes is where the first did
        if first_misplaced(graph) is not None:
            sort_graph(graph)
    return changed


def _taken(places: PatternPlaces, declared: Pass) -> Iterator[Node]:
    """Yield the nodes that a pass may match, and those that its own sites bring."""
    for _ in range(PATTERN_ROUNDS):
        for node in places.take(declared):
            if node.outputs:  # no earlier site took it
                yield node


class Left(Struct, frozen=True):
    """What a tree left to the graph passes of last resort.

    Attributes:
        pass_id: Its first pass.
        node: Where it is.
        features: What they have to remove.
    """

    pass_id: str
    node: NodeRef
    features: frozenset[str]


class _Sites(Struct):
    """Applies one rewrite, node after node, and notes what became of each.

    Attributes:
        nearest: Where a pattern that does not match was found furthest, and why no further.
    """

    editor: Editor
    declared: Pass
    options: Options
    journal: Journal
    allow_lossy: bool
    nearest: tuple[NodeRef, Unmatched] | None = None

    def apply_at(self, view: NodeView) -> Edit | None:
        """Apply the rewrite at a node, unless it is not for it, blocked or refused."""
        declared, workspace = self.declared, self.editor.workspace
        if workspace.blocks(declared.id, view.ref()):
            return None
        try:
            drafted = draft_rewrite(declared, view, workspace, self.options.get(declared.id))
            if drafted.accuracy is LOSSY and not self.allow_lossy:
                raise Refuse("lossy, and needs --allow-lossy")
            edit = self.editor.apply(drafted.draft, drafted.accuracy, drafted.note)
        except Unmatched as miss:
            if self.nearest is None or miss.depth > self.nearest[1].depth:
                self.nearest = (view.ref(), miss)
        except Refuse as refusal:
            self.journal.refused(declared.id, refusal.reason, view.ref())
        except PassBug as bug:
            self.journal.failed(declared.id, str(bug), view)
        else:
            self.journal.apply([declared.id], self.editor.recorded[-1])
            return edit
        return None


def run_graph_pass(
    model: Model,
    workspace: Workspace,
    declared: Pass,
    options: Options,
    journal: Journal,
    prints: Fingerprints | None = None,
) -> int:
    """Run a graph pass; return how many sites it recorded.

    An edit outside a recorded site is a fault of the pass, and so is a tensor that stays and has
    another dtype or shape afterwards, or one that is less known. Where a pass raises half-way, the
    sites that it finished are whole and stay.

    Args:
        model: The model.
        workspace: Its names.
        declared: The pass.
        options: Options by pass.
        journal: Where sites and refusals go.
        prints: Those of the model now, where the caller knows them; brought up to date.
    """
    given = {**declared.default_options(), **options.get(declared.id, {})}
    editor = Editor(model, workspace, given, declared.accuracy, declared.id)
    prints = prints if prints is not None else Fingerprints(model)
    failure = ""
    try:
        declared.function(editor)
    except Refuse as refusal:
        journal.refused(declared.id, refusal.reason, NodeRef())
    except GraphfixError:
        raise
    except PassBug as bug:
        failure = str(bug)
    except Exception as error:  # whatever a pass raises is its fault, named below
        failure = f"{type(error).__name__}: {error}"
    editor.finish()
    stray = prints.update(model, editor)
    if stray is not None:
        what = f"{stray.op} {stray.name!r}" if isinstance(stray, Node) else repr(stray.name)
        raise PassBug(
            f"pass {declared.id} changed {what} outside a recorded site", pass_id=declared.id
        )
    for recorded in editor.recorded:
        journal.apply([declared.id], recorded)
    journal.io_changes.extend(editor.io_changes)
    for refused in editor.refused:
        journal.refused(declared.id, refused.reason, refused.node)
    if failure:
        journal.failed(declared.id, failure, editor.current)
    return len(editor.recorded)


def first_of(findings: Sequence[Finding], declared: Pass) -> bool:
    """Say whether a pass removes the feature of one of the findings."""
    return any(declared.removes_feature(wanted) for wanted in {f.feature for f in findings})
