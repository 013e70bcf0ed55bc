"""One model for one target: what is to be done, what it is known by, and what became of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from msgspec import Struct, field
from msgspec.structs import replace

from graphfix.ir.storage.reading import MAX_BYTES
from graphfix.ir.version import __version__

SCHEMA = 1
_BLOCKING = ("reject", "wrong", "builder")
_CHUNK = 1 << 20


class Job(Struct, frozen=True):
    """A model, a target, and where the result goes.

    Attributes:
        key: Of content, version, target and options: a row with the same key need not be made
            again.
        name: What the model is called in tables.
        model: Its path, or its URL.
        target: The target.
        output: Where the result is written: a path, or a URL.
        options: Further words of the command line of `graphfix run`.
        caches: Whether proofs are shared with other jobs of the machine, which changes no row.
    """

    key: str
    name: str
    model: str
    target: str
    output: str
    options: tuple[str, ...] = ()
    caches: bool = False


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one job.

    Attributes:
        key: Of the job.
        name: Of the model.
        model: Where it lies.
        target: The target.
        exit: The exit code of `graphfix run`; 3 where its process died or was ended.
        verdict: What the comparison said: ``equal``, ``skipped``, ...; empty where none was made.
        before: How many nodes had each blocking feature.
        left: How many still have it.
        repairs: At how many places each pass was applied.
        places: How many places were changed.
        message: What went wrong, in one line; empty where nothing did.
        output: The file that was written; empty where none was.
        nodes: The nodes of the model, before.
        seconds: Wall time.
    """

    key: str
    name: str
    model: str
    target: str
    exit: int
    verdict: str = ""
    before: dict[str, int] = field(default_factory=dict[str, int])
    left: dict[str, int] = field(default_factory=dict[str, int])
    repairs: dict[str, int] = field(default_factory=dict[str, int])
    places: int = 0
    message: str = ""
    output: str = ""
    nodes: int = 0
    seconds: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether it would end the same way again.

        What could not be written may be another time, and an engine be installed that was not.
        """
        return self.exit != 2

    @property
    def word(self) -> str:
        """What became of it, in a word or two."""
        if self.exit == 0:
            return "fixed" if self.before else "fine"
        known = {1: "left", 2: "usage", 3: "unreadable", 4: "differs", 5: "fault"}
        return known.get(self.exit, f"exit {self.exit}")


def content_of(path: Path) -> str:
    """Return what a model is known by: its bytes, and the age and size of what lies next to it.

    Weights in files of their own are not read, nor files that are too big for a model: their sizes
    and times stand for them.

    Raises:
        OSError: It cannot be read.
    """
    digest = sha256()
    own = path.stat()
    if own.st_size > MAX_BYTES:  # no protobuf is, however many of its bytes are there
        return f"size:{own.st_size}:{own.st_mtime_ns}"
    names_files, end = False, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            names_files = names_files or b"location" in end + chunk
            end = chunk[-len(b"location") :]
    if names_files:
        for adjacent in sorted(path.parent.iterdir()):
            if adjacent.suffix != ".onnx" and adjacent.is_file():
                stat = adjacent.stat()
                digest.update(repr((adjacent.name, stat.st_size, stat.st_mtime_ns)).encode())
    return digest.hexdigest()


def key_of(content: str, target: str, options: Sequence[str]) -> str:
    """Return the key of a job: of content, version of graphfix, target and options."""
    text = json.dumps([SCHEMA, __version__, content, target, list(options)])
    return sha256(text.encode()).hexdigest()[:32]


def row_of(job: Job, code: int, said: str, complaint: str, seconds: float) -> Row:
    """Return what became of a job.

    Args:
        job: The job.
        code: The exit code of its process; negative where a signal ended it.
        said: What it wrote on standard output: the JSON of `graphfix run --json`.
        complaint: What it wrote on standard error.
        seconds: How long it took.
    """
    row = Row(
        key=job.key,
        name=job.name,
        model=job.model,
        target=job.target,
        exit=code if code >= 0 else 3,
        seconds=round(seconds, 2),
    )
    report = _report(said)
    if report is None or "error" in report:
        error: Mapping[str, Any] = (report or {}).get("error", {})
        last = complaint.strip().splitlines()[-1:] or [f"ended by signal {-code}"]
        return replace(row, message=str(error.get("message") or last[0]))
    return _filled(row, report)


def _report(said: str) -> Mapping[str, Any] | None:
    try:
        report = json.loads(said)
    except ValueError:
        return None
    return cast("Mapping[str, Any]", report) if isinstance(report, dict) else None


def _filled(row: Row, report: Mapping[str, Any]) -> Row:
    applied = Counter[str]()
    for outcome in report["outcomes"]:
        if outcome["status"] == "applied":
            applied[outcome["pass"]] += len(outcome["sites"])
    checked: Mapping[str, Any] = report["verification"] or {}
    written: Mapping[str, Any] = report["output"] or {}
    return replace(
        row,
        verdict=str(checked.get("status", "")),
        before=_features(report["findings_before"]),
        left=_features(report["findings_after"]),
        repairs=dict(applied.most_common()),
        places=applied.total(),
        message=str(checked.get("reason", "")) if row.exit else "",
        output=str(written.get("path", "")),
        nodes=int(report["input"]["nodes"]),
    )


def _features(findings: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    blocking = Counter(str(f["feature"]) for f in findings if f["severity"] in _BLOCKING)
    return dict(blocking.most_common())
