"""What a graph pass edits with: every change is a recorded site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from onnx import ModelProto, TypeProto, ValueInfoProto

from graphfix.authoring.accounting import accounted, check_replaced
from graphfix.authoring.applying import (
    Draft,
    Edit,
    all_nodes,
    apply_draft,
    dismantle,
    drop_orphans,
    unused_constants,
)
from graphfix.authoring.building import Builder, returned_values
from graphfix.authoring.copying import Values, copy_nodes
from graphfix.authoring.declared_types import redeclare, redeclare_type
from graphfix.authoring.drafting import drafted
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.reload_evidence import finish_reloaded, successors
from graphfix.authoring.workspace import Workspace
from graphfix.ir.graph import Graph, Node, Shape, Variable, is_empty
from graphfix.ir.model import Model, keep_places
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.report import Accuracy, IoChange, NodeRef, Site


class Recorded(Struct, frozen=True):
    """One recorded site of a pass.

    Attributes:
        site: The site.
        edit: What was edited; None for a change of the whole file, such as inlining.
        evidence: What its proof is made from; None where no one asks, or where there is none.
        computes: False where a number of the file changed, or a node went that nothing used, and
            nothing that is computed, so that there is nothing to prove.
    """

    site: Site
    edit: Edit | None = None
    evidence: Evidence | None = None
    computes: bool = True


class Refused(Struct):
    """One place that a graph pass would not touch."""

    node: NodeRef
    reason: str


class Editor(Struct):
    """Edits a model on behalf of one graph pass.

    Attributes:
        model: The model.
        workspace: The names that are taken.
        options: The options of the pass.
        accuracy: The label of its sites.
        pass_id: The pass; empty where several passes act through one editor.
        recorded: The sites so far.
        refused: The places it would not touch.
        io_changes: Inputs and outputs whose type or declared shape changed.
        current: The node that is being replaced; None between two of them.
    """

    model: Model
    workspace: Workspace
    options: Mapping[str, Any]
    accuracy: Accuracy
    pass_id: str = ""
    recorded: list[Recorded] = field(default_factory=list[Recorded])
    refused: list[Refused] = field(default_factory=list[Refused])
    io_changes: list[IoChange] = field(default_factory=list[IoChange])
    current: NodeView | None = None
    _pending: dict[int, list[Node]] = field(default_factory=dict[int, "list[Node]"])
    _removed: set[int] = field(default_factory=set[int])
    _kept_alive: list[Node] = field(default_factory=list[Node])
    _unused: dict[int, set[int]] = field(default_factory=dict[int, "set[int]"])

    def graphs(self) -> list[Graph]:
        """Return every scope: main graph, subgraphs, functions."""
        return list(self.model.graphs())

    def nodes(self, graph: Graph, *ops: str) -> Iterator[NodeView]:
        """Walk the nodes of a scope that are still there; edits while walking are fine.

        Places that an earlier run found this pass to be wrong at are left out. A node of another
        domain notes what is read of it, see `replace`.

        Args:
            graph: The scope.
            ops: The operators to look at; none for all.
        """
        # An edit may change the operator of a node that stays, so that each is asked in its turn.
        for node in list(graph.nodes):
            if (not ops or node.op in ops) and id(node) not in self._removed:
                view = NodeView(node)
                if not self.is_blocked(view):
                    yield accounted(view)

    def is_blocked(self, node: NodeView) -> bool:
        """Say whether this pass is to leave a node alone."""
        if self.workspace.spares(node):
            return True
        blocked = self.workspace.blocked
        return bool(blocked) and self.workspace.knows_wrong(self.pass_id, node.ref())

    def witness(self, node: NodeView) -> Evidence | None:
        """Take down how a node is now, for `apply` after its subgraphs have been taken apart."""
        return Evidence.of(node.node) if self.workspace.keeps_evidence else None

    def option(self, name: str) -> Any:
        """Return the value of an option that the pass declares."""
        return self.options[name]

    def refuse(self, node: NodeView, reason: str) -> None:
        """Record that a place was left alone, and why."""
        self.refused.append(Refused(node.ref(), reason))

    def replace(
        self,
        node: NodeView,
        make: Callable[[Builder], Value | tuple[Value | None, ...]],
        *,
        accuracy: Accuracy | None = None,
        note: str = "",
        unproved: bool = False,
    ) -> bool:
        """Replace one node by what `make` builds; False where `make` refused or it is blocked.

        A node of an operator that ONNX does not have must be a view that notes what is read of it,
        as `nodes` yields and `accounted` makes: an argument that is neither read, nor kept, nor at
        its default is a reason to refuse. `unproved` as for `apply`.

        Raises:
            PassBug: The replacement does not fit (missing output, other dtype or shape).
        """
        if self.workspace.budget.exhausted or self.is_blocked(node):
            return False
        mark = self.workspace.mark()
        build = Builder(self.workspace, node, self.options)
        by = f"pass {self.pass_id}" if self.pass_id else "a graph pass"
        self.current = node
        try:
            results = returned_values(make(build), by)
            draft = drafted(node, build, results, by)
            check_replaced(node, all_nodes(draft.nodes), results)
        except Refuse as refusal:
            self.current = None
            self.workspace.release(mark)
            self.refuse(node, refusal.reason)
            return False
        except Exception:
            self.workspace.release(mark)
            raise
        label = accuracy or build.accuracy or self.accuracy
        self.apply(draft, label, note or build.note, unproved=unproved)
        self.current = None
        return True

    def replace_together(
        self,
        nodes: Sequence[NodeView],
        write: Callable[[Builder, NodeView], Sequence[Value | None] | None],
    ) -> bool:
        """Replace nodes of one scope that pass tensors among each other in a form of their own.

        They are one site, and each new node takes the place of the one that it was written for.
        What only they read of each other is not compared.

        Args:
            nodes: The nodes, in their order.
            write: Writes what stands for a node, and returns what stands for its outputs; None
                where only others of `nodes` read these. It is called for each node in turn.

        Returns:
            False where `write` refused, one of the nodes is blocked, or something else reads what
            is left out.

        Raises:
            PassBug: What was written does not fit.
        """
        if self.workspace.budget.exhausted or any(map(self.is_blocked, nodes)):
            return False
        mark = self.workspace.mark()
        build = Builder(self.workspace, nodes[0], self.options)
        ends: list[Node] = []
        results: list[Value | None] = []
        places: dict[int, Node] = {}
        by = f"pass {self.pass_id}"
        try:
            for node in nodes:
                self.current, known = node, len(build.nodes)
                given = write(build, node)
                places.update((id(made), node.node) for made in build.nodes[known:])
                if given is not None:
                    ends.append(node.node)
                    results.extend(given)
            self.current = None
            _check_inner(nodes, ends)
            draft = drafted(NodeView(ends[0]), build, results, by, further=ends[1:])
        except Refuse as refusal:
            self.workspace.release(mark)
            self.refuse(self.current or nodes[0], refusal.reason)
            self.current = None
            return False
        except Exception:
            self.workspace.release(mark)
            raise
        self.current = None
        edit = self.apply(draft, build.accuracy or self.accuracy, build.note)
        del self._pending[id(draft.node)]
        for made in edit.added:
            place = places.get(id(made), draft.node)
            self._pending.setdefault(id(place), []).append(made)
        return True

    def can_replace(
        self, node: NodeView, make: Callable[[Builder], Value | tuple[Value | None, ...]]
    ) -> bool:
        """Say whether `make` may stand for a node; where it refuses, that is recorded.

        Nothing is changed. For passes that have to change the interface before they replace.
        """
        mark = self.workspace.mark()
        build = Builder(self.workspace, node, self.options)
        try:
            results = returned_values(make(build), f"pass {self.pass_id}")
            check_replaced(node, all_nodes(build.nodes), results)
        except Refuse as refusal:
            self.refuse(node, refusal.reason)
            return False
        finally:
            self.workspace.release(mark)
        return True

    def merge(self, first: NodeView, other: NodeView) -> NodeView:
        """Let one new node stand for two of a scope that compute the same; return it.

        Args:
            first: The one that comes first in its graph.
            other: Another with the same operator, inputs and attributes.
        """
        build = Builder(self.workspace, first, self.options)
        copies: Values = {}
        copy_nodes(build, [first.node], copies)
        given = [None if is_empty(t) else copies[id(t)] for t in first.node.outputs]
        by = f"pass {self.pass_id}"
        draft = drafted(first, build, [*given, *given], by, further=[other.node])
        edit = self.apply(draft, self.accuracy)
        made = NodeView(next(node for node in edit.added if node.op == first.op))
        made.node.name = first.name or made.name
        return made

    def apply(
        self,
        draft: Draft,
        accuracy: Accuracy,
        note: str = "",
        *,
        evidence: Evidence | None = None,
        version: int | None = None,
        unproved: bool = False,
    ) -> Edit:
        """Put a finished draft into the graph and record its site; see `apply_draft`.

        `unproved` says that the site by itself does not compute the same, only the whole model
        does: its certificate is inconclusive then.
        """
        graph = draft.node.graph
        self._remember_unused(graph)
        edit = apply_draft(self.workspace, draft, evidence=evidence, version=version)
        self._pending[id(draft.node)] = edit.added
        self._removed.update(id(n) for n in edit.removed)
        self._kept_alive.extend(edit.removed)
        added = tuple(NodeView(n).ref() for n in edit.added)
        site = Site(edit.node, accuracy, tuple(edit.removed_refs), added, note=note)
        self._keep(Recorded(site, edit, None if unproved else edit.evidence))
        return edit

    def remove(self, nodes: Sequence[NodeView], note: str = "") -> None:
        """Remove nodes whose outputs nothing uses; `note` is said of each."""
        for view in nodes:
            ref = view.ref()
            scope = view.graph
            self._remember_unused(scope)
            dismantle(view.node)
            view.node.detach()
            self.workspace.count -= 1
            self._removed.add(id(view.node))
            self._kept_alive.append(view.node)
            edit = Edit(scope, ref, removed=[view.node], removed_refs=[ref])
            site = Site(ref, self.accuracy, (ref,), note=note)
            self._keep(Recorded(site, edit, computes=False))

    def change_type(self, tensor: Variable, elem_type: int, *, unproved: bool = False) -> None:
        """Give an input or output of the main graph another element type, and record that.

        `unproved` as for `apply`: the new type rounds what the old one holds.
        """
        old = Value(tensor).type_name
        evidence = None
        if self.workspace.keeps_evidence and tensor.outputs and not unproved:
            evidence = Evidence.of_type(tensor, elem_type)
        tensor.elem_type = elem_type
        if tensor.info is not None:
            info = ValueInfoProto()
            info.CopyFrom(tensor.info)
            info.type.tensor_type.elem_type = elem_type
            tensor.info = info
        change = IoChange(tensor.name, old, Value(tensor).type_name)
        self.io_changes.append(change)
        ref = NodeRef(outputs=(tensor.name,))
        self.record(ref, f"{change.old} becomes {change.new}", evidence)

    def correct_shape(self, tensor: Variable, shape: Shape) -> None:
        """Declare the shape that a tensor was proved to have, and record that.

        The values stay what they are. An output of the main graph is an interface change as well.
        """
        old, new = redeclare(tensor, shape)
        if any(output is tensor for output in self.model.graph.outputs):
            self.io_changes.append(IoChange(tensor.name, old, new))
        self.record_number(NodeRef(outputs=(tensor.name,)), f"declared as {old}, is {new}")

    def correct_type(self, graph: Graph, tensor: Variable, known: TypeProto) -> None:
        """Declare the type that the output of a node was proved to have, and record that.

        An output of the main graph is an interface change as well.
        """
        old, new = redeclare_type(graph, tensor, known)
        if any(output is tensor for output in self.model.graph.outputs):
            self.io_changes.append(IoChange(tensor.name, old, new))
        ref = NodeRef(outputs=(tensor.name,), scope=graph.scope)
        self.record_number(ref, f"declared as {old}, is {new}")

    def _remember_unused(self, graph: Graph | None) -> None:
        """Note, once a scope, which initializers no one used before: those are not ours to drop."""
        while graph is not None:
            if id(graph) not in self._unused:
                self._unused[id(graph)] = unused_constants(graph)
            graph = graph.parent.graph if graph.parent is not None else None

    def record(self, node: NodeRef, note: str = "", evidence: Evidence | None = None) -> None:
        """Record a change that is not the replacement of a node: an order, an import, a type."""
        self._keep(Recorded(Site(node, self.accuracy, note=note), evidence=evidence))

    def record_number(self, node: NodeRef, note: str) -> None:
        """Record a number of the file that changed: an opset, a version, a declared size.

        Nothing that is computed changes with it, so that there is nothing to prove.
        """
        self._keep(Recorded(Site(node, self.accuracy, note=note), computes=False))

    def _keep(self, recorded: Recorded) -> None:
        self.recorded.append(recorded)
        self.workspace.budget.made += 1

    def reload(self, proto: ModelProto) -> None:
        """Take the graph and the functions of `proto`, which was made from this model."""
        fresh = Model(proto, base_dir=self.model.base_dir)
        keep_places(self.model.graphs(), fresh.graphs())
        self.model.proto = proto
        self.model.graph = fresh.graph
        self.model.functions = fresh.functions
        old = self.workspace
        old.budget.nodes, old.budget.outgrown = None, False  # what was inlined is the file's
        self.workspace = Workspace(
            self.model,
            old.keeps_evidence,
            old.blocked,
            old.budget,
            old.passes,
            old.opset_limit,
            old.spared,
        )

    def replace_file(self, proto: ModelProto, nodes: Sequence[NodeView], note: str = "") -> None:
        """Take `proto`, in which some nodes gave way to others, and record a site for each.

        Args:
            proto: Made from this model; what was kept bears its names, also the outputs of `nodes`.
            nodes: What gave way, outside of functions.
            note: What is said of each.
        """
        old = self.model.graph
        before = [(view, view.ref(), self.witness(view)) for view in nodes]
        self.reload(proto)
        wanted = {id(view.node) for view in nodes}
        scopes = {id(node): scope for node, scope in successors(old, self.model.graph, wanted)}
        for view, ref, evidence in before:
            scope = scopes.get(id(view.node))
            if evidence is not None and scope is not None:
                whole = finish_reloaded(evidence, view.node, scope)
                evidence = evidence if whole else None
            self.record(ref, note, evidence if scope is not None else None)

    def finish(self) -> None:
        """Bring the node lists and initializers up to date; called once, by the engine."""
        if self._removed or self._pending:
            for graph in self.model.graphs():
                if any(id(n) in self._removed for n in graph.nodes):
                    graph.nodes = self._spliced(graph.nodes)
            for graph in self.model.graphs():
                drop_orphans(graph, self._unused.get(id(graph), set()))
        self._removed.clear()
        self._pending.clear()

    def _spliced(self, nodes: Sequence[Node]) -> list[Node]:
        result: list[Node] = []
        for node in nodes:
            if id(node) in self._pending:
                result.extend(self._spliced(self._pending[id(node)]))
            elif id(node) not in self._removed:
                result.append(node)
        return result


def _check_inner(nodes: Sequence[NodeView], ends: Sequence[Node]) -> None:
    """Refuse nodes of which others read what is to be left out, or nothing is read at all."""
    if not ends:
        raise Refuse("something must be read of nodes that are replaced together; nothing is")
    own, kept = {id(view.node) for view in nodes}, {id(node) for node in ends}
    for view in nodes:
        for tensor in view.node.outputs if id(view.node) not in kept else ():
            if tensor.output_count or any(id(reader) not in own for reader in tensor.outputs):
                raise Refuse(f"only nodes that go too must read {tensor.name}; others do")
