"""Options that several commands have, each in one place."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from graphfix.cli import completion
from graphfix.cli.help_groups import RenamedOption
from graphfix.cli.limits import take_memory, take_model, take_timeout
from graphfix.cli.parameters import (
    OP_TYPE_FORM,
    OPERATOR_FORM,
    OPTION_FORM,
    SHAPE_FORM,
    TREATED_FORM,
    ModelPath,
    names,
    op_types,
    op_types_file,
    operators,
    pass_options,
    shapes,
)

Function = TypeVar("Function", bound=Callable[..., Any])

CONTEXT = {"max_content_width": 80, "help_option_names": ["-h", "--help"]}
FILE = click.Path(path_type=Path)  # no exists=True: a model that is not there ends in 3, not in 2


def model_argument(function: Function) -> Function:
    """Add ``MODEL``, which may be ``-``, and the limits under which it is read."""
    return limit_options(click.argument("model", type=ModelPath(), callback=take_model)(function))


def limit_options(function: Function) -> Function:
    """Add ``--max-memory`` and ``--timeout``, which every command has that interprets a model."""
    function = click.option(
        "--timeout",
        "_timeout",
        type=click.FloatRange(min=0, min_open=True),
        expose_value=False,
        is_eager=True,
        callback=take_timeout,
        metavar="SECONDS",
        help="Time limit (default: 900 and 1 for each MiB of MODEL). Details: docs/limits.md.",
    )(function)
    return memory_option(function)


def memory_option(function: Function) -> Function:
    """Add ``--max-memory``."""
    return click.option(
        "--max-memory",
        expose_value=False,
        is_eager=True,
        callback=take_memory,
        metavar="SIZE",
        help="Memory limit of each process, such as 2GiB (default: from the size of MODEL and "
        "what is free). Details: docs/limits.md.",
    )(function)


class Detail(Enum):
    """How much text a command prints."""

    VERDICT = "quiet"
    SHORT = "short"
    WHOLE = "verbose"


def detail_options(function: Function) -> Function:
    """Add ``-v`` and ``-q``, which say how much text is printed, as ``detail``."""

    @wraps(function)
    def with_detail(*, quiet: bool, verbose: bool, **given: Any) -> Any:
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose exclude each other")
        detail = Detail.VERDICT if quiet else Detail.WHOLE if verbose else Detail.SHORT
        return function(detail=detail, **given)

    quiet = click.option("-q", "--quiet", is_flag=True, help="Print the verdict alone, one line.")
    return cast(Function, verbose_option(quiet(with_detail)))


def verbose_option(function: Function) -> Function:
    """Add ``-v`` alone, as ``verbose``, to a command without a verdict."""
    return click.option(
        "-v", "--verbose", is_flag=True, help="Print everything; without it at most 20 lines."
    )(function)


def output_options(function: Function) -> Function:
    """Add ``--json`` and ``--debug``, which every command has."""
    function = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        help="Show tracebacks and what libraries print; also GRAPHFIX_DEBUG=1.",
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
    """Add ``--assume-op``, and ``--op-type``, which says what it gives."""
    function = click.option(
        "--op-types", "op_types_file", type=FILE, hidden=True, callback=op_types_file
    )(function)
    function = click.option(
        "--op-type",
        "op_types",
        multiple=True,
        callback=op_types,
        metavar=OP_TYPE_FORM,
        help="Output types of such an operator: like:0 (type and shape of input 0), dtype:0, "
        "float32[N,3,?] or ?, outputs separated by ;. Repeat for more; @FILE.toml reads them "
        "from a file.",
    )(function)
    return click.option(
        "--assume-op",
        "assume_ops",
        multiple=True,
        callback=operators,
        metavar=OPERATOR_FORM,
        help="The engine has this operator, as a plugin; repeat for more.",
    )(function)


def treat_option(function: Function) -> Function:
    """Add ``--op-alias``."""
    return click.option(
        "--op-alias",
        "--treat-as",
        "treat_as",
        cls=RenamedOption,
        multiple=True,
        metavar=TREATED_FORM,
        help="The first operator is the second under another name, such as my.ops::Swish=Swish; "
        "repeat for more.",
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


def sample_options(function: Function) -> Function:
    """Add ``--inputs``, ``--shape`` and ``--seed``: what models are compared on."""
    function = click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="N",
        help="Seed of the generated inputs.",
    )(function)
    return click.option(
        "--inputs",
        type=FILE,
        metavar="FILE.npz",
        help="Compare on these inputs, arrays named after the inputs.",
    )(shape_option(function))


capability_option = click.option(
    "--compute-capability",
    default="",
    metavar="NAME",
    help="The device to build for, such as sm89, if the engine builds ahead of time.",
)


fallback_option = click.option(
    "--no-fallback/--fallback",
    help="Take what the engine would leave to the CPU for refused: it is repaired, or a problem.",
)


share_option = click.option(
    "--share-weights",
    is_flag=True,
    help="Store weights that several results hold once, in a data file next to them.",
)


def selection_options(function: Function) -> Function:
    """Add ``--target`` and everything else that says which passes act on a model, and how far."""
    for add in (
        click.option(
            "--partial",
            is_flag=True,
            help="Apply large repairs also where other problems remain.",
        ),
        assume_option,
        click.option(
            "--allow-io-change/--no-allow-io-change",
            help="Allow inputs and outputs to change type or shape.",
        ),
        click.option(
            "--allow-mended/--no-allow-mended",
            help="Accept how a file was read that has no meaning under ONNX.",
        ),
        click.option(
            "--allow-lossy/--no-allow-lossy", help="Allow repairs that change the outputs."
        ),
        click.option(
            "--opset", type=click.IntRange(min=1), metavar="N", help="Convert to this opset."
        ),
        click.option(
            "--option",
            "options",
            multiple=True,
            callback=pass_options,
            metavar=OPTION_FORM,
            help="Set an option of a pass (`graphfix passes NAME` lists them); repeat for more.",
        ),
        click.option(
            "--skip",
            callback=names,
            metavar="A,B",
            shell_complete=completion.passes,
            help="Never use these passes.",
        ),
        click.option(
            "--passes",
            callback=names,
            metavar="A,B",
            shell_complete=completion.passes,
            help="Run exactly these passes, in this order.",
        ),
        click.option(
            "--target",
            metavar="NAME",
            shell_complete=completion.targets,
            help="The engine version to repair for; `graphfix targets` lists them.",
        ),
    ):
        function = add(function)
    return function
