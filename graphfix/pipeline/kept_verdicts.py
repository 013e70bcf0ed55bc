"""What an engine computed right, kept in the user's cache: the same run asks nothing again.

A file for each result, below the folder of `graphfix.engines.kept_answers`. Its name says of what
model, which options, which graphfix and onnxruntime, which packages of the engine and which machine
it was found. Only what the engine ran rightly, or built, is kept; nothing where the user gives
inputs or numpy models, where weights lie in other files, and of engines whose packages no one can
list. What is damaged counts as not there.
"""

from __future__ import annotations

import contextlib
import os
import platform
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import msgspec

from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.places import packages_of
from graphfix.engines.kept_answers import place_of
from graphfix.engines.profile import Target
from graphfix.ir.storage.saving import write_all, write_atomically
from graphfix.ir.version import __version__
from graphfix.pipeline.settings import Settings
from graphfix.proving.whole.options import InEngine
from graphfix.report import Verdict

_KEPT = (Verdict.EQUAL, Verdict.LOSSY, Verdict.BUILT)
_MOST = 2000
_DIGITS = 24


def was_right(sha256_of_file: str, settings: Settings) -> bool:
    """Say whether an engine was right about a result of a file before, with the same options."""
    known = _of_file(sha256_of_file, settings)
    return known is not None and any(known.parent.glob(f"{known.name}-*.json"))


def place_for(sha256_of_file: str, settings: Settings, *parts: bytes) -> Path | None:
    """Return where the verdict on a result is kept; None where it is not to be.

    Args:
        sha256_of_file: Of the model as it came.
        settings: What was asked for.
        parts: The result, and what else the comparison depends on.
    """
    known = _of_file(sha256_of_file, settings)
    digest = sha256()
    for part in parts:
        digest.update(sha256(part).digest())
    return known and known.with_name(f"{known.name}-{digest.hexdigest()[:_DIGITS]}.json")


def kept_verdict(place: Path | None) -> InEngine | None:
    """Return the verdict that is kept at a place; None where there is none."""
    try:
        found = msgspec.json.decode(place.read_bytes(), type=InEngine) if place else None
    except (OSError, ValueError, RecursionError):
        return None
    if found is None:
        return None
    said = found.verification
    said = replace(said, method=f"{said.method}, in an earlier run with the same result")
    return InEngine(said, found.refused)


def keep_verdict(place: Path | None, said: InEngine) -> None:
    """Keep a verdict, where it is a good one; what cannot be written can be had again."""
    if place is None or said.verification.status not in _KEPT:
        return
    raw = msgspec.json.encode(said)
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        _make_room(place.parent)
        write_atomically(place, lambda descriptor: write_all(descriptor, raw))


def _make_room(folder: Path) -> None:
    """Drop the older half where there are too many."""
    there = list(folder.glob("*.json"))
    if len(there) < _MOST:
        return
    there.sort(key=lambda path: path.stat().st_mtime)
    for path in there[: _MOST // 2]:
        path.unlink(missing_ok=True)


def _of_file(sha256_of_file: str, settings: Settings) -> Path | None:
    target = settings.target
    if target is None or settings.inputs is not None or not sha256_of_file:
        return None
    place, packages = place_of(target), _packages(target)
    if place is None or not packages:
        return None
    said = (
        *(sha256_of_file, target.name, settings.capability, str(settings.seed)),
        *(f"{name}={list(sizes)}" for name, sizes in sorted(settings.shapes.items())),
        *(str(settings.allow_lossy), str(settings.allow_io_change)),
        *(packages, __version__, version("onnxruntime"), platform.machine(), platform.node()),
    )
    return place.with_suffix("") / sha256("\n".join(said).encode()).hexdigest()[:_DIGITS]


def _packages(target: Target) -> str:
    """Return what sets an engine of this machine apart from others; empty where no one knows."""
    engine = engine_of(target.family)
    python = engine.python_for(target.name) if engine.requirements.get(target.name) else None
    if python is None or engine.program is None:
        return ""
    return _listed(python, engine.program, os.path.getmtime(engine.program))


@cache
def _listed(python: Path, program: Path, _: float) -> str:
    names = packages_of(python)
    source = sha256(program.read_bytes()).hexdigest()
    return "\n".join((source, *names)) if names else ""
