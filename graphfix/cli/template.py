"""Children of the command line are copies of it, where the process is its own."""

from __future__ import annotations

import click

from graphfix.cli.page import page_of
from graphfix.cli.program import OWN_PROCESS


def offer_template() -> None:
    """Let children be forked from this process, which has imported what they need.

    Called before there is a thread or a model. In a process that is someone else's, such as one
    that calls `graphfix.cli.main` with words of its own, children come from a fresh interpreter.
    """
    ctx = click.get_current_context()
    if ctx.find_root().obj is OWN_PROCESS or page_of(ctx) is not None:
        from graphfix.authoring.registry import shipped_passes
        from graphfix.worker.service import fork_here

        shipped_passes()  # this process needs them as well, children for their numpy models
        fork_here()
