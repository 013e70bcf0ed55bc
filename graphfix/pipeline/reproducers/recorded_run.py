"""A run that leaves a reproducer folder of everything that passes did wrong in it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.model import Model
from graphfix.pipeline.faults import Faults, Kind, Specimen
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import documented
from graphfix.pipeline.original import NOTHING, Given
from graphfix.pipeline.results import Result
from graphfix.pipeline.rule_faults import rule_faults
from graphfix.pipeline.settings import Settings
from graphfix.report import Finding, NodeRef, Reproduced


def finish_with(
    model: Model,
    settings: Settings,
    hooks: Sequence[Hook],
    folder: Path | None,
    *,
    anonymize: bool = False,
    given: Given = NOTHING,
) -> Result:
    """Run the passes as `finish` does, and write reproducers.

    Args:
        model: The model, which is edited.
        settings: What was asked for.
        hooks: Notified of stages and passes.
        folder: Where the reproducers go, each in a folder of its own; None writes none.
        anonymize: Whether names and weights are replaced in them.
        given: What is known of the file.

    Raises:
        PassBug: A fault of graphfix itself; it names its reproducer, where one was written.
    """
    # A check comes here as well, and needs nothing of what repairs and proves.
    from graphfix.pipeline.finishing import finish

    proto, base_dir = model.proto, model.base_dir
    faults = Faults()
    if folder is None:
        return finish(model, settings, hooks, faults=faults, given=given)
    try:
        with documented(model):
            result = finish(model, settings, hooks, faults=faults, given=given)
    except GraphfixError:
        raise
    except Exception as error:
        said = str(error) if isinstance(error, PassBug) else f"{type(error).__name__}: {error}"
        whole = Faults([Specimen(Kind.FAULT, (), NodeRef(), said, settings)])
        from graphfix.pipeline.reproducers.folder_writer import write_reproducers

        written = write_reproducers(whole, proto, base_dir, folder, anonymize=anonymize)
        made = _first_folder(written)
        if isinstance(error, PassBug):
            error.reproducer = made
            raise
        raise PassBug(said, reproducer=made) from error
    if not faults.specimens:
        return result
    for hook in hooks:
        hook.stage("reproduce")
    from graphfix.pipeline.reproducers.folder_writer import write_reproducers

    written = write_reproducers(faults, proto, base_dir, folder, anonymize=anonymize)
    return replace(result, report=replace(result.report, reproducers=written))


def rule_reproducers(
    model: Model, settings: Settings, findings: Sequence[Finding], parent: Path | None
) -> tuple[Reproduced, ...]:
    """Write a reproducer of each rule that raised when a model was checked.

    Args:
        model: The model as it was checked; its types are inferred.
        settings: What was asked for.
        findings: What was found.
        parent: Where a folder for them is made; None writes none.
    """
    faults = Faults(list(rule_faults(model, findings, settings)))
    if parent is None or not faults.specimens:
        return ()
    from graphfix.pipeline.reproducers.folder_writer import write_reproducers

    folder = Path(tempfile.mkdtemp(prefix="graphfix-fault-", dir=parent))
    return write_reproducers(faults, model.proto, model.base_dir, folder)


def _first_folder(written: Sequence[Reproduced]) -> str:
    return next((entry.folder for entry in written if entry.folder), "")
