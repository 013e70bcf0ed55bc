"""Edits as the command line and recipes write them: an option's name and one text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graphfix.edits.names import Prefix, Rename, RenameNode
from graphfix.edits.step import Edit, Step, Subject
from graphfix.edits.words import Known, pair
from graphfix.errors import UsageError

Read = Callable[[str, Known], Edit]


def _rename(text: str, known: Known) -> Edit:
    return Rename(*pair(text, "--rename", "OLD=NEW"))


def _rename_node(text: str, known: Known) -> Edit:
    return RenameNode(*pair(text, "--rename-node", "OLD=NEW"))


def _prefix(text: str, known: Known) -> Edit:
    return Prefix(text)


READERS: Mapping[str, Read] = {
    "rename": _rename,
    "rename-node": _rename_node,
    "prefix": _prefix,
}


@dataclass(frozen=True, slots=True)
class Written:
    """An edit as it is written, read once the tensors that it may name are known.

    Attributes:
        name: Its name, such as ``rename-node``.
        text: The rest.
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
        return READERS[self.name](self.text, known).apply(subject)


def written(name: str, text: str) -> Written:
    """Return an edit of the command line or a recipe.

    Raises:
        UsageError: There is no such edit, or the text is not of its form.
    """
    read = READERS.get(name)
    if read is None:
        raise UsageError(f"there is no edit {name!r}", hint=f"known: {', '.join(READERS)}")
    read(text, frozenset())
    return Written(name, text)
