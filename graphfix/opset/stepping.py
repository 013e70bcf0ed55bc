"""One step of the chain: plan every node, then apply all or none."""

from __future__ import annotations

from dataclasses import dataclass

from graphfix.authoring.workspace import Workspace
from graphfix.model import Model
from graphfix.report import NodeRef, Site


@dataclass(frozen=True, slots=True)
class Blocker:
    """A node that cannot follow a step, and why."""

    node: NodeRef
    reason: str


class StepBlocked(Exception):  # noqa: N818 - an answer, not an error
    """Raised when a step cannot be made; the model is as it was.

    Attributes:
        blockers: Every node in the way, all at once.
    """

    def __init__(self, version: int, blockers: list[Blocker]) -> None:
        """Name the opset that could not be reached and all that is in the way."""
        super().__init__(f"opset {version} cannot be reached: {len(blockers)} nodes are in the way")
        self.version = version
        self.blockers = blockers


def lower_one(model: Model, workspace: Workspace) -> list[Site]:
    """Lower the opset by one, in every graph and function."""
    raise StepBlocked(model.opset - 1, [Blocker(NodeRef(), "no step is known")])


def move_to(model: Model, workspace: Workspace, version: int) -> list[Site]:
    """Move to `version`, one step at a time."""
    raise StepBlocked(version, [Blocker(NodeRef(), "no step is known")])
