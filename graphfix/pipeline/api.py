"""The Python API: load, check, run, save."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from onnx import ModelProto

from graphfix.authoring.declaring import Pass
from graphfix.checking import check_model, file_findings
from graphfix.engines.onnxruntime.installed import means_installed
from graphfix.engines.placing import as_told
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import InvalidModel, UsageError
from graphfix.hooks import Hook
from graphfix.model import Model
from graphfix.pipeline.attributing import opsets_of, with_removers
from graphfix.pipeline.binding import bind_shapes
from graphfix.pipeline.guarding import guarded
from graphfix.pipeline.op_types import check_op_types
from graphfix.pipeline.reading_op_types import OpTypes, op_types_of
from graphfix.pipeline.settings import VERIFY, Settings, parse_options, without
from graphfix.pipeline.typing import infer_types
from graphfix.registry import all_passes, get_pass
from graphfix.report import Explanation, Finding, Report
from graphfix.sorting import first_misplaced, sorted_nodes
from graphfix.storage.reading import check_proto, read_model
from graphfix.validity.examination import examine

PassLike = str | Pass | Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What a run gives back.

    Attributes:
        exit_code: As on the command line.
        report: All that was done and found.
        model: The repaired model.
    """

    exit_code: int
    report: Report
    model: Model


@guarded
def load(source: str | Path | ModelProto) -> Model:
    """Load a model from a file, or from a proto (which is copied); external data is not read.

    Raises:
        InvalidModel: It cannot be read or is not a model.
    """
    if not _may_be_model(source):
        raise UsageError(f"a model is a path or a ModelProto, not {type(source).__name__}")
    if isinstance(source, ModelProto):
        copy = ModelProto()
        copy.CopyFrom(source)
        check_proto(copy, "the ModelProto")
        model = Model(copy)
    else:
        read = read_model(Path(source))
        try:
            model = Model(read.proto, path=read.path, sha256=read.sha256, size=read.size)
        except InvalidModel as error:
            raise error.at(str(source)) from None
    check_acyclic(model)
    return model


def _may_be_model(source: object) -> bool:
    return isinstance(source, str | PathLike | ModelProto)


def check_acyclic(model: Model) -> None:
    """Check that the nodes of every scope can be put in order.

    Raises:
        InvalidModel: They form a cycle.
    """
    for graph in model.graphs():
        if first_misplaced(graph) is not None:
            try:
                sorted_nodes(graph)
            except InvalidModel as error:
                raise error.at(str(model.path or "")) from None


@guarded
def save(model: Model, path: str | Path, *, data: str = "keep") -> None:
    """Write a model atomically: the old file or the new one is there at any moment.

    Args:
        model: The model.
        path: The .onnx file to write.
        data: ``keep``, ``copy``, ``link`` or ``inline``, for external data.

    Raises:
        UsageError: The folder is not there, or there is no space for the data.
    """
    from graphfix.storage.saving import save_model

    save_model(model.to_proto(), Path(path), base_dir=model.base_dir, data=data)


@guarded
def check(
    model: Model | str | Path | ModelProto,
    target: str | Target,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    passes: Sequence[Pass] | None = None,
) -> tuple[Finding, ...]:
    """Return everything that stands in the way of a model on a target.

    Raises:
        InvalidModel: The model cannot be read.
        UsageError: The target is not known, a shape does not fit its input, or a type its output.
    """
    settings = _check_settings(target, shapes, assume_ops, op_types, passes)
    return findings_of(as_model(model), settings)


def findings_of(model: Model, settings: Settings) -> tuple[Finding, ...]:
    """Bind shapes, infer types and check; the model is edited, so the caller gives its own."""
    assert settings.target is not None
    bind_shapes(model, settings.shapes)
    of_file = file_findings(examine(model).complaints, settings.target)
    infer_types(model, settings.knowing)
    check_op_types(model, settings.op_types)
    engines = as_told(model, check_model(model, settings.target, settings.assumed))
    found = (*of_file, *engines)
    if settings.installed:
        from graphfix.pipeline.loading import findings_of_loading
        from graphfix.pipeline.verifying import as_it_came

        file = as_it_came(model.proto, model.path, model.sha256, model.base_dir)
        found = (*found, *findings_of_loading(model, file, settings, found))
    return with_removers(found, settings, opsets_of(model))


def _check_settings(
    target: str | Target,
    shapes: Mapping[str, Sequence[int]] | None,
    assume_ops: Sequence[str],
    op_types: OpTypes,
    passes: Sequence[Pass] | None,
) -> Settings:
    return Settings(
        target=load_target(target),
        opset=None,
        named=None,
        available=tuple(passes) if passes is not None else all_passes(),
        assumed=assumed_operators(assume_ops),
        op_types=op_types_of(op_types),
        shapes={name: tuple(sizes) for name, sizes in (shapes or {}).items()},
        installed=means_installed(target),
    )


@guarded
def explain(
    model: Model | str | Path | ModelProto,
    target: str | Target,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    passes: Sequence[Pass] | None = None,
) -> tuple[Explanation, ...]:
    """Return, for every finding, the passes that could remove it, which would, and why not others.

    The passes are run on a copy; no numbers are compared. Arguments and errors as for `check`.
    """
    from graphfix.pipeline.explaining import explanations_of

    settings = _check_settings(target, shapes, assume_ops, op_types, passes)
    found = findings_of(as_model(model), settings)
    return explanations_of(as_model(model), settings, found)


def as_model(model: Model | str | Path | ModelProto) -> Model:
    """Return an independent model that may be edited."""
    return model.copy() if isinstance(model, Model) else load(model)


def assumed_operators(names: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Parse ``[DOMAIN::]OP`` into (domain, operator) pairs."""
    pairs: set[tuple[str, str]] = set()
    for name in names:
        domain, _, op = name.rpartition("::")
        pairs.add((domain, op))
    return frozenset(pairs)


@guarded
def run(
    model: Model | str | Path | ModelProto,
    target: str | Target | None = None,
    *,
    opset: int | None = None,
    passes: Sequence[PassLike] | None = None,
    skip: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    allow_lossy: bool = False,
    allow_io_change: bool = False,
    partial: bool = False,
    verify: str = "auto",
    inputs: str | Path | Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    pass_files: Sequence[str | Path] = (),
    reproducers: str | Path | None = None,
    anonymize: bool = False,
    hooks: Sequence[Hook] = (),
) -> Result:
    """Repair a model for a target; the model given is not changed.

    Args:
        model: A loaded model, a path, or a proto.
        target: The target's name; None for named passes or opset conversion alone.
        opset: The opset to convert to.
        passes: Exactly these passes, in this order: names, or passes themselves.
        skip: Passes that are not to run.
        options: ``"PASS.KEY" -> value``.
        assume_ops: Operators that the engine is said to have, ``[DOMAIN::]OP``.
        op_types: What operators without schema give, ``{"acme::MyNorm": "like:0"}``, or a file;
            see `graphfix.pipeline.op_types`.
        allow_lossy: Consent to lossy sites.
        allow_io_change: Consent to changes of inputs and outputs.
        partial: Apply big decompositions although findings are left.
        verify: ``auto`` (each site and the whole model), ``sites``, ``full`` (the whole model
            alone), ``engine`` (``auto``, and what this machine's TensorRT computes) or ``off``.
        inputs: An .npz file, or a mapping of arrays, to compare on.
        shapes: Input name -> sizes, for dynamic inputs.
        seed: For the inputs that are made.
        pass_files: Files with further passes.
        reproducers: The folder for reproducers of what passes do wrong; None for none.
        anonymize: Write reproducers without names and weights.
        hooks: Told of stages and passes.

    Raises:
        InvalidModel: The model cannot be read.
        UsageError: A name or an argument is wrong.
        PassBug: A pass broke its declaration in a way that cannot be undone.
    """
    from graphfix.pipeline.reproducing import finish_with

    fresh = as_model(model)
    with inputs_file(inputs) as file:
        settings = make_settings(
            target=target,
            opset=opset,
            passes=passes,
            skip=skip,
            options=options,
            assume_ops=assume_ops,
            op_types=op_types,
            allow_lossy=allow_lossy,
            allow_io_change=allow_io_change,
            partial=partial,
            verify=verify,
            inputs=file,
            shapes=shapes,
            seed=seed,
            pass_files=pass_files,
        )
        folder = Path(reproducers) if reproducers is not None else None
        return finish_with(fresh, settings, hooks, folder, anonymize=anonymize)


def _is_whole(opset: object) -> bool:
    return opset is None or (isinstance(opset, int) and not isinstance(opset, bool))


def make_settings(
    *,
    target: str | Target | None = None,
    opset: int | None = None,
    passes: Sequence[PassLike] | None = None,
    skip: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    allow_lossy: bool = False,
    allow_io_change: bool = False,
    partial: bool = False,
    verify: str = "auto",
    inputs: Path | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    pass_files: Sequence[str | Path] = (),
) -> Settings:
    """Resolve the names in a request; arguments as for `run`.

    Raises:
        UsageError: A name or a value is wrong, or nothing was asked for.
    """
    if verify not in VERIFY:
        choices = f"{', '.join(VERIFY[:-1])} or {VERIFY[-1]}"
        raise UsageError(f"{verify!r} is not {choices}", where="--verify")
    if not _is_whole(opset):
        raise UsageError(f"{opset!r} is not a whole number", where="--opset")
    if seed < 0:
        raise UsageError(f"{seed} is negative", where="--seed")
    for name, value in (("--passes", passes), ("--skip", skip)):
        if isinstance(value, str):
            raise UsageError(f"{value!r} is not a list of names", where=name)
    if target is None and opset is None and passes is None:
        raise UsageError("nothing to do", hint="give --target NAME, --opset N or --passes a,b")
    engine = load_target(target) if target is not None else None
    if verify == "engine":
        from graphfix.pipeline.verifying import check_engine

        check_engine(engine)
    available = all_passes([Path(p) for p in pass_files])
    named: list[Pass] | None = None
    if passes is not None:
        named = []
        for wanted in passes:
            declared = (
                wanted
                if isinstance(wanted, Pass)
                else get_pass(str(wanted), available, where="--passes")
            )
            named.append(declared)
            if declared not in available:
                available = (*available, declared)
    skipped = {get_pass(name, available, where="--skip").id for name in skip}
    settings = Settings(
        target=engine,
        opset=opset,
        named=tuple(named) if named is not None else None,
        available=available,
        options=parse_options(options or {}, available),
        assumed=assumed_operators(assume_ops),
        op_types=op_types_of(op_types),
        allow_lossy=allow_lossy,
        allow_io_change=allow_io_change,
        partial=partial,
        verify=verify,
        inputs=inputs,
        shapes={name: tuple(sizes) for name, sizes in (shapes or {}).items()},
        seed=seed,
        installed=target is not None and means_installed(target),
    )
    return without(settings, skipped)


@contextmanager
def inputs_file(inputs: str | Path | Mapping[str, Any] | None) -> Generator[Path | None]:
    """Give the inputs of the user as a file, which is what the comparison's children read."""
    if inputs is None or isinstance(inputs, str | Path):
        yield None if inputs is None else Path(inputs)
        return
    import tempfile

    import numpy as np

    with tempfile.NamedTemporaryFile(prefix="graphfix-inputs-", suffix=".npz") as stream:
        with zipfile.ZipFile(stream, "w") as archive:  # savez takes some names for its own
            for name, value in inputs.items():
                array = np.asarray(value)
                if array.dtype.hasobject:
                    raise UsageError(f"input {name!r} is not an array of numbers or text")
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
        stream.flush()
        yield Path(stream.name)
