"""Replaying a reproducer: the pass on the reduced model again, and whether the fault shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphfix.authoring.registry import all_passes
from graphfix.errors import InvalidModel, UsageError
from graphfix.pipeline.faults import Kind
from graphfix.pipeline.model_files import guarded
from graphfix.pipeline.reproducers.anonymising import anonymised
from graphfix.pipeline.reproducers.folder import (
    Reproducer,
    check_free,
    read_folder,
    versions,
    write_as,
)
from graphfix.pipeline.reproducers.observation import observe
from graphfix.pipeline.settings import Settings
from graphfix.report import Certificate, NodeRef


@dataclass(frozen=True, slots=True)
class Replay:
    """What replaying found.

    Attributes:
        folder: The folder.
        kind: ``differs``, ``raises``, ``rule`` or ``fault``.
        pass_id: The pass or the rule at fault; empty for a fault of the run itself.
        node: Where it was seen.
        shows: Whether the fault shows; None where that cannot be determined.
        then: What was seen when the folder was written.
        now: What was seen now.
        certificate: The proof of the site now; None where there is none.
        versions: What the fault was seen with.
        versions_now: What it was replayed with.
        pass_files: The pass files whose code was run.
        anonymised: The folder without names and weights; empty where none was asked for or written.
        notes: Sentences for the user.
    """

    folder: str
    kind: str
    pass_id: str
    node: NodeRef
    shows: bool | None
    then: str
    now: str
    certificate: Certificate | None
    versions: Mapping[str, str]
    versions_now: Mapping[str, str]
    pass_files: tuple[str, ...] = ()
    anonymised: str = ""
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where the fault is gone; 1 where it shows, or where that cannot be determined."""
        return 0 if self.shows is False else 1


@guarded
def replay(
    folder: str | Path,
    *,
    pass_files: Sequence[str | Path] = (),
    anonymize: str | Path | None = None,
) -> Replay:
    """Run what a reproducer folder says and look whether the fault still shows.

    The code of the pass files in the folder is run.

    Args:
        folder: The folder.
        pass_files: Pass files in the place of those in the folder.
        anonymize: Where to write a copy without names and weights, if the fault still shows there.

    Raises:
        InvalidModel: The folder is no reproducer, is damaged, or is of another version.
        UsageError: A pass file cannot be used, or `anonymize` is there already.
    """
    place = Path(folder)
    known = read_folder(place)
    if anonymize is not None:
        check_free(Path(anonymize))
    files = tuple(Path(p) for p in pass_files) or known.pass_files
    settings = _settings(known, files, place)
    seen = observe(
        known.model,
        settings,
        known.kind,
        known.passes,
        given=known.inputs,
        whole=known.whole,
    )
    notes = [*known.notes] if not pass_files else []
    written = ""
    if anonymize is not None:
        if not seen.shows:
            notes.append("nothing was anonymised, because the fault does not show")
        else:
            made = anonymised(replace(known, pass_files=files), settings)
            if isinstance(made, str):
                notes.append(made)
            else:
                write_as(Path(anonymize), made)
                written = str(anonymize)
    return Replay(
        folder=str(folder),
        kind=str(known.kind),
        pass_id=known.passes[0] if known.passes else "",
        node=known.node,
        shows=seen.shows,
        then=known.seen,
        now=seen.reason,
        certificate=seen.certificate,
        versions=known.versions,
        versions_now=versions(),
        pass_files=tuple(map(str, files)),
        anonymised=written,
        notes=tuple(notes),
    )


def _settings(known: Reproducer, files: Sequence[Path], folder: Path) -> Settings:
    """Return what the recipe comes to here.

    Raises:
        InvalidModel: It needs a pass or a target that this graphfix does not have.
        UsageError: A pass file cannot be used.
    """
    able = {declared.id for declared in all_passes(files)}
    own = () if known.kind is Kind.RULE else known.passes
    for name in (*own, *(known.recipe.passes or ())):
        if name not in able:
            raise InvalidModel(
                f"needs the pass {name!r}, which is not there",
                where=str(folder),
                hint="give its file with --pass-file",
            )
    try:
        return replace(known.recipe, pass_files=files).settings()
    except UsageError as error:
        raise InvalidModel(f"cannot be replayed here: {error}", where=str(folder)) from error
