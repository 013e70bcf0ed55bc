"""What commands that serve others let one model take, and how many they work on at a time."""

from __future__ import annotations

import click

from graphfix.cli.limits import check_file_size, check_size
from graphfix.cli.shared import Function

_OPTIONS = (
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=2,
        show_default=True,
        help="How many at a time.",
    ),
    click.option(
        "--max-size",
        default="512MiB",
        show_default=True,
        callback=check_file_size,
        metavar="SIZE",
        help="The largest file that is taken.",
    ),
    click.option(
        "--max-memory",
        default="4GiB",
        show_default=True,
        callback=check_size,
        metavar="SIZE",
        help="What the work on a model may take.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=300.0,
        show_default=True,
        metavar="SECONDS",
        help="How long a model is worked on.",
    ),
)


def work_options(function: Function) -> Function:
    """Add ``--jobs``, ``--max-size``, ``--max-memory`` and ``--timeout``, in this order."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
