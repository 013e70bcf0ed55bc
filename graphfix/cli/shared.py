"""Options that several commands have, each in one place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from graphfix.cli.parameters import OPERATOR_FORM, SHAPE_FORM, operators, shapes

Function = TypeVar("Function", bound=Callable[..., Any])

CONTEXT = {"max_content_width": 80, "help_option_names": ["-h", "--help"]}
FILE = click.Path(path_type=Path)  # no exists=True: a model that is not there ends in 3, not in 2


def model_argument(function: Function) -> Function:
    """Add ``MODEL``."""
    return click.argument("model", type=FILE)(function)


def output_options(function: Function) -> Function:
    """Add ``--json`` and ``--debug``, which every command has."""
    function = click.option(
        "--debug", is_flag=True, expose_value=False, help="Show tracebacks; also GRAPHFIX_DEBUG=1."
    )(function)
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else."
    )(function)


def shape_option(function: Function) -> Function:
    """Add ``--shape``."""
    return click.option(
        "--shape",
        "shapes",
        multiple=True,
        callback=shapes,
        metavar=SHAPE_FORM,
        help="Fix the shape of an input; repeat for more.",
    )(function)


def assume_option(function: Function) -> Function:
    """Add ``--assume-op``."""
    return click.option(
        "--assume-op",
        "assume_ops",
        multiple=True,
        callback=operators,
        metavar=OPERATOR_FORM,
        help="You have this operator in the engine (a plugin); repeat for more.",
    )(function)


def pass_file_option(function: Function) -> Function:
    """Add ``--pass-file``."""
    return click.option(
        "--pass-file",
        "pass_files",
        type=FILE,
        multiple=True,
        metavar="FILE.py",
        help="Use the passes of this file too; repeat for more.",
    )(function)
