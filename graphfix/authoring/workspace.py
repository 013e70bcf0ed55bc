"""What all edits of one run share: the model and the names that are taken."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import Catalogue
from graphfix.authoring.spared_nodes import Spared
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.schemas import minimal_ir, newest_opset_of
from graphfix.ir.views import NodeView, Refuse
from graphfix.report import NodeRef

USUAL_OPSET = 17  # what engines and other tools know widely
# Pass, scope, operator and outputs of a site.
SiteKey = tuple[str, str, str, tuple[str, ...]]


def site_key(pass_id: str, node: NodeRef) -> SiteKey:
    """Return what a site is known by from one run over a model to the next."""
    return (pass_id, node.scope, node.op, node.outputs)


class Budget:
    """How many sites a run may make: where it is stopped half way, to see what it has done so far.

    Passes act one site at a time where they can; a step of the opset and a graph pass that began
    within the budget are finished.

    Attributes:
        limit: How many; None for as many as there are.
        made: How many were made, those of tries included.
        nodes: How many nodes the model may have before no site makes it grow any more; None for
            any number. A file of some bytes may hold thousands of nodes of which each becomes
            fifty.
        outgrown: Whether a site was refused because of that, as all are that follow.
    """

    def __init__(self, limit: int | None = None) -> None:
        """Start with none made."""
        self.limit = limit
        self.made = 0
        self.nodes: int | None = None
        self.outgrown = False

    @property
    def exhausted(self) -> bool:
        """Whether no further site is to be begun."""
        return self.limit is not None and self.made >= self.limit


class Workspace:
    """The model under edit and its names, unique over the whole file.

    Attributes:
        model: The model.
        keeps_evidence: Whether sites are to be proved, so that their evidence is taken down.
        blocked: The sites that are not to be touched.
        budget: How many sites may be made, and how many were.
        passes: The passes at hand; an opset step asks those that match an operator for what its
            own adapters and the function bodies of onnx lack.
        opset_limit: The newest opset of the default domain to import where a file has none.
        spared: The nodes of the file that repairs leave alone; None for none.
        count: How many nodes the model has, in all scopes.
        deriving: Whether a pass is run for the types of what it writes alone.
    """

    def __init__(
        self,
        model: Model,
        keeps_evidence: bool = False,
        blocked: frozenset[SiteKey] = frozenset(),
        budget: Budget | None = None,
        passes: Sequence[Pass] = (),
        opset_limit: int = USUAL_OPSET,
        spared: Spared | None = None,
    ) -> None:
        """Collect the names of `model`; linear in nodes."""
        self.model = model
        self.keeps_evidence = keeps_evidence
        self.blocked = blocked
        self.budget = budget if budget is not None else Budget()
        self.passes = Catalogue.of(passes)
        self.opset_limit = opset_limit
        self.spared = spared
        self.deriving = False
        tensors: set[str] = set()
        nodes: set[str] = set()
        self._counts: dict[tuple[int, str], int] = {}
        self._log: list[tuple[set[str], str, tuple[int, str], int]] = []
        self.count = 0
        for graph in model.graphs():
            self.count += len(graph.nodes)
            tensors.update(t.name for t in graph.inputs)
            tensors.update(c.name for c in graph.initializers)
            for node in graph.nodes:
                nodes.add(node.name)
                tensors.update(t.name for t in node.outputs)
        # A copy takes half of the room that a set has which has grown.
        self._tensors, self._nodes = set(tensors), set(nodes)

    def version_to_import(self, domain: str) -> int:
        """Return the version in which a graph that lacks a domain is to import it.

        That is the model's where it has one. Of the default domain it is otherwise one that the
        IR version of the file may carry and that the target takes. Where the file stores no
        tensors, so that its IR version says nothing else, it is one that the passes at hand need.
        """
        known = self.model.graph.opsets.get(domain)
        if known is not None:
            return known
        if domain:
            return 1
        carried = newest_opset_of(self.model.ir_version)
        if not any(graph.initializers for graph in self.model.graphs()):
            carried = max(carried, self._needed())
        return min(self.opset_limit, USUAL_OPSET, carried)

    def _needed(self) -> int:
        return max(
            (
                declared.since
                for graph in self.model.graphs()
                for node in graph.nodes
                for declared in self.passes.rewrites_of(node.op)
                if (node.domain, node.op) in declared.matches
            ),
            default=0,
        )

    def let_import(self, graph: Graph, domain: str) -> None:
        """Let a graph that lacks a domain import it; see `version_to_import`."""
        version = self.version_to_import(domain)
        graph.set_opset(domain, version)
        if not domain:
            self.model.ir_version = max(self.model.ir_version, minimal_ir(version))

    def check_room(self, nodes: int) -> None:
        """Refuse where a site of this many nodes would make the graph outgrow what it may have.

        After the first one that would no other may grow either, so that none is drafted without
        result.

        Raises:
            Refuse: It would.
        """
        most = self.budget.nodes
        if most is None or nodes < 2:
            return
        if self.budget.outgrown or self.count + nodes > most:
            self.budget.outgrown = True
            raise Refuse(f"the graph would have more than the {most} nodes that it may grow to")

    def tensor_name(self, wish: str) -> str:
        """Return `wish`, or the first free name made from it, and take it."""
        return self._take(self._tensors, wish or "value")

    def node_name(self, wish: str) -> str:
        """Return `wish`, or the first free name made from it, and take it."""
        return self._take(self._nodes, wish or "node")

    def _take(self, taken: set[str], wish: str) -> str:
        key = (id(taken), wish)
        count = self._counts.get(key, 0)
        name = f"{wish}_{count}" if count else wish
        while name in taken:
            count += 1
            name = f"{wish}_{count}"
        self._counts[key] = count
        taken.add(name)
        self._log.append((taken, name, key, count))
        return name

    def blocks(self, pass_id: str, node: NodeRef) -> bool:
        """Say whether a pass is to leave a node alone."""
        return self.budget.exhausted or self.knows_wrong(pass_id, node)

    def knows_wrong(self, pass_id: str, node: NodeRef) -> bool:
        """Say whether an earlier run found a pass to be wrong at a node."""
        return bool(self.blocked) and site_key(pass_id, node) in self.blocked

    def spares(self, node: NodeView) -> bool:
        """Say whether repairs are to leave a node of the file alone, and what stands for it."""
        return self.spared is not None and self.spared(node)

    def mark(self) -> int:
        """Return a point that `release` can go back to."""
        return len(self._log)

    def release(self, mark: int) -> None:
        """Give back the names taken since `mark`: what was tried came to nothing."""
        while len(self._log) > mark:
            taken, name, key, count = self._log.pop()
            taken.discard(name)
            self._counts[key] = count  # of the first that is free again
