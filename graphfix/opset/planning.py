"""What one step does to one node: nothing, other attributes, or a replacement."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from graphfix.analysis.inference import type_of
from graphfix.authoring.accounting import AccountedNode, check_read
from graphfix.authoring.applying import Draft
from graphfix.authoring.building import Builder, returned_values
from graphfix.authoring.declaring import TARGETED, Pass
from graphfix.authoring.drafting import draft_rewrite, drafted, prune, splice
from graphfix.authoring.workspace import Workspace
from graphfix.errors import PassBug
from graphfix.ir.graph import Node
from graphfix.ir.schemas import Form, form_of
from graphfix.ir.views import ComputedLate, NodeView, Refuse, Value
from graphfix.opset.adapting import KEEP, Adapter, Differs, adapters
from graphfix.opset.expanding import expand, has_body
from graphfix.opset.fitting import REMOVED, Edits, Narrow, edits_to_fit
from graphfix.opset.precedents import Precedents, kind_of
from graphfix.opset.verdicts import verdict_of
from graphfix.opset.widening import WIDER, widen
from graphfix.report import EXACT, Accuracy
from graphfix.validity.complaints import element_type_complaints

MAX_DEPTH = 8


class Plan(Struct, frozen=True):
    """What is to be done to one node; neither a draft nor edits where it stays as it is.

    Attributes:
        node: The node.
        edits: Attributes to write, or to remove.
        draft: The replacement; None where the node itself stays.
        again: The replacement is in the form of the node's own opset, subgraphs included, and is to
            be planned in its turn once it is in the graph.
        accuracy: The label of the site.
        note: Domain and error of an approximate replacement.
    """

    node: Node
    edits: Edits = field(default_factory=Edits)
    draft: Draft | None = None
    again: bool = False
    accuracy: Accuracy = EXACT
    note: str = ""


class Planner(Struct, frozen=True):
    """Plans one step, for nodes that are in the form of the opset next to the target.

    Attributes:
        workspace: The names that are taken.
        target: The opset of the default domain to go to.
        functions: Domain, name and overload of the local functions: calls of them stay.
        at_run_time: Whether what was an attribute, and is computed at run time, may be replaced
            by a longer expression; otherwise the node is refused.
        adopting: Whether an operator that the source lacks and the target brings is taken for it.
        precedents: What became of earlier nodes of the same kind.
    """

    workspace: Workspace
    target: int
    functions: Collection[tuple[str, str, str]]
    at_run_time: bool = True
    adopting: bool = False
    precedents: Precedents = field(default_factory=Precedents)

    def plan(
        self, node: NodeView, opsets: Mapping[str, int], lineage: tuple[str, ...] = ()
    ) -> Plan:
        """Plan the step of one node.

        Args:
            node: The node; one of a draft counts as well.
            opsets: What its graph imports now.
            lineage: The function bodies and passes that it is the output of.

        Raises:
            Refuse: The node cannot be brought into the form of the target.
        """
        if node.domain or (node.node.domain or "", node.op, node.overload) in self.functions:
            return Plan(node.node)
        source, target = form_of(node.op, opsets[""]), form_of(node.op, self.target)
        if target is not None and target.schema.deprecated:
            target = None
        if source is None:
            if target is None or self.adopting:
                return Plan(node.node)  # an operator of no one's opset means what it meant
            raise Refuse(f"opset {opsets['']} has no {node.op}, and opset {self.target} has")
        known = adapters().get((node.op, opsets[""], self.target))
        if known is None and target is not None and target.since == source.since:
            return Plan(node.node)
        return self._changed(node, opsets, source, target, known, lineage)

    def _changed(
        self,
        node: NodeView,
        opsets: Mapping[str, int],
        source: Form,
        target: Form | None,
        known: Adapter | None,
        lineage: tuple[str, ...],
    ) -> Plan:
        why: list[str] = []
        if known is not None:
            try:
                return self._adapt(node, known, opsets)
            except Differs:
                raise
            except ComputedLate as refusal:
                self.precedents.late = True
                if not self.at_run_time:
                    raise  # folding may give the constant, and nothing is as short
                why.append(refusal.reason)
            except Refuse as refusal:
                why.append(refusal.reason)
        elif target is not None:
            try:
                return self._fit(node, opsets, source, target)
            except Refuse as refusal:
                why.append(refusal.reason)
        else:
            why.append(f"opset {self.target} has no {node.op}")
        if self.target < opsets[""] and len(lineage) < MAX_DEPTH:
            kind = kind_of(node, lineage)
            if not lineage and self.precedents.hopeless(kind):
                raise Refuse("; ".join(why))
            try:
                return self._written_out(node, opsets, source, lineage, why, kind)
            except (Refuse, PassBug):
                self.precedents.refused[kind] += 1
                raise
        raise Refuse("; ".join(why))

    def _written_out(
        self,
        node: NodeView,
        opsets: Mapping[str, int],
        source: Form,
        lineage: tuple[str, ...],
        why: list[str],
        kind: Hashable,
    ) -> Plan:
        """Let other operators stand for the node: its function body, or an exact rewrite."""
        if has_body(source):
            try:
                return self._expand(node, opsets, source, lineage)
            except Refuse as refusal:
                why.append(refusal.reason)
        borrowed = self._borrow(node, opsets, lineage, kind)
        if borrowed is None:
            raise Refuse("; ".join(why))
        return borrowed

    def _builder(self, node: NodeView, opsets: Mapping[str, int], version: int) -> Builder:
        build = Builder(self.workspace, node, opsets={**opsets, "": version})
        build.at_run_time = self.at_run_time
        return build

    def _fit(self, node: NodeView, opsets: Mapping[str, int], source: Form, target: Form) -> Plan:
        verdict = verdict_of(node.op, source.since, target.since)
        if verdict is None:
            raise Refuse(
                f"{node.op} changes at opset {self.target}, and no conversion of it is known"
            )
        try:
            return Plan(node.node, edits_to_fit(node, source, target, verdict))
        except Narrow as narrow:
            if node.op not in WIDER:
                raise
            build = self._builder(node, opsets, self.target)
            held = AccountedNode(node.node)
            plan = self._finish(node, build, widen(held, target, build, narrow))
            check_read(held)
            return plan

    def _adapt(self, node: NodeView, known: Adapter, opsets: Mapping[str, int]) -> Plan:
        build = self._builder(node, opsets, self.target)
        held = AccountedNode(node.node)
        result = known.function(held, build)
        if result is KEEP:
            return Plan(node.node)
        plan = self._finish(node, build, returned_values(result, "opset"))
        check_read(held)
        return plan

    def _expand(
        self, node: NodeView, opsets: Mapping[str, int], source: Form, lineage: tuple[str, ...]
    ) -> Plan:
        for complaint in element_type_complaints(node.node, source, type_of):
            raise Refuse(complaint.message)
        build = self._builder(node, opsets, opsets[""])
        held = AccountedNode(node.node)
        whole = self._finish(node, build, expand(held, source, build))
        check_read(held)
        try:
            return self._lowered(whole, opsets, (*lineage, node.op))
        except Refuse as refusal:
            raise Refuse(f"its function body needs {refusal.reason}") from refusal

    def _borrow(
        self,
        node: NodeView,
        opsets: Mapping[str, int],
        lineage: tuple[str, ...],
        kind: Hashable,
    ) -> Plan | None:
        """Let an exact rewrite replace the node; the smallest that can follow, None without."""
        able = [
            declared
            for declared in self.workspace.passes.rewrites_of(node.op)
            if declared.id not in lineage and _may_stand_in(declared, node)
        ]
        known = self.precedents.chosen.get(kind)
        best = self._smallest(node, opsets, lineage, [d for d in able if d.id == known])
        if best is None:
            best = self._smallest(node, opsets, lineage, [d for d in able if d.id != known])
        if best is None:
            return None
        by, plan = best
        self.precedents.chosen[kind] = by
        return plan

    def _smallest(
        self,
        node: NodeView,
        opsets: Mapping[str, int],
        lineage: tuple[str, ...],
        able: Sequence[Pass],
    ) -> tuple[str, Plan] | None:
        best: tuple[str, Plan] | None = None
        for declared in able:
            try:
                made = draft_rewrite(declared, node, self.workspace)
                if made.accuracy is not EXACT:
                    continue
                plan = self._lowered(
                    Plan(node.node, draft=made.draft), opsets, (*lineage, declared.id)
                )
            except (Refuse, PassBug):
                continue  # the reasons of the step itself are those that the user can act on
            if best is None or _size(plan) < _size(best[1]):
                best = declared.id, plan
        return best

    def _lowered(self, plan: Plan, opsets: Mapping[str, int], lineage: tuple[str, ...]) -> Plan:
        """Take the nodes of a replacement, which are in the form of the source, down as well."""
        draft = plan.draft
        assert draft is not None
        if any(True for inner in draft.nodes for _ in inner.graphs()):
            return replace(plan, again=True)
        below: list[Plan] = []
        for inner in draft.nodes:
            try:
                below.append(self.plan(NodeView(inner), opsets, lineage))
            except Refuse as refusal:
                raise Refuse(f"{inner.op}: {refusal.reason}") from refusal
        if any(each.again for each in below):
            return replace(plan, again=True)
        accuracy, note = plan.accuracy, plan.note
        # From the last to the first, so that what replaces a node is there to be spliced when
        # the outputs of an earlier one are.
        for position in reversed(range(len(below))):
            inner, each = draft.nodes[position], below[position]
            apply_edits(inner, each.edits)
            if each.draft is not None:
                draft.nodes[position : position + 1] = each.draft.nodes
                splice(draft, inner, each.draft)
            if each.accuracy is not EXACT:
                accuracy, note = each.accuracy, each.note
        return Plan(plan.node, draft=prune(draft), accuracy=accuracy, note=note)

    def _finish(self, node: NodeView, build: Builder, results: Sequence[Value | None]) -> Plan:
        # Other nodes of the same step hold on to the outputs of this one, so each of them has to
        # get a producer of its own: a value from elsewhere is passed on by an Identity.
        own = {id(t) for made in build.nodes for t in made.outputs}
        given: list[Value | None] = []
        for value in results:
            if value is not None and id(value.tensor) not in own:
                value = build.Identity(value)
            elif value is not None:
                own.discard(id(value.tensor))
            given.append(value)
        for value, old in zip(given, node.outputs, strict=False):
            _check_shape(value, old)
        draft = drafted(node, build, given, "the step")
        if len(draft.nodes) == 1 and draft.nodes[0].op == node.op:
            draft.nodes[0].name = node.name  # the same node in another form
        return Plan(node.node, draft=draft, accuracy=build.accuracy or EXACT, note=build.note)


def _may_stand_in(declared: Pass, node: NodeView) -> bool:
    exact = declared.accuracy is EXACT and declared.stage == TARGETED
    return exact and declared.pattern is None and declared.matches_node(node)


def _size(plan: Plan) -> int:
    return len(plan.draft.nodes) if plan.draft is not None else 0


def _check_shape(value: Value | None, old: Value | None) -> None:
    """Refuse a replacement to which ONNX gives another shape than the one on record."""
    if value is None or old is None or value.static_shape is None or old.static_shape is None:
        return
    if value.static_shape != old.static_shape:
        raise Refuse(
            f"the result would have shape {list(value.static_shape)}, not {list(old.static_shape)}"
        )


def apply_edits(node: Node, edits: Edits) -> None:
    """Write and remove the attributes of a plan."""
    for name, value in edits.items():
        if value is REMOVED:
            del node.attrs[name]
        else:
            node.attrs[name] = value
