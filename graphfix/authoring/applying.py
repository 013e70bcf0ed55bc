"""Putting a finished rewrite into the graph, whole or not at all, and taking it out again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from graphfix.analysis.inference import merge_type, shapes_contradict, type_of
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.workspace import Workspace
from graphfix.errors import PassBug
from graphfix.ir.graph import (
    Constant,
    Graph,
    Node,
    Shape,
    Tensor,
    Variable,
    is_empty,
)
from graphfix.ir.views import NodeView, Value
from graphfix.report import NodeRef


class Draft(Struct):
    """What a pass built for one node, not yet in the graph.

    `shapes` are those of the outputs of the node where it has no schema and the pass knows them:
    no inference has held what the file declares against the operator. `further` are nodes that are
    replaced with it, whose outputs the results continue with.
    """

    node: Node
    nodes: list[Node]
    constants: list[Constant]
    results: list[Value | None]
    shapes: Sequence[Shape | None] = ()
    further: Sequence[Node] = ()

    @property
    def replaced(self) -> tuple[Node, ...]:
        """All nodes whose outputs the results stand for."""
        return (self.node, *self.further)

    @property
    def outputs(self) -> list[Tensor]:
        """What the results stand for."""
        return [tensor for node in self.replaced for tensor in node.outputs]


class Edit(Struct):
    """One applied site: what came, what went, and for its proof how both looked."""

    graph: Graph
    node: NodeRef
    added: list[Node] = field(default_factory=list[Node])
    removed: list[Node] = field(default_factory=list[Node])
    removed_refs: list[NodeRef] = field(default_factory=list[NodeRef])
    touched: list[Node] = field(default_factory=list[Node])
    evidence: Evidence | None = None


def apply_draft(
    workspace: Workspace,
    draft: Draft,
    *,
    evidence: Evidence | None = None,
    version: int | None = None,
) -> Edit:
    """Put a draft in the place of its node; edges change, node lists do not yet.

    The names of what the node computed survive: a replaced output keeps its tensor, so that all
    consumers in all nested scopes see the new producer. The caller puts ``added`` where the node
    was and drops ``removed`` from the node lists.

    Args:
        workspace: The names that are taken, and whether evidence is wanted.
        draft: What to put in.
        evidence: What was taken down of the node before; None takes it down now.
        version: The opset of the default domain that the added nodes are for, where not the same.

    Raises:
        PassBug: A used output has no replacement, or dtype or rank differ. Nothing is changed.
    """
    node = draft.node
    outputs = draft.outputs
    results = check_results(draft)
    edit = Edit(node.graph, NodeView(node).ref())
    if workspace.keeps_evidence:
        edit.evidence = evidence or Evidence.of(node)
        for other in draft.further:
            edit.evidence.remove(other)
    refs = {id(n): NodeView(n).ref() for n in draft.replaced}
    _stand_for(node.origin or edit.node, draft.nodes)
    doc_holder = node.proto if node.proto is not None else node.inherit
    drafted = {id(t): n for n in draft.nodes for t in n.outputs}
    taken: dict[int, Tensor] = {}
    used_before = [tensor for n in draft.replaced for tensor in n.inputs]
    for old, new in zip(outputs, results, strict=True):
        if is_empty(old) or new is None:
            continue
        # What was returned for an earlier output too is known by the name of that one by now.
        fresh = taken.get(id(new.tensor), new.tensor)
        producer = drafted.get(id(fresh))
        if producer is not None and fresh is new.tensor:
            taken[id(fresh)] = old
            _take_over(draft, producer, fresh, old)
        elif old.output_count or isinstance(old, Constant):
            name = workspace.node_name(f"{node.name or node.op}/Identity")
            keep = Node("Identity", node.graph, name=name)
            remove_producers(old)
            keep.hold([fresh], [old])
            draft.nodes.append(keep)
        else:
            if edit.evidence is not None:
                edit.evidence.replace(old, fresh)
            edit.touched.extend(_rewire(old, fresh))
            continue
        if edit.evidence is not None:
            edit.evidence.replace(old, old)
    for gone in draft.replaced:
        used_before.extend(dismantle(gone))
        gone.detach()
    for fresh_node in draft.nodes:
        attach_node(fresh_node, node.graph)
    if doc_holder is not None and draft.nodes:
        first = next((n for n in draft.nodes if any(t is outputs[0] for t in n.outputs)), None)
        if first is not None:
            first.inherit = doc_holder
    for domain in {n.domain or "" for n in draft.nodes} - set(node.graph.opsets):
        workspace.let_import(node.graph, domain)
    for constant in draft.constants:
        if constant.outputs:
            node.graph.add_initializer(constant)
    edit.added.extend(draft.nodes)
    edit.removed.extend(draft.replaced)
    _drop_dead(used_before, edit, refs)
    edit.removed_refs = [refs[id(n)] for n in edit.removed]
    workspace.count += len(edit.added) - len(edit.removed)
    if edit.evidence is not None:
        edit.evidence.finish(edit.added, version)
    return edit


def check_results(draft: Draft) -> list[Value | None]:
    """Check what a draft gives against what its node gave; return one entry for each output.

    Raises:
        PassBug: A used output has no replacement, or dtype or shape differ.
    """
    node = draft.node
    outputs = draft.outputs
    results = list(draft.results) + [None] * (len(outputs) - len(draft.results))
    if len(results) > len(outputs):
        raise PassBug(f"{len(results)} results for {len(outputs)} outputs of {node.op}")
    shapes = list(draft.shapes) + [None] * (len(results) - len(draft.shapes))
    for old, new, known in zip(outputs, results, shapes, strict=False):
        _check_result(node, old, new, known)
    return results


def _check_result(node: Node, old: Tensor, new: Value | None, known: Shape | None) -> None:
    if is_empty(old):
        return
    if new is None:
        if old.outputs or old.output_count:
            raise PassBug(f"no replacement for the used output {old.name!r} of {node.op}")
        return
    fresh = new.tensor
    if fresh.elem_type and old.elem_type and fresh.elem_type != old.elem_type:
        raise PassBug(
            f"output {old.name!r} of {node.op} would change from {Value(old).type_name} to "
            f"{new.type_name}"
        )
    if fresh.shape is None or old.shape is None or not shapes_contradict(fresh.shape, old.shape):
        return
    if shapes_contradict(known, old.shape) and not shapes_contradict(known, fresh.shape):
        return  # the file declares what the operator does not give; the declaration stays
    raise PassBug(
        f"output {old.name!r} of {node.op} would change its shape from {list(old.shape)} to "
        f"{list(fresh.shape)}"
    )


def _take_over(draft: Draft, producer: Node, fresh: Tensor, old: Tensor) -> None:
    """Let the old tensor be what `producer` gives; its consumers need not know."""
    producer.outputs = [old if t is fresh else t for t in producer.outputs]
    for node in draft.nodes:
        _replace_in(node, fresh, old)
    if isinstance(old, Variable) and isinstance(fresh, Variable):
        known = type_of(fresh)
        if known is not None:
            merge_type(old, known)
    remove_producers(old)


def remove_producers(tensor: Tensor) -> None:
    """Cut a tensor off from the node that computed it."""
    for node in list(tensor.inputs):
        position = next(i for i, t in enumerate(node.outputs) if t is tensor)
        node.drop_output(position)
    tensor.inputs = []


def _replace_in(node: Node, fresh: Tensor, old: Tensor) -> None:
    if any(t is fresh for t in node.inputs):
        node.inputs = [old if t is fresh else t for t in node.inputs]
    for _, body in node.graphs():
        if any(t is fresh for t in body.outputs):
            body.set_outputs([old if t is fresh else t for t in body.outputs])
        for inner in body.nodes:
            _replace_in(inner, fresh, old)


def _rewire(old: Tensor, fresh: Tensor) -> list[Node]:
    consumers: list[Node] = list(old.outputs)
    for consumer in consumers:
        for position, tensor in enumerate(consumer.inputs):
            if tensor is old:
                consumer.replace_input(position, fresh)
    old.outputs = []
    return consumers


def attach_node(node: Node, graph: Graph) -> None:
    """Make a held node part of `graph`: tensors learn of it, subgraphs and all."""
    inputs, outputs = list(node.inputs), list(node.outputs)
    node.graph = graph
    node.attach(inputs, outputs)
    for tensor in outputs:
        if isinstance(tensor, Variable):
            tensor.draft = None
            tensor.drafted_reader = False
    for _, body in node.graphs():
        body.parent = node
        body.opsets = graph.opsets
        for inner in body.nodes:
            attach_node(inner, body)


def _drop_dead(candidates: Sequence[Tensor], edit: Edit, refs: dict[int, NodeRef]) -> None:
    """Remove producers and initializers that lost their last consumer with this site."""
    pending = list(candidates)
    while pending:
        tensor = pending.pop()
        if is_empty(tensor) or tensor.outputs or tensor.output_count:
            continue
        if isinstance(tensor, Constant):
            continue  # swept up by `drop_orphans`, once for a whole sweep
        for producer in list(tensor.inputs):
            if any(t.outputs or t.output_count for t in producer.outputs):
                continue
            refs[id(producer)] = NodeView(producer).ref()
            if edit.evidence is not None:
                edit.evidence.remove(producer)
            pending.extend(producer.inputs)
            pending.extend(dismantle(producer))
            producer.detach()
            edit.removed.append(producer)


def dismantle(node: Node) -> list[Tensor]:
    """Let the subgraphs of a node that goes let go of all tensors; return what they used."""
    used: list[Tensor] = []
    for _, body in node.graphs():
        for graph in body.walk():
            used.extend(graph.outputs)
            graph.set_outputs([])
            for inner in graph.nodes:
                used.extend(inner.inputs)
                inner.detach()
    return used


def drop_orphans(graph: Graph, before: set[int]) -> None:
    """Remove initializers without a consumer, except those in `before` (unused from the start)."""
    inputs = {id(tensor) for tensor in graph.inputs}
    kept = [
        c
        for c in graph.initializers
        if c.outputs or c.output_count or c.overridable or id(c) in before or id(c) in inputs
    ]
    if len(kept) != len(graph.initializers):
        graph.initializers = kept


def _stand_for(origin: NodeRef, nodes: Iterable[Node]) -> None:
    """Take down, of nodes and those in their subgraphs, which node of the file they stand for."""
    for node in nodes:
        node.origin = origin
        for _, body in node.graphs():
            _stand_for(origin, body.nodes)


def unused_constants(graph: Graph) -> set[int]:
    """Return the ids of the initializers that nothing uses."""
    return {id(c) for c in graph.initializers if not c.outputs and not c.output_count}
