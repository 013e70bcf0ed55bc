"""A reproducer folder on disk: written whole or not at all, and checked when it is read.

| file | what |
|---|---|
| ``reproducer.json`` | what was run, what was seen, versions, and the hashes of the rest |
| ``model.onnx`` | the model before the pass, reduced |
| ``inputs.json``, ``inputs.npz`` | the smallest inputs found that show a difference |
| ``passes/*.py`` | the pass files that were given |
| ``README.md`` | how to replay it |
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from platform import python_version
from typing import Any, cast

from msgspec import convert
from onnx import ModelProto

from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.storage.reading import read_model
from graphfix.ir.version import __version__
from graphfix.pipeline.faults import Kind
from graphfix.pipeline.reproducers.recipe import Recipe
from graphfix.proving.values.files import read_values, write_values
from graphfix.proving.values.kinds import Feed
from graphfix.report import Certificate, NodeRef

FORMAT = 1
INDEX, MODEL, INPUTS, README, PASSES = (
    *("reproducer.json", "model.onnx", "inputs.json", "README.md"),
    "passes",
)
_VERSIONED = ("onnx", "onnxruntime", "numpy")
_HASHED = (MODEL, INPUTS, "inputs.npz")
_DAMAGED = "is a damaged reproducer"


@dataclass(frozen=True, slots=True)
class Reproducer:
    """What a reproducer folder holds.

    Attributes:
        kind: How the fault shows.
        passes: The passes of the site, the one at fault first.
        node: Where.
        seen: What was said of it.
        certificate: The proof that differs.
        recipe: What to run.
        model: The model before, reduced.
        inputs: The smallest failing inputs that were found; None where there are none.
        pass_files: The pass files that were given.
        versions: What it was seen with.
        whole: Whether the model is the whole one, to be run as it was run.
        anonymous: Whether names and weights were replaced.
        notes: What changed since it was written.
    """

    kind: Kind
    passes: tuple[str, ...]
    node: NodeRef
    seen: str
    recipe: Recipe
    model: ModelProto
    certificate: Certificate | None = None
    inputs: Feed | None = None
    pass_files: tuple[Path, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    whole: bool = False
    anonymous: bool = False
    notes: tuple[str, ...] = ()


def versions() -> dict[str, str]:
    """Return the versions of graphfix, of what it computes with, and of Python."""
    found = {"graphfix": __version__}
    for name in _VERSIONED:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = ""
    return {**found, "python": python_version()}


def write_folder(parent: Path, reproducer: Reproducer) -> Path:
    """Write a reproducer into a new folder below `parent` and return it.

    The folder is named after the pass and its contents, so that the same fault gives the same
    folder; one that is there already is left alone.

    Raises:
        OSError: `parent` cannot be written.
    """
    parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".graphfix-", dir=parent))
    try:
        digest = _fill(made, reproducer)
        stem = f"{reproducer.passes[0] if reproducer.passes else 'run'}-{digest[:8]}"
        return _publish(made, parent, stem)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def write_as(target: Path, reproducer: Reproducer) -> None:
    """Write a reproducer to a folder of the given name.

    Raises:
        UsageError: The folder is there already, or cannot be written.
    """
    check_free(target)
    try:
        made = Path(tempfile.mkdtemp(prefix=".graphfix-", dir=target.parent))
        try:
            _fill(made, reproducer)
            _open_up(made)
            os.rename(made, target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(target)) from error


def check_free(target: Path) -> None:
    """Check that a folder of this name can be made.

    Raises:
        UsageError: There is something of that name, or no folder to put it into.
    """
    if os.path.lexists(target):
        raise UsageError("is there already", where=str(target), hint="give another name")
    if not target.parent.is_dir():
        raise UsageError(
            "the folder does not exist", where=str(target.parent), hint="make it first"
        )


def _publish(made: Path, parent: Path, stem: str) -> Path:
    _open_up(made)
    number = 1
    while True:
        target = parent / (stem if number == 1 else f"{stem}-{number}")
        if _same(made, target):
            return target
        if not os.path.lexists(target):
            try:
                os.rename(made, target)
            except OSError:
                if not os.path.lexists(target):
                    raise
            else:
                return target
        number += 1


def _open_up(made: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    made.chmod(0o777 & ~mask)


def _same(one: Path, other: Path) -> bool:
    if not other.is_dir():
        return False
    names = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    if names != sorted(p.relative_to(other) for p in other.rglob("*") if p.is_file()):
        return False
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def _fill(folder: Path, reproducer: Reproducer) -> str:
    """Write all files; return a hash of them."""
    raw = reproducer.model.SerializeToString(deterministic=True)
    (folder / MODEL).write_bytes(raw)
    if reproducer.inputs is not None:
        write_values(folder / INPUTS, [reproducer.inputs])
    copied: dict[str, str] = {}
    for number, path in enumerate(reproducer.pass_files):
        (folder / PASSES).mkdir(exist_ok=True)
        # The name of a file may tell what no one is to know.
        name = f"pass_{number}.py" if reproducer.anonymous else path.name
        name = f"{number}_{name}" if name in copied else name
        content = path.read_bytes()
        (folder / PASSES / name).write_bytes(content)
        copied[name] = hashlib.sha256(content).hexdigest()
    present = [name for name in _HASHED if (folder / name).exists()]
    index = {
        "format": FORMAT,
        "kind": str(reproducer.kind),
        "passes": list(reproducer.passes),
        "node": asdict(reproducer.node),
        "seen": reproducer.seen,
        "certificate": None if reproducer.certificate is None else asdict(reproducer.certificate),
        "pipeline": reproducer.recipe.as_json(),
        "pass_files": copied,
        "versions": dict(reproducer.versions),
        "whole": reproducer.whole,
        "anonymous": reproducer.anonymous,
        "command": "graphfix replay FOLDER",
        "sha256": {name: _sha256(folder / name) for name in present},
    }
    text = json.dumps(index, indent=1, allow_nan=True)
    (folder / INDEX).write_text(text + "\n", encoding="utf-8")
    (folder / README).write_text(_readme(reproducer, copied), encoding="utf-8")
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
    return hashlib.sha256(text.encode()).hexdigest()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _readme(reproducer: Reproducer, copied: Mapping[str, str]) -> str:
    what = {
        Kind.DIFFERS: "computes something else than what it replaces",
        Kind.RAISES: "fails",
        Kind.RULE: "fails",
        Kind.FAULT: "ends in a fault of graphfix",
    }[reproducer.kind]
    one = "rule" if reproducer.kind is Kind.RULE else "pass"
    who = f"The {one} `{reproducer.passes[0]}`" if reproducer.passes else "The run"
    lines = [
        "# A fault, reduced",
        "",
        f"{who} {what} on `{MODEL}`. What was seen:",
        "",
        f"    {' '.join(reproducer.seen.split())}",
        "",
        "To see it again, with this folder's name for FOLDER:",
        "",
        "    graphfix replay FOLDER",
        "",
        "It ends with 1 while the fault shows and with 0 once it is gone.",
        f"`{INDEX}` has the whole pipeline and the versions.",
    ]
    if copied:
        lines += [
            "",
            f"Replaying runs the code in `{PASSES}/`. Mend it there, or give the mended file with",
            "`--pass-file`. Read it first if the folder is not your own.",
        ]
    return "\n".join(lines) + "\n"


def read_folder(folder: Path) -> Reproducer:
    """Read a reproducer.

    Raises:
        InvalidModel: The folder is no reproducer, is damaged, or was written by a graphfix that
            this one does not understand.
    """
    if not folder.is_dir():
        text = "is not a folder" if os.path.lexists(folder) else "no such folder"
        raise InvalidModel(text, where=str(folder))
    try:
        raw = (folder / INDEX).read_bytes()
    except FileNotFoundError:
        inner = next((each.parent for each in folder.glob(f"*/{INDEX}")), None)
        hint = f"one of its folders is: {inner}" if inner is not None else ""
        text = f"is no reproducer: it has no {INDEX}"
        raise InvalidModel(text, where=str(folder), hint=hint) from None
    except OSError as error:
        raise InvalidModel(f"cannot be read: {error.strerror}", where=str(folder)) from error
    try:
        loaded: object = json.loads(raw)
        if not isinstance(loaded, dict):
            raise TypeError("no object")
        index = cast("dict[str, Any]", loaded)
        _check_version(index, folder)
        return _parsed(index, folder)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidModel(
            f"{_DAMAGED}: {INDEX} does not say what it should ({type(error).__name__})",
            where=str(folder),
        ) from error
    except OSError as error:
        raise InvalidModel(f"{_DAMAGED}: {error.strerror}", where=str(folder)) from error


def _check_version(index: Mapping[str, Any], folder: Path) -> None:
    by = str(index["versions"]["graphfix"])
    if index["format"] != FORMAT:
        raise InvalidModel(
            f"was written in format {index['format']} by graphfix {by}; "
            f"graphfix {__version__} reads format {FORMAT}",
            where=str(folder),
        )
    if _numbers(by) > _numbers(__version__):
        raise InvalidModel(
            f"was written by graphfix {by}, which is newer than this one ({__version__})",
            where=str(folder),
            hint="update graphfix",
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".")[:3] if part.isdigit())


def _parsed(index: Mapping[str, Any], folder: Path) -> Reproducer:
    for name, digest in index["sha256"].items():
        if name not in _HASHED:
            raise ValueError(name)
        path = folder / name
        if not path.is_file():
            raise InvalidModel(f"{_DAMAGED}: {name} is missing", where=str(folder))
        if _sha256(path) != digest:
            raise InvalidModel(f"{_DAMAGED}: {name} is not as it was written", where=str(folder))
    if MODEL not in index["sha256"]:
        raise InvalidModel(f"{_DAMAGED}: {MODEL} is missing", where=str(folder))
    notes: list[str] = []
    files: list[Path] = []
    for name, digest in index["pass_files"].items():
        path = folder / PASSES / Path(name).name
        if not path.is_file():
            raise InvalidModel(f"{_DAMAGED}: {PASSES}/{name} is missing", where=str(folder))
        if _sha256(path) != digest:
            notes.append(f"{PASSES}/{name} was changed since the fault was seen")
        files.append(path)
    certificate = index["certificate"]
    return Reproducer(
        kind=Kind(index["kind"]),
        passes=tuple(str(name) for name in index["passes"]),
        node=convert(index["node"], NodeRef),
        seen=str(index["seen"]),
        recipe=Recipe.read(index["pipeline"]),
        model=read_model(folder / MODEL).proto,
        certificate=None if certificate is None else convert(certificate, Certificate),
        inputs=read_values(folder / INPUTS)[0] if INPUTS in index["sha256"] else None,
        pass_files=tuple(files),
        versions={str(k): str(v) for k, v in index["versions"].items()},
        whole=bool(index["whole"]),
        anonymous=bool(index["anonymous"]),
        notes=tuple(notes),
    )
