"""The errors of graphfix: what a user can mend, and what only we can.

`GraphfixError` and its children are the user's to mend and end without a traceback; `PassBug` is
a fault of graphfix or of a pass file and is deliberately not related to them.
"""

from __future__ import annotations

from typing import Self


class GraphfixError(Exception):
    """Something the caller can mend.

    Attributes:
        message: What is wrong, in one line.
        where: The file, option, node or tensor it is about; empty when there is none.
        hint: What to do about it; empty when there is nothing to add.
        exit_code: What the command line ends with.
    """

    exit_code = 2

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        """Make an error of one line; see the class for the arguments."""
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def at(self, where: str) -> Self:
        """Return the same error with `where`, and the scope it had put into the message."""
        if not where:
            return self
        message = f"{self.message} (in {self.where})" if self.where else self.message
        return type(self)(message, where=where, hint=self.hint)

    def __str__(self) -> str:
        """Return the error as one line: where, what, and what to do."""
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class UsageError(GraphfixError):
    """An option, a name or an argument is wrong (exit code 2)."""

    exit_code = 2


class InvalidModel(GraphfixError):  # noqa: N818 - the public name of the contract
    """The input cannot be read or is not a model (exit code 3)."""

    exit_code = 3


class EngineFailed(GraphfixError):  # noqa: N818 - says what happened to an engine
    """An engine in a child process crashed, ran out of memory or time, or refused the model."""

    exit_code = 1


class NoEngine(EngineFailed):
    """An engine does not start on this machine, which says nothing about a model."""


class NoDevice(EngineFailed):
    """An engine takes the model, and this machine has no device to run it on."""


class PassBug(Exception):  # noqa: N818 - a fault of ours, not an error of the user
    """A fault in graphfix or in a pass file (exit code 5).

    Attributes:
        pass_id: The pass that is at fault, or an empty string.
        reproducer: Where the reproducer was written, or an empty string.
    """

    exit_code = 5

    def __init__(self, message: str, *, pass_id: str = "", reproducer: str = "") -> None:
        """Say what happened, in which pass, and where the reproducer lies."""
        super().__init__(message)
        self.pass_id = pass_id
        self.reproducer = reproducer


class RuleFault(PassBug):
    """A rule of a target raised, where whoever runs it wants to see that (tests do)."""
