"""Recipes: the same surgery for the next export, as a TOML file.

::

    recipe = 1

    [[step]]
    rename = "x=image"

    [[step]]
    run = { passes = ["mod-elimination"], allow-lossy = true }

A step is one edit, with the text that the command line takes (true where it takes none), or a run
of repairs. Files that a step names are looked for as on the command line.
`graphfix/rendering/schemas/recipe.schema.json` has all of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict

from graphfix.edits.option_texts import from_value
from graphfix.edits.repairs import Repair
from graphfix.edits.step import Edit, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.storage.saving import write_all, write_atomically
from graphfix.ir.storage.toml_files import read_toml
from graphfix.pipeline.settings import RunOptions

RUN = "run"
# The name of a step, and its text or table.
Entry = tuple[str, Any]


class _Recipe(Struct, forbid_unknown_fields=True):
    recipe: Literal[1]
    step: Annotated[
        list[Annotated[dict[str, Any], Meta(min_length=1, max_length=1)]], Meta(min_length=1)
    ]


class RunTable(Struct, rename="kebab", forbid_unknown_fields=True):
    """What the table ``run`` may hold; see `graphfix.pipeline.settings.RunOptions`."""

    target: str | None = None
    opset: Annotated[int, Meta(ge=1)] | None = None
    passes: tuple[str, ...] | None = None
    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    excepted: tuple[str, ...] = field(default=(), name="except")
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    assume_ops: tuple[str, ...] = ()
    op_types: dict[str, str] = field(default_factory=dict[str, str])
    shapes: dict[str, tuple[Annotated[int, Meta(ge=1)], ...]] = field(
        default_factory=dict[str, tuple[Annotated[int, Meta(ge=1)], ...]]
    )
    allow_lossy: bool = False
    allow_mended: bool = False
    allow_io_change: bool = False
    partial: bool = False


def read_recipe(path: Path) -> list[Entry]:
    """Return the steps of a recipe, each a name and what it says.

    Raises:
        UsageError: It is no recipe, or a step is not of its form; the step is named.
    """
    found, _ = read_toml(path, "the recipe")
    try:
        recipe = convert(found, _Recipe)
    except ValidationError as error:
        raise UsageError(
            f"is no recipe: {error}",
            where=str(path),
            hint='recipe = 1, then for each step [[step]] and one key such as rename = "x=y"',
        ) from None
    entries = [entry for step in recipe.step for entry in step.items()]
    for place, (name, value) in enumerate(entries, 1):
        edit_of(name, value, f"{path}: step {place}")
    return entries


def edit_of(name: str, value: Any, where: str) -> Edit:
    """Return a step of a recipe as an edit.

    Raises:
        UsageError: There is no such step, or it is not of its form.
    """
    try:
        if name == RUN:
            return _Located(Repair(_options(value)), where)
        return _Located(from_value(name, value), where)
    except UsageError as error:
        raise error.at(where) from None


def write_recipe(path: Path, entries: Sequence[Entry], *, force: bool) -> None:
    """Write a recipe.

    Raises:
        UsageError: Something that is no recipe is there, and `force` is not given.
    """
    if path.exists() and not force:
        try:
            read_recipe(path)
        except UsageError as error:
            raise UsageError(
                "is there and is no recipe", where=str(path), hint="--force overwrites it"
            ) from error
    blocks = ["recipe = 1\n"]
    blocks += [f"[[step]]\n{name} = {_toml(value)}\n" for name, value in entries]
    raw = "\n".join(blocks).encode()
    try:
        write_atomically(path, lambda descriptor: write_all(descriptor, raw))
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def _toml(value: Any) -> str:
    """Return a value as TOML writes it; text as JSON does, whose escapes TOML has, too."""
    if isinstance(value, dict):
        table = dict[str, Any](value)  # pyright: ignore[reportUnknownArgumentType]
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in table.items()) + " }"
    if isinstance(value, list):
        values = list[Any](value)  # pyright: ignore[reportUnknownArgumentType]
        return "[" + ", ".join(map(_toml, values)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@dataclass(frozen=True, slots=True)
class _Located:
    """An edit of a recipe, whose errors say which step it is."""

    edit: Edit
    where: str

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return self.edit.option

    def apply(self, subject: Subject) -> Step:
        """Edit a copy of the model; see `graphfix.edits.step.Edit`."""
        try:
            return self.edit.apply(subject)
        except UsageError as error:
            raise error.at(self.where) from None


def _options(value: Any) -> RunOptions:
    """Return the table ``run`` as options of a run.

    Raises:
        UsageError: A key is unknown, its value is of another type, or nothing is asked for.
    """
    try:
        table = convert(value, RunTable)
    except ValidationError as error:
        hint = 'run = { passes = ["mod-elimination"] }'
        raise UsageError(f"{error}", where=RUN, hint=hint) from None
    options = RunOptions(**asdict(table))
    options.settings()
    return options
