"""Watching a run from outside: what is called when, and a base that does nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from graphfix.report import Outcome


class Hook(Protocol):
    """What a run tells those who listen; a hook never changes what the run does."""

    def stage(self, name: str) -> None:
        """Begin a stage (``load``, ``check``, ``repair``, ...); the one before has ended."""
        ...

    def progress(self, done: int, total: int) -> None:
        """Report how far the stage has come; `total` is 0 where that is not known."""
        ...

    def pass_done(self, outcome: Outcome) -> None:
        """Report one outcome, as soon as it is certain."""
        ...


@runtime_checkable
class NodeHook(Protocol):
    """What a hook may have as well: at which node a stage is."""

    def at_node(self, node: str) -> None:
        """Report the node that is looked at next, as ``Add 'sum_3'``.

        While changed places are proved it is the tensor that the place gives, as ``'sum_3_out'``.
        """
        ...


def telling_progress(hooks: Sequence[Hook]) -> Callable[[int, int], None] | None:
    """Return what tells hooks how far a stage has come; None where none of them listens."""
    # What answers to any name, such as a mock, has nothing of its own in its class.
    silent = SilentHook.progress
    listening = [hook for hook in hooks if getattr(type(hook), "progress", None) is not silent]

    def tell(done: int, total: int) -> None:
        for hook in listening:
            hook.progress(done, total)

    return tell if listening else None


def telling_node(hooks: Sequence[Hook]) -> Callable[[str], None] | None:
    """Return what tells hooks at which node a stage is; None where none of them listens."""
    listening = [hook for hook in hooks if isinstance(hook, NodeHook)]

    def tell(node: str) -> None:
        for hook in listening:
            hook.at_node(node)

    return tell if listening else None


class SilentHook:
    """A hook that does nothing; a base for those that want one of the calls."""

    def stage(self, name: str) -> None:
        """Ignore the stage."""

    def progress(self, done: int, total: int) -> None:
        """Ignore the progress."""

    def pass_done(self, outcome: Outcome) -> None:
        """Ignore the outcome."""
