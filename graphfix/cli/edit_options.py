"""The options of `graphfix edit`, one for each edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

# Option, form of its text, what it does.
_OPTIONS = (
    ("rename", "OLD=NEW", "Rename a tensor: an input, an output or an inner one."),
    ("rename-node", "OLD=NEW", "Rename a node."),
    ("prefix", "TEXT", "Put TEXT before the names of all nodes and inner tensors."),
)

# The parameter of each option -> the name of its edit.
EDITS = {f"edit_{name.replace('-', '_')}": name for name, _, _ in _OPTIONS}


def edit_options(function: Function) -> Function:
    """Add an option for each edit; all may be repeated."""
    for name, form, text in reversed(_OPTIONS):
        parameter = f"edit_{name.replace('-', '_')}"
        function = click.option(f"--{name}", parameter, multiple=True, metavar=form, help=text)(
            function
        )
    return function
