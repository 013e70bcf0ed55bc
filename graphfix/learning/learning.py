"""Learn an engine: ask it, and write a family folder from which its targets are known.

What is in the folder: ``program.py``, which runs models in it, ``answers-VERSION.jsonl``, what it
said, ``profiles/versions.json``, what follows of it, and ``learned.json``, which
`graphfix.engines.learned` reads. It is written at the end, so that an engine that is being asked
for the first time is no target yet; a further run continues after the answers that are there.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from graphfix.engines.engine import ENTRY_POINT_GROUP, HOSTING, PROGRAM, engines
from graphfix.engines.hosting.host import Host
from graphfix.engines.kept_answers import place_of
from graphfix.engines.learned import SAID, LearnedFamily, learned_folder, read_family
from graphfix.engines.measured import profile_table
from graphfix.engines.profile import target_of
from graphfix.engines.versions import PROFILES, unpacked, write_profiles
from graphfix.errors import EngineFailed, UsageError
from graphfix.learning.conclusions import Said, conclusions
from graphfix.learning.interview import interview
from graphfix.learning.limits import Limits, limits_of
from graphfix.learning.questions import entries
from graphfix.learning.record import BudgetSpent, Record
from graphfix.learning.verdicts import Asker

COMMAND_FILE = "command.json"
PLACES = ("{model}", "{inputs}", "{outputs}")
_NAME = re.compile(r"[a-z](?:[a-z0-9_-]*[a-z_])?")
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_FUNCTIONS = ("version", "load")
_SHOWN = 8
_DIGEST = "program.sha256"  # of what gave the answers, while nothing follows of them yet


@dataclass(frozen=True, slots=True)
class Learning:
    """What is to be learned.

    Attributes:
        name: What the family is called.
        program: A file with the functions ``version`` and ``load``; None where it is a command.
        command: The command, in which `PLACES` stand for paths; empty for a program.
        version: The version that a command is of.
        python: The Python that runs the program; None for the one that graphfix runs in.
        minutes: How long to ask.
        seconds: How long an answer may take.
        only: The operators that are asked about; all where there are none.
        fresh: Whether what was answered earlier is dropped.
    """

    name: str
    program: Path | None = None
    command: str = ""
    version: str = "1.0"
    python: Path | None = None
    minutes: float = 30.0
    seconds: float = 30.0
    only: tuple[str, ...] = ()
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned.

    Attributes:
        target: The name of the target.
        title: The engine with its version.
        folder: The family folder.
        asked: How many questions this run asked.
        known: How many had been answered before.
        verdicts: How many answers there are of each kind.
        limits: What it takes of any model.
        said: What it says of operators.
        operators: How many operators it takes, and how many it was asked about.
        finished: Whether all questions were asked.
    """

    target: str
    title: str
    folder: Path
    asked: int
    known: int
    verdicts: Mapping[str, int]
    limits: Limits
    said: Said
    operators: tuple[int, int]
    finished: bool
    ops: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)


def learn(wanted: Learning, say: Callable[[str], None]) -> Learned:
    """Ask an engine, and write what it says as a family of the user's.

    Args:
        wanted: What is to be learned.
        say: Takes a line on what is being done.

    Raises:
        UsageError: The name is taken, the program or the command is none, or the engine computes
            nothing rightly.
        EngineFailed: The engine does not start any more.
    """
    _check_name(wanted.name)
    strange = [op for op in wanted.only if op not in {entry.op for entry in entries()}]
    if strange:
        raise UsageError(f"there is no question about {strange[0]!r}", where="--only")
    source, command = _source_of(wanted)
    folder = learned_folder() / wanted.name
    python = str(wanted.python or sys.executable)
    digest = sha256((source + json.dumps(command)).encode()).hexdigest()
    with tempfile.TemporaryDirectory(prefix="graphfix-") as staged, ExitStack() as stack:
        _write_program(Path(staged), source, command)
        start = partial(
            Host, Path(python), Path(staged, PROGRAM), wanted.name, seconds=wanted.seconds
        )
        asker = Asker(start)
        stack.callback(asker.close)
        version = _version(asker, wanted)
        target = f"{wanted.name}{version}"
        folder.mkdir(parents=True, exist_ok=True)
        if wanted.fresh or _is_of_another(folder, digest):
            _forget(folder)
        (folder / _DIGEST).write_text(digest, encoding="utf-8")
        path = folder / f"answers-{version}.jsonl"
        record = Record(path, asker, time.monotonic() + 60 * wanted.minutes)
        known = len(record.rows)
        if known:
            say(f"{known} questions were answered before")
        found = _limits(record, wanted)
        finished = True
        try:
            interview(record, found, say, wanted.only)
        except BudgetSpent:
            finished = False
    _write_program(folder, source, command)
    said = conclusions(record, found)
    title = f"{wanted.name} {version}"
    table = _profile(wanted.name, version, found, said, len(record.rows))
    tables = _earlier(folder)
    target_of(table, target)  # what cannot be read is written nowhere
    write_profiles(folder, {**tables, target: table})
    family = LearnedFamily(wanted.name, python, version, digest, found.half)
    (folder / SAID).write_bytes(msgspec.json.format(msgspec.json.encode(family)))
    asked_about = {row.op for row in record.rows.values() if row.op}
    taken = sum(bool(table["ops"][op]["supported"]) for op in asked_about if op in table["ops"])
    return Learned(
        target,
        title,
        folder,
        record.asked,
        known,
        Counter(row.verdict for row in record.rows.values()),
        found,
        said,
        (taken, len(asked_about)),
        finished,
        table["ops"],
    )


def _check_name(name: str) -> None:
    """Hold a name to one that no family has, and that a version can come after.

    Raises:
        UsageError: It is not.
    """
    from importlib.metadata import entry_points

    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} must be lower-case letters, digits, - and _, from a letter to a letter",
            where="NAME",
            hint="the version of the engine comes after it in the name of the target",
        )
    taken = {text for engine in engines() for text in (engine.family, *engine.spellings)}
    taken |= {entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)} | {HOSTING}
    if name in taken:
        raise UsageError(f"{name!r} is a family already", where="NAME", hint="choose another name")


def _source_of(wanted: Learning) -> tuple[str, dict[str, Any]]:
    """Return the text of the program, and the command where there is one.

    Raises:
        UsageError: It is none.
    """
    if wanted.program is None:
        if not _NUMBERS.fullmatch(wanted.version):
            raise UsageError(
                f"{wanted.version!r} is no version such as 1.2", where="--engine-version"
            )
        try:
            words = shlex.split(wanted.command)
        except ValueError as error:
            raise UsageError(f"{wanted.command!r}: {error}", where="--command") from None
        missing = [place for place in PLACES if not any(place in word for word in words)]
        if missing:
            raise UsageError(f"{missing[0]} is missing", where="--command")
        if shutil.which(words[0]) is None:
            raise UsageError(f"there is no {words[0]}", where="--command")
        program = Path(__file__).with_name("command_program.py")
        words[0] = str(Path(str(shutil.which(words[0]))).absolute())
        return program.read_text(encoding="utf-8"), {"words": words, "version": wanted.version}
    where = str(wanted.program)
    try:
        source = wanted.program.read_text(encoding="utf-8")
        names = {name for node in ast.parse(source).body for name in _defined(node)}
    except OSError as error:
        raise UsageError(error.strerror or "cannot be read", where=where) from None
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"is no Python: {error}", where=where) from None
    for function in _FUNCTIONS:
        if function not in names:
            raise UsageError(
                f"has no function `{function}`",
                where=where,
                hint="graphfix/engines/README.md says what a program is",
            )
    return source, {}


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [each.asname or each.name for each in node.names]
    if isinstance(node, ast.Assign):
        return [each.id for each in node.targets if isinstance(each, ast.Name)]
    return []


def _write_program(folder: Path, source: str, command: Mapping[str, Any]) -> None:
    (folder / PROGRAM).write_text(source, encoding="utf-8")
    if command:
        (folder / COMMAND_FILE).write_text(json.dumps(command), encoding="utf-8")


def _version(asker: Asker, wanted: Learning) -> str:
    """Return the version of the engine as targets have it: ``1.2``.

    Raises:
        UsageError: The program cannot be started, or says none.
    """
    where = str(wanted.program or "--command")
    try:
        said = asker.host().version()
    except EngineFailed as error:
        raise UsageError(error.message, where=where) from None
    match = _NUMBERS.search(said)
    if match is None:
        raise UsageError(f"{said!r} is no version: it has no number", where=where)
    return match[0]


def _is_of_another(folder: Path, digest: str) -> bool:
    known = folder / _DIGEST
    return known.is_file() and known.read_text(encoding="utf-8") != digest


def _forget(folder: Path) -> None:
    """Drop what another program said: answers, profiles, and what runs asked of it."""
    for path in folder.glob("answers-*.jsonl"):
        path.unlink()
    for name, table in _earlier(folder).items():
        kept = place_of(target_of(table, name))
        if kept is not None:
            kept.unlink(missing_ok=True)
    (folder / PROFILES).unlink(missing_ok=True)
    (folder / SAID).unlink(missing_ok=True)


def _earlier(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the profiles of versions that were learned before."""
    path = folder / PROFILES
    if not path.is_file() or read_family(folder) is None:
        return {}
    store = json.loads(path.read_text(encoding="utf-8"))
    return {name: unpacked(store, name) for name in store["names"]}


def _limits(record: Record, wanted: Learning) -> Limits:
    try:
        found = limits_of(record)
    except BudgetSpent:
        raise UsageError(
            f"{wanted.minutes:g} are too few: it was not seen which opsets the engine takes",
            where="--minutes",
        ) from None
    if isinstance(found, str):
        words = " ".join(found.split())[:300]
        raise UsageError(
            f"the engine computes no plain model rightly; {words}",
            where=str(wanted.program or "--command"),
        )
    return found


def _profile(name: str, version: str, found: Limits, said: Said, count: int) -> dict[str, Any]:
    notes = [f"Learned by `graphfix learn` from {count} questions."]
    if said.unasked:
        shown = ", ".join(said.unasked[:_SHOWN])
        more = f" and {len(said.unasked) - _SHOWN} more" if len(said.unasked) > _SHOWN else ""
        notes.append(f"It was not asked about {shown}{more}.")
    lowest, highest = found.opsets
    more_keys: dict[str, Any] = {"ir_max": found.ir} if found.ir is not None else {}
    return profile_table(
        name,
        version,
        said.rows(highest),
        highest,
        title=f"{name} {version}",
        source="learned: models of one operator each, run in the engine on this machine",
        notes=notes,
        opset={"min": lowest, "max": highest, "rejects_above": found.refuses_newer},
        functions=found.functions,
        static_shapes=found.static,
        contrib=said.contrib,
        **more_keys,
    )
