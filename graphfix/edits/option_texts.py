"""Edits as the command line and recipes write them: an option's name and one text."""

from __future__ import annotations

from dataclasses import dataclass

from graphfix.edits.declaring import options
from graphfix.edits.step import Edit, Step, Subject
from graphfix.errors import UsageError


@dataclass(frozen=True, slots=True)
class Written:
    """An edit as it is written, read once the tensors that it may name are known.

    Attributes:
        name: Its name, such as ``rename-node``.
        text: The rest; empty for a flag.
    """

    name: str
    text: str

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return f"--{self.name}"

    def apply(self, subject: Subject) -> Step:
        """Edit a copy of the model; see `graphfix.edits.step.Edit`."""
        known = frozenset(subject.scope.makers) | frozenset(
            [*subject.scope.inputs, *subject.scope.stored]
        )
        return options()[self.name].edit(self.text, known).apply(subject)


def written(name: str, text: str) -> Edit:
    """Return an edit of the command line.

    Raises:
        UsageError: There is no such edit, or the text is not of its form.
    """
    declared = options().get(name)
    if declared is None:
        raise UsageError(f"there is no edit {name!r}", hint=f"known: {', '.join(options())}")
    declared.edit(text)
    return Written(name, text)


def value_of(name: str, text: str) -> str | bool:
    """Return what a recipe says of an edit of the command line: its text; true for a flag."""
    return True if options()[name].is_flag else text


def from_value(name: str, value: object) -> Edit:
    """Return an edit of a recipe: `written` with what the recipe says of it.

    Raises:
        UsageError: There is no such edit, or the value is not of its form.
    """
    declared = options().get(name)
    if declared is not None and declared.is_flag:
        if value is not True:
            raise UsageError(f"{value!r} is not true", where=name)
        return written(name, "")
    if declared is not None and not isinstance(value, str):
        raise UsageError(f"{value!r} is no text", where=name)
    return written(name, str(value))
