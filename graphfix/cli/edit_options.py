"""The options of `graphfix edit`, one for each edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import GROUPS, RenamedOption
from graphfix.edits.listed import EDITS as LISTED
from graphfix.edits.listed import HEADINGS

Function = TypeVar("Function", bound=Callable[..., Any])

EDIT_GROUPS: dict[str, tuple[str, ...]] = {
    **HEADINGS,
    "Several steps": ("--recipe",),
    **{name: options for name, options in GROUPS.items() if name != "What to work on"},
}
EDIT_GROUPS["Shapes and types"] += ("--except", "--target", "--prefill")  # of the step before

# The parameter of each option -> the name of its edit.
EDITS = {f"edit_{name.replace('-', '_')}": name for name, _, _ in LISTED}

# Edits, and what stands for several: their order among each other counts.
IN_ORDER = {
    **EDITS,
    "edit_recipe": "recipe",
    "edit_keep": "keep",
    "edit_target": "target",
    "edit_prefill": "prefill",
}


def edit_options(function: Function) -> Function:
    """Add an option for each edit, and one for recipes; all may be repeated."""
    function = click.option(
        "--except",
        "--keep",
        "edit_keep",
        cls=RenamedOption,
        multiple=True,
        metavar="NODE,OP,...",
        help="Leave these as they are in the --to before it.",
    )(function)
    function = click.option(
        "--target",
        "edit_target",
        multiple=True,
        metavar="NAME",
        shell_complete=completion.targets,
        help="The engine that the --to before it is for: add up as it does, keep what it refuses.",
    )(function)
    function = click.option(
        "--prefill",
        "edit_prefill",
        multiple=True,
        metavar="TOKENS",
        help="A second file that takes so many tokens at once, after --static-cache.",
    )(function)
    function = click.option(
        "--recipe",
        "edit_recipe",
        multiple=True,
        metavar="FILE.toml",
        help="Do the steps of a recipe: edits and runs of repairs.",
    )(function)
    for name, form, text in reversed(LISTED):
        parameter = f"edit_{name.replace('-', '_')}"
        how: dict[str, Any] = {"multiple": True, "metavar": form} if form else {"count": True}
        function = click.option(f"--{name}", parameter, help=text, **how)(function)
    return function
