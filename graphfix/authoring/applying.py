"""What ONNX says of a finished rewrite, and putting it into the graph, whole or not at all.

The check is linear in the nodes that were built: the schema checker takes about two microseconds
for a node and no weights, and types were inferred when each node was built.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx
from msgspec import Struct, field

from graphfix.analysis.inference import (
    infer_node,
    merge_type,
    shapes_contradict,
    type_of,
    types_given,
)
from graphfix.authoring.building import Builder
from graphfix.authoring.evidence import Evidence
from graphfix.authoring.explained import Explained
from graphfix.authoring.workspace import Workspace
from graphfix.errors import PassBug
from graphfix.ir.exporting import export_node
from graphfix.ir.graph import (
    Constant,
    Graph,
    Node,
    Shape,
    Tensor,
    Variable,
    is_empty,
)
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import form_of, minimal_ir, shape_of_type
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.report import NodeRef


class Draft(Struct):
    """What a pass built for one node, not yet in the graph.

    `shapes` are those of the outputs of the node where it has no schema and the pass knows them:
    no inference has held what the file declares against the operator. `further` are nodes that are
    replaced with it, whose outputs the results continue with. `explained` are constants of which
    the proof is to know where they come from.
    """

    node: Node
    nodes: list[Node]
    constants: list[Constant]
    results: list[Value | None]
    shapes: Sequence[Shape | None] = ()
    further: Sequence[Node] = ()
    explained: list[Explained] = field(default_factory=list[Explained])

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
            workspace.model.lay_aside(constant)
            node.graph.add_initializer(constant)
    edit.added.extend(draft.nodes)
    edit.removed.extend(draft.replaced)
    _drop_dead(used_before, edit, refs)
    edit.removed_refs = [refs[id(n)] for n in edit.removed]
    workspace.count += len(edit.added) - len(edit.removed)
    if edit.evidence is not None:
        for each in draft.explained:
            edit.evidence.context.extend(each.protos())
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
    known = _shape_given(node, old) if known is None else known
    if shapes_contradict(known, old.shape) and not shapes_contradict(known, fresh.shape):
        return  # the file declares what the operator does not give; the declaration stays
    raise PassBug(
        f"output {old.name!r} of {node.op} would change its shape from {list(old.shape)} to "
        f"{list(fresh.shape)}"
    )


def _shape_given(node: Node, tensor: Tensor) -> Shape | None:
    """Return what a node gives an output by its inputs alone, whatever the file declares of it."""
    found = types_given(node)
    if isinstance(found, str) or tensor.name not in found:
        return None
    return shape_of_type(found[tensor.name])[1]


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


_UNSUPPORTED = "has unsupported type"  # what ONNX's inference says of a dtype


def check_draft(draft: Draft, build: Builder, by: str) -> None:
    """Check what a pass built for a node: schema, types, and what the outputs were before.

    Args:
        draft: What it built.
        build: What it was built with.
        by: The pass, as the message names it.

    Raises:
        Refuse: An operator does not take the dtype at this opset.
        PassBug: A node is not valid where it is to be, its inputs do not fit together, or an
            output would change its dtype or shape.
    """
    context = _context(build)
    for node in all_nodes(draft.nodes):
        said = _invalid(node, build, context)
        if not said and id(node) in build.complaints and node.op != "Constant":
            # (Before opset 9 the schema of Constant has floats only; engines never minded.)
            said = build.complaints[id(node)]
            if infer_node(draft.node):
                said = ""  # the model says of the replaced node too what cannot be
        if _UNSUPPORTED in said:
            # What was there takes a dtype that this operator has not yet at this opset.
            raise Refuse(f"opset {build.opset} has no {node.op} of this dtype: {said}")
        if said:
            raise PassBug(f"{by} emitted {node.op}, which is not valid: {said}")
    check_results(draft)


def all_nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes, each after those in its subgraphs: a fault there makes it look wrong too."""
    for node in nodes:
        for _, body in node.graphs():
            yield from all_nodes(body.nodes)
        yield node


def _context(build: Builder) -> onnx.checker.C.CheckerContext:
    context = onnx.checker.C.CheckerContext()
    opsets = {domain: version for domain, version in build.opsets.items() if version}
    opsets.setdefault("", build.opset)
    context.opset_imports = opsets
    context.ir_version = max(minimal_ir(opsets[""]), 4)
    return context


def _invalid(node: Node, build: Builder, context: onnx.checker.C.CheckerContext) -> str:
    """Return what the schema of a node says against it; empty for nothing."""
    domain = normal_domain(node.domain)
    version = build.opset if not domain else build.opsets.get(domain, 0)
    if form_of(node.op, version, domain) is None or any(True for _ in node.graphs()):
        # The checker takes captured tensors for undefined ones; subgraphs are looked at by node.
        return ""
    try:
        onnx.checker.check_node(export_node(node), context)
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        return str(error).strip().partition("\n")[0]
    return ""
