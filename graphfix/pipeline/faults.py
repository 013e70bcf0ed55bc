"""What a run keeps of each fault, so that a reproducer can be made of it afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct, field

from graphfix.authoring.evidence import Evidence
from graphfix.ir.graph import Node, Tensor, is_empty
from graphfix.pipeline.settings import Settings
from graphfix.report import Certificate, NodeRef

# Around a node at which a pass raised, so many steps and at most so many nodes are kept.
_STEPS = 3
_MOST_NODES = 48


class Kind(StrEnum):
    """How a fault shows."""

    DIFFERS = "differs"  # a site computes something else, by its certificate
    RAISES = "raises"  # a pass raises, breaks its declaration, or its result is rolled back
    RULE = "rule"  # a rule of the target raises
    FAULT = "fault"  # the run itself ends in exit code 5


class Specimen(Struct, frozen=True):
    """One fault.

    Attributes:
        kind: How it shows.
        passes: The passes of the site, the one at fault first; the rule that raised; empty for a
            fault of the run.
        node: Where; a `NodeRef` without operator for the whole model.
        reason: What was said of it.
        settings: What the run was asked for.
        certificate: The proof that differs.
        pieces: What to cut out of the model, the smallest first.
    """

    kind: Kind
    passes: tuple[str, ...]
    node: NodeRef
    reason: str
    settings: Settings
    certificate: Certificate | None = None
    pieces: tuple[Evidence, ...] = ()


class Crash(Struct, frozen=True):
    """A pass that raised at a node: what was there then."""

    pass_id: str
    node: NodeRef
    reason: str
    pieces: tuple[Evidence, ...]


class Faults(Struct):
    """Collects the faults of a run.

    Attributes:
        specimens: The faults, in the order in which they came.
    """

    specimens: list[Specimen] = field(default_factory=list[Specimen])

    def add(self, specimen: Specimen) -> None:
        """Keep a fault; one that is known already, by passes and node, is not kept again."""
        for known in self.specimens:
            if (known.passes, known.node) == (specimen.passes, specimen.node):
                return
        self.specimens.append(specimen)


def surroundings(node: Node) -> tuple[Evidence, ...]:
    """Take down a node with what its sizes and indices come from, and then its neighbours too.

    A pass that raised may have left the node in any state: what cannot be taken down is left out.
    """
    pieces: list[Evidence] = []
    try:
        pieces.append(_evidence([node]))
        near = _near(node)
        if len(near) > 1:
            pieces.append(_evidence(near))
    except Exception:  # the run continues, and the fault is shown on the whole model
        return tuple(pieces)
    return tuple(pieces)


def _evidence(nodes: list[Node]) -> Evidence:
    evidence = Evidence(dict(nodes[0].graph.opsets))
    inside = {id(node) for node in nodes}
    for node in nodes:
        evidence.remove(node)
    for node in nodes:
        for tensor in node.outputs:
            if not is_empty(tensor) and _leaves(tensor, inside):
                evidence.replace(tensor, tensor)
    evidence.finish(())
    return evidence


def _leaves(tensor: Tensor, inside: set[int]) -> bool:
    readers: list[Node] = list(tensor.outputs)
    return bool(tensor.output_count) or not readers or any(id(n) not in inside for n in readers)


def _near(node: Node) -> list[Node]:
    found = {id(node): node}
    edge = [node]
    for _ in range(_STEPS):
        further: list[Node] = []
        for at in edge:
            for other in _neighbours(at):
                if id(other) not in found and len(found) < _MOST_NODES:
                    found[id(other)] = other
                    further.append(other)
        edge = further
    return list(found.values())


def _neighbours(node: Node) -> Iterator[Node]:
    for tensor in node.inputs:
        producers: list[Node] = list(tensor.inputs)
        yield from (n for n in producers if n.graph is node.graph)
    for tensor in node.outputs:
        readers: list[Node] = list(tensor.outputs)
        yield from (n for n in readers if n.graph is node.graph)
