"""What a run would do about a finding, and where patterns are found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graphfix.report import Accuracy, Finding, NodeRef


class Choice(StrEnum):
    """What became of one pass that could remove a finding."""

    CHOSEN = "chosen"
    OUTRANKED = "outranked"  # it works here, and another is better
    REFUSED = "refused"
    FAILED = "failed"
    UNSUITABLE = "unsuitable"  # it is for other nodes, or needs consent


@dataclass(frozen=True, slots=True)
class Candidate:
    """One pass that declares to remove the feature of a finding, and what became of it.

    Attributes:
        pass_id: The pass.
        choice: What became of it.
        reason: Why, for anything but chosen.
        accuracy: How close the whole tree of rewrites stays; None where none was drafted.
        nodes: How many nodes that tree puts in; None where none was drafted.
        helped_by: The other passes of the tree, which replace what this one emits.
    """

    pass_id: str
    choice: Choice
    reason: str = ""
    accuracy: Accuracy | None = None
    nodes: int | None = None
    helped_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a run would do about one finding.

    Attributes:
        finding: The finding.
        removed: Whether the finding would be gone.
        others: Passes without the feature among those they remove that took the node away:
            folding, inlining, the opset step.
        candidates: Every pass that declares to remove the feature, the chosen one first.
    """

    finding: Finding
    removed: bool
    others: tuple[str, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class NamedPattern:
    """What a pass that looks for a pattern, and runs only when it is named, finds in a model.

    Attributes:
        pass_id: The pass.
        sites: The nodes at which it would be applied.
        refused: The nodes at which its pattern is and it refuses, with the reason.
        nearest: Where the pattern was found furthest, if it is nowhere.
        reason: What is there instead.
    """

    pass_id: str
    sites: tuple[NodeRef, ...] = ()
    refused: tuple[tuple[NodeRef, str], ...] = ()
    nearest: NodeRef | None = None
    reason: str = ""
