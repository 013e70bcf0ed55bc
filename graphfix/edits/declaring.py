"""How a file of `graphfix/edits/options` declares an option, and the options of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path

from graphfix.authoring.registry import module_names
from graphfix.edits.given import Given as Given
from graphfix.edits.listed import EDITS
from graphfix.edits.step import Edit
from graphfix.errors import PassBug

PACKAGE = "graphfix.edits.options"
Read = Callable[[Given], Edit]


class Group(StrEnum):
    """A heading of the help, in their order."""

    NAMES = "Names"
    SHAPES = "Shapes and types"
    ENDS = "Inputs and outputs"
    PARTS = "Parts"
    NODES = "Nodes and weights"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `graphfix edit`, and the step of a recipe of the same name.

    Attributes:
        name: Its name without dashes in front, such as ``rename-node``.
        form: What its text looks like in the help; empty for a flag, which takes none.
        help: What it does, one line of at most 60 characters.
        group: The heading that it is under.
        read: Returns the edit that a text asks for.
        long_form: What its text looks like in errors, where the help has less.
        after: The option that it comes after in the help; empty for the end of its group.
        splits: Whether it writes files of its own, so that the model itself need not be written.
        module: Where it is declared.
    """

    name: str
    form: str
    help: str
    group: Group
    read: Read
    long_form: str
    after: str
    splits: bool
    module: str

    @property
    def is_flag(self) -> bool:
        """Whether it takes no text."""
        return not self.form

    def edit(self, text: str, known: frozenset[str] = frozenset()) -> Edit:
        """Return the edit that a text asks for; `known` are the tensors that it may name.

        Raises:
            UsageError: The text is not of its form.
        """
        return self.read(Given(text, f"--{self.name}", self.long_form, known))


def option(
    name: str,
    form: str,
    help: str,
    group: Group,
    *,
    long_form: str = "",
    after: str = "",
    splits: bool = False,
) -> Callable[[Read], Option]:
    """Declare an option of `graphfix edit` above the function that reads its text.

    Arguments are those of `Option`.
    """

    def declare(read: Read) -> Option:
        whole = long_form or form
        return Option(name, form, help, group, read, whole, after, splits, read.__module__)

    return declare


@cache
def options() -> Mapping[str, Option]:
    """Return every option by its name: those of `listed.json` in its order, then others.

    Raises:
        PassBug: Two options have one name.
    """
    found: dict[str, Option] = {}
    for name in module_names(str(Path(__file__).with_name("options")), f"{PACKAGE}."):
        for declared in _declared(name):
            if found.setdefault(declared.name, declared) is not declared:
                raise PassBug(f"two edits are called {declared.name}")
    order = [row[0] for row in EDITS if row[0] in found]
    return {name: found[name] for name in dict.fromkeys([*order, *found])}


def _declared(module: str) -> Iterator[Option]:
    for value in vars(import_module(module)).values():
        if isinstance(value, Option) and value.module == module:
            yield value
