"""How onnxruntime shares a graph out between a provider and the CPU: nodes, parts, and the cuts.

A part is a group of nodes that the provider runs with nothing of the CPU in between. Groups are
made as ``CreateSupportedPartitions`` makes them (onnxruntime/core/providers/partitioning_utils.cc),
which CoreML, NNAPI, QNN and WebNN call: nodes are taken in waves; a wave takes all that is ready,
and stops at the nodes of the CPU that read what it gave. WebGPU, DirectML and XNNPACK take each
node by itself (core/framework/graph_partitioner.cc); their parts are the stretches from one change
of sides to the next. Before any of it, onnxruntime computes what follows from constants.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence

from graphfix.engines.engine import engine_of
from graphfix.engines.folded_early import is_folded
from graphfix.engines.profile import Target
from graphfix.ir.graph import Graph, Node, is_empty
from graphfix.ir.importing import tensors_read
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Value
from graphfix.report import Finding, NodeRef, Placement, Severity

LEFT = (Severity.FALLBACK, Severity.REJECT)


def placement_of(model: Model, target: Target, findings: Iterable[Finding]) -> Placement | None:
    """Return where the nodes of a model run.

    Args:
        model: The model; its types are inferred.
        target: The target.
        findings: What the rules of the target say of the model as it is, as they are reported.

    Returns:
        None where the target is no provider of onnxruntime, and where the model has local
        functions, which onnxruntime inlines first.
    """
    engine = engine_of(target.family)
    shared = engine.shared
    if not shared or model.functions:
        return None
    every = [each for finding in findings for each in (finding, *finding.follow_ups)]
    known = [f for f in every if f.node.op and f.severity in LEFT]
    left = {f.node for f in known if f.certain}
    possible = {f.node for f in known} - left
    counts: Counter[str] = Counter()
    cuts: list[NodeRef] = []
    for graph in model.graph.walk():
        # As reported findings name them: by the place in the file, which a new node has none of.
        refs = {id(node): NodeView(node).ref() for node in graph.nodes}
        here = [(n, refs[id(n)]) for n in graph.nodes if not is_computed_early(n)]
        whole = shared == "all" or graph.parent is None
        cpu = {id(node) for node, ref in here if not whole or _is_left(node, ref, target, left)}
        counts["nodes"] += len(here)
        if whole:
            sure = {id(node) for node, ref in here if ref in possible} - cpu
            counts["possible"] += len(sure)
            groups = Groups(graph, [node for node, _ in here], cpu)
            kept = [g for g in groups.taken if engine.keeps_part([node.op for node in g])]
            counts["parts"] += len(kept)
            counts["provider"] += sum(map(len, kept))
            cuts += [refs[id(node)] for node in groups.cuts]
    provider = counts["provider"]
    return Placement(
        provider, counts["nodes"] - provider, counts["parts"], tuple(cuts), counts["possible"]
    )


def _is_left(node: Node, ref: NodeRef, target: Target, left: Collection[NodeRef]) -> bool:
    """Say whether the CPU runs a node of a scope that the provider is asked about."""
    if ref in left:
        return True
    if not target.static_shapes:
        return False
    values = (Value(t) for t in (*node.inputs, *node.outputs) if not is_empty(t))
    return any(value.is_tensor and value.static_shape is None for value in values)


def is_computed_early(node: Node) -> bool:
    """Say whether onnxruntime computes a node when it reads the file, so that it runs nowhere."""
    outputs = [Value(tensor) for tensor in node.outputs if not is_empty(tensor)]
    if node.op == "Constant":
        return True  # an initializer, once the file is read
    return bool(outputs) and all(is_folded(v) and not v.is_graph_output for v in outputs)


class Groups:
    """The parts of one scope.

    Attributes:
        taken: The nodes of each part, in the order in which they are taken.
        cuts: The nodes of the CPU at which a part ends and after which another one comes.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Node], cpu: Collection[int]) -> None:
        """Share nodes out; `cpu` has the ids of those that the provider does not take."""
        self.taken: list[list[Node]] = []
        self.cuts: list[Node] = []
        makers = {id(tensor): node for node in nodes for tensor in node.outputs}
        readers: dict[int, list[Node]] = {id(node): [] for node in nodes}
        waiting: dict[int, int] = {}
        for node in nodes:
            read = {id(makers[id(t)]): makers[id(t)] for t in tensors_read(node) if id(t) in makers}
            waiting[id(node)] = len(read)
            for maker in read:
                readers[maker].append(node)
        ready = deque(node for node in nodes if not waiting[id(node)])
        group: list[Node] = []
        border: set[int] = set()
        later: list[Node] = []
        ends: list[Node] = []
        while ready or later:
            if not ready:
                self.taken.append(group)
                ends, ready, group, border, later = later, deque(later), [], set[int](), []
                continue
            node = ready.popleft()
            if id(node) not in cpu:
                if not group:
                    self.cuts += ends
                group.append(node)
                border.update(map(id, readers[id(node)]))
            elif id(node) in border:
                later.append(node)
                continue
            for reader in readers[id(node)]:
                waiting[id(reader)] -= 1
                if not waiting[id(reader)]:
                    ready.append(reader)
        if group:
            self.taken.append(group)
