"""Runs on files: where the result goes, what may be overwritten, what is said of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphfix.engines.profile import Target
from graphfix.engines.targets import resolve, resolve_briefly
from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.operator_aliases import treated
from graphfix.ir.protos import called, normal_domain
from graphfix.ir.storage.provenance import FROM, MADE_BY, stripped
from graphfix.ir.storage.reading import read_model
from graphfix.ir.storage.saving import write_all, write_atomically
from graphfix.ir.version import __version__
from graphfix.pipeline.engine_verdict import engine_asked
from graphfix.pipeline.findings import findings_of
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import as_model, guarded, save
from graphfix.pipeline.op_types import unused
from graphfix.pipeline.original import NOTHING, Given, facts_of
from graphfix.pipeline.reproducers.recorded_run import finish_with, rule_reproducers
from graphfix.pipeline.results import Result
from graphfix.pipeline.running import placed
from graphfix.pipeline.selecting import named_there
from graphfix.pipeline.settings import RunOptions, Settings, inputs_file
from graphfix.pipeline.streams import INPUT, OUTPUT, STANDARD, bytes_of, check_stream_output
from graphfix.report import (
    EngineAsked,
    FileFacts,
    Finding,
    NodeRef,
    Placement,
    Report,
    Reproduced,
    Status,
)
from graphfix.report.explanations import Explanation, NamedPattern

PROVENANCE = "graphfix."


@dataclass(frozen=True, slots=True)
class RunRequest(RunOptions):
    """Everything that `graphfix run` can be asked; see the command line.

    A loaded model is one that came from standard input, and the output ``-`` is standard output.
    """

    model: Path | Model
    output: Path | None = None
    strict: bool = False
    force: bool = False
    dry_run: bool = False
    in_place: bool = False
    data: str = "keep"
    provenance: bool = True
    reproducers: Path | None = None
    anonymize: bool = False
    treat_as: Sequence[str] = ()
    time: bool = False
    strip: bool = False


@dataclass(frozen=True, slots=True)
class CheckRequest(RunOptions):
    """Everything that `graphfix check` can be asked: of a run's options what findings need.

    Where a rule raises, a folder that shows it is made below `reproducers`; None makes none.
    """

    model: Path | Model
    explain: bool = False
    treat_as: Sequence[str] = ()
    reproducers: Path | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What `graphfix check` found.

    Attributes:
        target: The resolved target.
        findings: What was found.
        notes: Sentences that belong to no finding.
        explanations: One for each finding, where they were asked for.
        named: With the explanations, what passes that run only when they are named would do.
        reproducers: Folders that show again the rules that raised.
        engine: Whether the target's engine itself was given the file.
        placed: Where the nodes run; None where the target is no provider of onnxruntime.
    """

    target: Target
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    explanations: tuple[Explanation, ...] = ()
    named: tuple[NamedPattern, ...] = ()
    reproducers: tuple[Reproduced, ...] = ()
    engine: EngineAsked | None = None
    placed: Placement | None = None


def _unused(model: Model, settings: Settings) -> tuple[str, ...]:
    """Return a sentence for each operator that the user named and that no node is."""
    notes = unused(model, settings.op_types) if settings.op_types else ()
    if not settings.assumed:
        return notes
    there = {(normal_domain(node.domain or ""), node.op) for node in model.nodes()}
    there |= {("", op) for _, op in there}
    return notes + tuple(
        f"--assume-op {f'{domain}::{op}' if domain else op} says nothing here: no node of the "
        "model is one"
        for domain, op in sorted(settings.assumed)
        if (domain, op) not in there
    )


@guarded
def check_file(request: CheckRequest) -> CheckResult:
    """Check a file for a target.

    Raises:
        InvalidModel: The file is not a model.
        UsageError: The target, a shape or a pass file is wrong.
    """
    assert request.target is not None, "there is nothing to check for without a target"
    target, notes = (resolve if request.explain else resolve_briefly)(request.target)
    settings = request.settings()
    model, said = treated(as_model(request.model), request.treat_as)
    notes = (*notes, *said, *_unused(model, settings))
    again = model.copy() if request.explain else None
    found = findings_of(model, settings)
    result = CheckResult(
        target,
        found,
        notes,
        reproducers=rule_reproducers(model, settings, found, request.reproducers),
        engine=engine_asked(model, settings, found),
        placed=placed(model, target, found),
    )
    if again is None:
        return result
    from graphfix.pipeline.explanations import explanations_of
    from graphfix.pipeline.named_patterns import named_patterns

    named = named_patterns(again.copy(), settings.available)
    return replace(result, explanations=explanations_of(again, settings, found), named=named)


@guarded
def run_file(
    request: RunRequest,
    hooks: Sequence[Hook] = (),
    put: Callable[[bytes], object] | None = None,
) -> Result:
    """Repair a file and write the result.

    Args:
        request: What is asked for.
        hooks: Notified of stages and passes.
        put: Takes the bytes of a result that goes to standard output.

    Raises:
        InvalidModel: The input is not a model; nothing is written.
        UsageError: A name is wrong, or the output may not be written; nothing is written.
        PassBug: A fault in graphfix; nothing is written.
    """
    notes: tuple[str, ...] = ()
    check_consistent(request)
    if request.target is not None:
        _, notes = resolve_briefly(request.target)
    with inputs_file(request.inputs) as inputs:
        return _run(request, request.settings(inputs), notes, hooks, put)


def finished(
    model: Model,
    settings: Settings,
    hooks: Sequence[Hook],
    folder: Path | None,
    *,
    anonymize: bool = False,
    given: Given = NOTHING,
) -> Result:
    """Run the passes over a model, and ask the target's engine where that is to be asked.

    The arguments and errors are those of `finish_with`.
    """

    def finish(fresh: Model, asked: Settings) -> Result:
        return finish_with(fresh, asked, hooks, folder, anonymize=anonymize, given=given)

    if settings.target is None or not settings.in_engine:
        return finish(model, settings)
    from graphfix.pipeline.asking_run import finish_asking
    from graphfix.pipeline.early_engine import started_early

    with started_early(model, settings) as ready:
        if not ready.questions:
            return finish(model, ready)
        return finish_asking(model, settings.target, ready, hooks, finish)


def check_consistent(request: RunRequest) -> None:
    """Check that a run is not asked for two things that exclude each other.

    Raises:
        UsageError: It is.
    """
    off = request.verify == "off"
    for one, other, both in (
        ("--dry-run", "--in-place", request.dry_run and request.in_place),
        ("--in-place", "--output", request.in_place and request.output is not None),
        ("--strict", "--partial", request.strict and request.partial),
        ("--verify off", "--inputs", off and request.inputs is not None),
        ("--verify off", "--certificates", off and request.certificates is not None),
    ):
        if both:
            raise UsageError(f"{one} and {other} exclude each other")
    kept = request.certificates
    if kept is not None and kept.exists() and not kept.is_dir():
        raise UsageError("is a file; certificates are kept in a folder", where=str(kept))


def _run(
    request: RunRequest,
    settings: Settings,
    notes: tuple[str, ...],
    hooks: Sequence[Hook],
    put: Callable[[bytes], object] | None,
) -> Result:
    for hook in hooks:
        hook.stage("load")
    given = as_model(request.model)
    facts = facts_of(given)
    before = given.copy() if request.time else None
    if isinstance(request.model, Model):
        facts = replace(facts, path=INPUT)
    model, said = treated(given, request.treat_as) if request.treat_as else (given, ())
    notes = (*notes, *said, *_unused(model, settings))
    if request.excepted_if_there:
        there, absent = named_there(model, request.excepted_if_there)
        settings = replace(settings, excepted=(*settings.excepted, *there))
        notes = (*notes, *(f"the model has no node {each!r} to leave as it is" for each in absent))
    external = model.has_external_data()
    folder = request.reproducers
    if request.output == STANDARD:
        check_stream_output(model, request.data)
    else:
        complete = output_path(request, partial=False)
        folder = folder or Path(f"{complete}.reproducers")
        for path in {complete, output_path(request, partial=True)}:
            how = {"force": request.force, "in_place": request.in_place, "replaces": True}
            check_writable(path, request.model, **how)
    result = finished(
        model,
        settings,
        hooks,
        None if request.dry_run else folder,
        anonymize=request.anonymize,
        given=Given(facts, notes),
    )
    if before is not None and result.exit_code != 4:
        from graphfix.pipeline.costs import costs_of

        costs = costs_of(before, result.model, settings)
        result = replace(result, report=replace(result.report, costs=costs))
    report = result.report
    findings_left = any(f.blocks for f in report.findings_after)
    if result.exit_code == 4 or (request.strict and (findings_left or result.exit_code == 1)):
        return result
    applied = any(outcome.status is Status.APPLIED for outcome in report.outcomes)
    unchanged = not applied and not request.shapes and not said and not request.strip
    if not unchanged and request.provenance:
        result.model.metadata.update(provenance(report))
        note_origins(result.model, report)
    if request.dry_run:
        return result
    for hook in hooks:
        hook.stage("save")
    saved = result.model
    if request.strip:
        saved = Model(stripped(saved.to_proto()), base_dir=saved.base_dir)
    if request.output == STANDARD:
        name, raw = OUTPUT, bytes_of(saved, request.data)
        (put or len)(raw)
    else:
        path = output_path(request, partial=findings_left and settings.target is not None)
        if unchanged and not external and isinstance(request.model, Path):
            _copy(request.model, path, report.input.sha256)
        else:
            save(saved, path, data=request.data)
        name, raw = str(path), path.read_bytes()
    return replace(result, report=replace(report, output=_facts_of(saved, name, raw)))


def _copy(source: Path, path: Path, sha256: str) -> None:
    raw = source.read_bytes()
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise UsageError("was overwritten while it was worked on", where=str(source))
    try:
        write_atomically(path, lambda descriptor: write_all(descriptor, raw))
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error


def _facts_of(model: Model, path: str, raw: bytes) -> FileFacts:
    return replace(
        facts_of(model), path=path, sha256=hashlib.sha256(raw).hexdigest(), bytes=len(raw)
    )


def output_path(request: RunRequest, *, partial: bool) -> Path:
    """Return where the result goes; see "The command line" of the design.

    Raises:
        UsageError: The model came from standard input, and no output is named.
    """
    if request.output is not None and not request.in_place:
        return request.output
    if isinstance(request.model, Model):
        raise UsageError(f"{INPUT} has no place of its own", hint="give -o OUT.onnx, or -o -")
    if request.in_place:
        return request.model
    stem = request.model.name.removesuffix(".onnx")
    if request.target is not None:
        middle = Path(str(request.target)).name.removesuffix(".toml")
        if partial:
            middle += ".partial"
    elif request.opset is not None:
        middle = f"opset{request.opset}"
    else:
        middle = "fixed"
    return request.model.with_name(f"{stem}.{middle}.onnx")


def check_writable(
    path: Path, source: Path | Model, *, force: bool, in_place: bool = False, replaces: bool = False
) -> None:
    """Check, before the work, that a result may be written.

    Args:
        path: Where it is to go.
        source: The model that it is made from, which is not to be overwritten.
        force: Whether a file that graphfix did not write may be.
        in_place: Whether `path` is the model itself, which is meant.
        replaces: Whether the command can be asked to, with --in-place.

    Raises:
        UsageError: It cannot be written, or is not to be.
    """
    if in_place:
        if not os.access(os.path.realpath(path.parent), os.W_OK | os.X_OK):
            raise UsageError("the folder cannot be written", where=str(path.parent))
        return
    if not path.parent.is_dir():
        raise UsageError("the folder does not exist", where=str(path.parent), hint="make it first")
    if path.is_dir():
        raise UsageError("is a folder", where=str(path), hint="-o takes a file name")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise UsageError("the folder cannot be written", where=str(path.parent))
    if not path.exists():
        return
    if not path.is_file():
        raise UsageError("is not a regular file", where=str(path), hint="-o takes a file name")
    file = source if isinstance(source, Path) else None
    if file is not None and file.exists() and path.samefile(file):
        hint = f"give another name with -o{', or --in-place if that is meant' * replaces}"
        raise UsageError("would overwrite the input", where=str(path), hint=hint)
    if not force and not (written_by_graphfix(path) if file is None else _ours(path, file)):
        raise UsageError(
            "is there already and was not written by graphfix",
            where=str(path),
            hint="use --force, or another name with -o",
        )


def _ours(path: Path, model: Path) -> bool:
    """Say whether `path` may be overwritten: graphfix wrote it, or it is a copy of the input."""
    if path.stat().st_size == model.stat().st_size and path.read_bytes() == model.read_bytes():
        return True
    return written_by_graphfix(path)


def written_by_graphfix(path: Path) -> bool:
    """Say whether a file bears graphfix's provenance."""
    try:
        proto = read_model(path).proto
    except InvalidModel:
        return False
    return any(entry.key == f"{PROVENANCE}version" for entry in proto.metadata_props)


def note_origins(model: Model, report: Report) -> None:
    """Let each node that repairs made say in its metadata of which node of the file, and by which.

    ``graphfix inspect --where-from`` shows it.
    """
    passes: dict[NodeRef, dict[str, None]] = {}
    for outcome in report.outcomes:
        for site in outcome.sites if outcome.status is Status.APPLIED else ():
            passes.setdefault(replace(site.node, index=-1), {})[outcome.pass_id] = None
    for node in model.nodes():
        origin = node.origin
        if origin is None:
            continue
        label = called(origin.op, origin.name, origin.outputs)
        node.notes = {FROM: label if origin.scope == "main" else f"{label} in {origin.scope}"}
        made_by = passes.get(replace(origin, index=-1))
        if made_by:
            node.notes = {MADE_BY: ", ".join(made_by), **node.notes}


def provenance(report: Report) -> dict[str, str]:
    """Return the metadata that tells where a file comes from."""
    applied = dict.fromkeys(o.pass_id for o in report.outcomes if o.status is Status.APPLIED)
    left = dict.fromkeys(f"{f.rule}" for f in report.findings_after if f.blocks)
    return {
        f"{PROVENANCE}version": __version__,
        f"{PROVENANCE}target": report.target,
        f"{PROVENANCE}passes": ",".join(applied),
        f"{PROVENANCE}findings_left": ",".join(left),
        f"{PROVENANCE}input_sha256": report.input.sha256,
    }
