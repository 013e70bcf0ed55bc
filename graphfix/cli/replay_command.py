"""`graphfix replay`: does the fault of a reproducer folder still show?"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graphfix.cli.help_groups import GroupedCommand
from graphfix.cli.limits import offer_template, take_model
from graphfix.cli.shared import CONTEXT, FILE, limit_options, output_options, pass_file_option


@click.command(cls=GroupedCommand, context_settings=CONTEXT)
@limit_options
@click.argument("folder", type=FILE, callback=take_model)
@click.option(
    "--anonymize",
    type=FILE,
    metavar="OUT",
    help="Write a copy without names, metadata and weights to the new folder OUT.",
)
@pass_file_option
@output_options
def replay(
    *, as_json: bool, folder: Path, anonymize: Path | None, pass_files: tuple[Path, ...]
) -> int:
    """Run the pass of a reproducer folder on its reduced model again.

    `graphfix run` writes such a folder for each pass that was wrong or raised. The
    site is proved again, with the stored inputs and with fresh ones. Pass files in
    FOLDER are run; --pass-file takes their place.

    Exit codes: 0 the fault no longer shows; 1 it shows, or that cannot be judged; 2
    wrong usage; 3 FOLDER is no reproducer, is damaged, or is of another version; 5 a
    fault in graphfix; 130 Ctrl-C.
    """
    from graphfix.cli.console import emit, emit_json, stdout_kept, style_for
    from graphfix.worker.limits import single_threaded

    with single_threaded():
        from graphfix.pipeline.reproducers.replay import replay as replay_folder
    offer_template()

    with stdout_kept():
        found = replay_folder(folder, pass_files=pass_files, anonymize=anonymize)
    if as_json:
        from graphfix.rendering.replay_json import replay_json

        emit_json(replay_json(found))
        return found.exit_code
    from graphfix.rendering.replay_text import replay_text

    emit(replay_text(found, style=style_for(sys.stdout)))
    return found.exit_code
