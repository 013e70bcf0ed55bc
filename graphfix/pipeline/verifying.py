"""Comparing the whole model before and after, in a child process."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

from msgspec.structs import replace
from onnx import ModelProto

from graphfix.engines.targets import meant_by
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import HEAD, is_text, walk_nodes, walk_tensors
from graphfix.ir.storage.saving import PROTO_LIMIT, data_file, inline_bytes, outline
from graphfix.ir.storage.weights import is_external
from graphfix.pipeline.original import Original
from graphfix.pipeline.settings import Settings
from graphfix.proving.models import compare_files, compare_in_engine, compare_reading
from graphfix.proving.whole.options import ComparisonOptions, InEngine
from graphfix.report import Verdict, Verification
from graphfix.worker.limits import seconds_left

_ENGINE_SAMPLES = 3  # an engine may have to be built for each
_ENGINE_SECONDS = 3600.0
# For a comparison, and the part of what --timeout leaves where that is more.
_SECONDS, _PART = 300.0, 0.4


def verify(
    before: Original,
    after: Model,
    settings: Settings,
    *,
    lossy: bool,
    approximate: bool = False,
    prepared: ModelProto | None = None,
) -> Verification:
    """Compare two models on the same inputs.

    Args:
        before: The model as it came.
        after: The result.
        settings: Inputs, shapes and seed of the run.
        lossy: Whether a lossy site was applied by consent.
        approximate: Whether a site claims a domain of its own, such as inputs with elements.
        prepared: What to run for the model as it came, where order and imports had to be mended.
    """
    if settings.verify == "off":
        return Verification(Verdict.OFF, "verification was switched off")
    if settings.verify == "sites":
        return Verification(Verdict.SKIPPED, "only the sites were compared (--verify sites)")
    options = comparison_options(before, settings, lossy=lossy)
    if approximate:
        options = replace(options, edges=(1,))
    with _on_disk_both(before, after, prepared) as (old, new):
        return compare_files(old, new, options)


def verify_reading(before: Original, read: ModelProto, settings: Settings) -> Verification:
    """Compare a file as it was read with what its operators give, one by one, as it came.

    Args:
        before: The model as it came.
        read: The same as it was read.
        settings: Inputs, shapes and seed of the run.
    """
    if settings.verify == "off":
        return Verification(Verdict.OFF, "verification was switched off")
    options = comparison_options(before, settings, lossy=False)
    with original_on_disk(before) as old, on_disk(read, before.base_dir) as new:
        return compare_reading(new, old, options)


def verify_in_engine(
    before: Original,
    after: Model,
    settings: Settings,
    *,
    lossy: bool,
    prepared: ModelProto | None = None,
) -> InEngine:
    """Compare the original with what the target's engine on this machine makes of the result.

    Args:
        before: The model as it came.
        after: The result.
        settings: Target, inputs, shapes and seed of the run.
        lossy: Whether a lossy site was applied by consent.
        prepared: What to run for the model as it came, where order and imports had to be mended.
    """
    from graphfix.pipeline.kept_verdicts import keep_verdict, kept_verdict

    target = settings.target
    assert target is not None, "check_engine has been asked"
    options = replace(
        comparison_options(before, settings, lossy=lossy),
        samples=_ENGINE_SAMPLES,
        timeout=_ENGINE_SECONDS if settings.verify == "engine" else _SECONDS,
    )
    meant = meant_by(target, settings.capability, settings.standing)
    with _on_disk_both(before, after, prepared) as (old, new):
        place = _place_of_verdict(before, new, prepared, settings, lossy=lossy)
        said = kept_verdict(place)
        if said is None:
            said = compare_in_engine(old, new, options, target.family, meant)
            keep_verdict(place, said)
        return said


def _place_of_verdict(
    before: Original,
    result: Path,
    prepared: ModelProto | None,
    settings: Settings,
    *,
    lossy: bool,
) -> Path | None:
    """Return where what an engine says of a result is kept; None where that is not for long."""
    from graphfix.pipeline.kept_verdicts import place_for

    made_up = any((n.domain, n.op_type) in before.evaluators for n in walk_nodes(before.proto))
    if made_up or any(is_external(t) for t in walk_tensors(before.proto)):
        return None
    ready = b"" if prepared is None else prepared.SerializeToString()
    parts = result.read_bytes(), ready, str(lossy).encode()
    return place_for(before.facts.sha256, settings, *parts)


def comparison_options(before: Original, settings: Settings, *, lossy: bool) -> ComparisonOptions:
    left = seconds_left()
    return ComparisonOptions(
        timeout=max(_SECONDS, _PART * left) if left < float("inf") else _SECONDS,
        inputs=settings.inputs,
        seed=settings.seed,
        lossy=lossy,
        evaluators=before.evaluators,
        bindings=settings.shapes,
    )


@contextlib.contextmanager
def _on_disk_both(
    before: Original, after: Model, prepared: ModelProto | None
) -> Generator[tuple[Path, Path]]:
    with (
        original_on_disk(before, prepared) as old,
        on_disk(after.to_proto(), after.base_dir, spent=True) as new,
    ):
        yield old, new


@contextlib.contextmanager
def original_on_disk(before: Original, prepared: ModelProto | None = None) -> Generator[Path]:
    """Give the model as it came as a file: its own where that is still the same.

    Args:
        before: The model as it came.
        prepared: What stands for it, where order and imports had to be mended.
    """
    if prepared is None:
        with as_it_came(before.proto, before.path, before.facts.sha256, before.base_dir) as path:
            yield path
        return
    with on_disk(prepared, before.base_dir) as path:
        yield path


@contextlib.contextmanager
def as_it_came(proto: ModelProto, path: Path | None, sha256: str, base_dir: str) -> Generator[Path]:
    """Give a model that nothing has touched as a file: its own where that is still the same.

    A model that came as a text is written in the binary form, which engines read.

    Args:
        proto: The model.
        path: The file that it was read from; None for none.
        sha256: Of that file.
        base_dir: Where its external data lies.
    """
    if path is not None and _still_there(path, sha256):
        yield path
        return
    with on_disk(proto, base_dir) as written:
        yield written


def _still_there(path: Path, sha256: str) -> bool:
    """Say whether a file holds what was read from it; it may have been overwritten since."""
    try:
        with path.open("rb") as stream:
            if is_text(stream.read(HEAD)):
                return False
            stream.seek(0)
            return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
    except OSError:
        return False


@contextlib.contextmanager
def on_disk(proto: ModelProto, base_dir: str, *, spent: bool = False) -> Generator[Path]:
    """Give the model as a file from which its external data can be reached.

    Args:
        proto: The model.
        base_dir: Where its external data lies.
        spent: No one needs the proto any more.

    Raises:
        UsageError: There is no room for it.
    """
    external = any(is_external(t) for t in walk_tensors(proto))
    # Engines look for external data next to the file and refuse links that lead elsewhere.
    folder = base_dir if external and os.access(base_dir, os.W_OK) else None
    descriptor, name = tempfile.mkstemp(prefix=".graphfix-", suffix=".onnx", dir=folder)
    os.close(descriptor)
    path = Path(name)
    try:
        _write(proto, path, spent=spent)
        del proto  # what is big is held by whoever runs the file
        yield path
    finally:
        for file in (path, data_file(path)):
            file.unlink(missing_ok=True)


def _write(proto: ModelProto, path: Path, *, spent: bool) -> None:
    try:
        if inline_bytes(proto) > PROTO_LIMIT:  # one message cannot hold that
            if not spent:
                whole, proto = proto, ModelProto()
                proto.CopyFrom(whole)
            outline(proto, path)
        path.write_bytes(proto.SerializeToString())
    except OSError as error:
        raise UsageError(
            f"the model cannot be written here to be compared: {error.strerror}",
            where=str(path.parent),
        ) from error
