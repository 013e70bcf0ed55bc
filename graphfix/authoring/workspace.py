"""What all edits of one run share: the model and the names that are taken."""

from __future__ import annotations

from graphfix.authoring.evidence import Ledger
from graphfix.model import Model
from graphfix.report import NodeRef

# Pass, scope, operator and outputs of a site.
SiteKey = tuple[str, str, str, tuple[str, ...]]


def site_key(pass_id: str, node: NodeRef) -> SiteKey:
    """Return what a site is known by from one run over a model to the next."""
    return (pass_id, node.scope, node.op, node.outputs)


class Workspace:
    """The model under edit and its names, unique over the whole file.

    Attributes:
        model: The model.
        ledger: Where the evidence of each site goes; None where nobody asks for proofs.
        blocked: The sites that are not to be touched.
    """

    def __init__(
        self,
        model: Model,
        ledger: Ledger | None = None,
        blocked: frozenset[SiteKey] = frozenset(),
    ) -> None:
        """Collect the names of `model`; linear in nodes."""
        self.model = model
        self.ledger = ledger
        self.blocked = blocked
        self._tensors: set[str] = set()
        self._nodes: set[str] = set()
        self._next: dict[str, int] = {}
        self._log: list[tuple[set[str], str]] = []
        for graph in model.graphs():
            self._tensors.update(t.name for t in graph.inputs)
            self._tensors.update(c.name for c in graph.initializers)
            for node in graph.nodes:
                self._nodes.add(node.name)
                self._tensors.update(t.name for t in node.outputs)

    def tensor_name(self, wish: str) -> str:
        """Return `wish`, or the first free name made from it, and take it."""
        return self._take(self._tensors, wish or "value")

    def node_name(self, wish: str) -> str:
        """Return `wish`, or the first free name made from it, and take it."""
        return self._take(self._nodes, wish or "node")

    def _take(self, taken: set[str], wish: str) -> str:
        name = wish
        while name in taken:
            count = self._next.get(wish, 0) + 1
            self._next[wish] = count
            name = f"{wish}_{count}"
        taken.add(name)
        self._log.append((taken, name))
        return name

    def blocks(self, pass_id: str, node: NodeRef) -> bool:
        """Say whether a pass is to leave a node alone."""
        return bool(self.blocked) and site_key(pass_id, node) in self.blocked

    def mark(self) -> int:
        """Return a point that `release` can go back to."""
        return len(self._log)

    def release(self, mark: int) -> None:
        """Give back the names taken since `mark`: what was tried came to nothing."""
        while len(self._log) > mark:
            taken, name = self._log.pop()
            taken.discard(name)
        self._next.clear()
