"""From the faults of a run to reproducer folders: each is seen again before it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from onnx import ModelProto

from graphfix.errors import GraphfixError
from graphfix.ir.protos import functions_of
from graphfix.opset.stepping import OPSET
from graphfix.pipeline.faults import Faults, Kind, Specimen
from graphfix.pipeline.reproducers.anonymising import anonymised
from graphfix.pipeline.reproducers.folder import Reproducer, versions, write_folder
from graphfix.pipeline.reproducers.observation import Observation, observe
from graphfix.pipeline.reproducers.recipe import Recipe, one_pass, pass_file_of
from graphfix.pipeline.reproducers.reducing import MOST_BYTES, reduced, whole
from graphfix.pipeline.settings import Settings
from graphfix.proving.sites.cutting import CannotCut
from graphfix.report import Reproduced

# A pass that is wrong is mostly wrong in the same way everywhere.
_MOST_OF_A_PASS = 2
_MOST = 8

Candidate = tuple[ModelProto, Settings, bool]


def write_reproducers(
    faults: Faults, proto: ModelProto, base_dir: str, parent: Path, *, anonymize: bool = False
) -> tuple[Reproduced, ...]:
    """Write a folder for each fault of a run, up to two of a pass and eight in all.

    Args:
        faults: What the run kept of them.
        proto: The model as it came.
        base_dir: The folder of its external data.
        parent: Where the folders go; made where it is not there.
        anonymize: Replace names and weights, and write nothing where the fault then goes away.

    Returns:
        One entry for each, with the folder, or with why there is none.
    """
    count: Counter[tuple[str, ...]] = Counter()
    written: list[Reproduced] = []
    for specimen in faults.specimens:
        who = specimen.passes[:1]
        if count[who] >= _MOST_OF_A_PASS or len(written) >= _MOST:
            continue
        count[who] += 1
        written.append(_written(specimen, proto, base_dir, parent, anonymize))
    return tuple(written)


def _written(
    specimen: Specimen, proto: ModelProto, base_dir: str, parent: Path, anonymize: bool
) -> Reproduced:
    entry = Reproduced(
        pass_id=specimen.passes[0] if specimen.passes else "",
        node=specimen.node,
        kind=str(specimen.kind),
    )
    try:
        made = _reproduced(specimen, proto, base_dir)
        if isinstance(made, Reproducer) and anonymize:
            made = anonymised(made, replace(made.recipe, pass_files=made.pass_files).settings())
    except Exception as error:  # the result of the run is not to be lost for this
        return replace(entry, reason=f"{type(error).__name__}: {error}")
    if isinstance(made, str):
        return replace(entry, reason=made)
    try:
        folder = write_folder(parent, made)
    except OSError as error:
        return replace(entry, reason=f"{parent} cannot be written: {error.strerror}")
    return replace(entry, folder=str(folder))


def _reproduced(specimen: Specimen, proto: ModelProto, base_dir: str) -> Reproducer | str:
    """Return the smallest reproducer that shows the fault, or why there is none."""
    why = "the fault does not show again on a copy of the model"
    candidates = _candidates(specimen, proto, base_dir)
    while True:
        try:
            model, settings, is_whole = next(candidates)
        except StopIteration:
            return why
        except (CannotCut, GraphfixError) as error:
            return str(error)
        if model.ByteSize() > MOST_BYTES:
            continue
        try:
            seen = observe(model, settings, specimen.kind, specimen.passes, whole=is_whole)
        except GraphfixError as error:
            why = f"a copy of the model cannot be read: {error.message}"
            continue
        if seen.shows:
            return replace(_made(specimen, model, settings, seen), whole=is_whole)


def _candidates(specimen: Specimen, proto: ModelProto, base_dir: str) -> Iterator[Candidate]:
    given = replace(specimen.settings, inputs=None, blocked=frozenset(), only=(), excepted=())
    asked = replace(given, shapes={})
    pieces: list[ModelProto] = []
    for piece in specimen.pieces:
        try:
            model = reduced(piece, functions_of(proto))
        except CannotCut:
            continue
        pieces.append(model)
        if specimen.kind is Kind.RULE:
            yield model, asked, False
            continue
        if specimen.passes[0] == OPSET:
            version = piece.opsets_after.get("")
            yield model, replace(asked, target=None, named=None, opset=version), False
            continue
        alone = one_pass(asked, specimen.passes[0])
        if alone is not None:
            yield model, alone, False
    if asked.named is None and specimen.kind is not Kind.RULE:
        for model in pieces:
            yield model, asked, False
    yield whole(proto, base_dir), given, True


def _made(
    specimen: Specimen, model: ModelProto, settings: Settings, seen: Observation
) -> Reproducer:
    named = settings.named
    wanted = [p for p in settings.available if named is None or p in named]
    files = [path for path in map(pass_file_of, wanted) if path is not None]
    return Reproducer(
        kind=specimen.kind,
        passes=specimen.passes,
        node=seen.node if seen.node is not None else specimen.node,
        seen=seen.reason,
        recipe=Recipe.of(settings, specimen.passes),
        model=model,
        certificate=seen.certificate,
        inputs=seen.failing,
        pass_files=tuple(dict.fromkeys(path for path in files if path.is_file())),
        versions=versions(),
    )
