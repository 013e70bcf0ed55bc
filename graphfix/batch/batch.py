"""A fleet of models for several targets: what is done already, what is to be done, the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from graphfix.batch.jobs import Job, Row, content_of, key_of
from graphfix.batch.ledger import NAME, Ledger
from graphfix.batch.sources import Source, filesystem, is_url
from graphfix.errors import UsageError
from graphfix.ir.storage.shared_weights import Shared, share_weights


class Crew(Protocol):
    """Who does jobs."""

    def rows(self, jobs: Iterator[Job]) -> Iterator[Row]:
        """Walk what becomes of jobs."""
        ...


class Request(Struct, frozen=True):
    """What is asked of a fleet.

    Attributes:
        models: The models.
        targets: The targets; each model is done for each of them.
        out: The folder of the results, a path or a URL.
        rows: The folder of the ledger.
        options: Further words of the command line of `graphfix run`.
        fresh: Whether what was done already is done again.
        caches: Whether proofs are shared with other jobs.
    """

    models: tuple[Source, ...]
    targets: tuple[str, ...]
    out: str
    rows: Path
    options: tuple[str, ...] = ()
    fresh: bool = False
    caches: bool = False


class Fleet(Struct, frozen=True):
    """What became of a fleet.

    Attributes:
        rows: Of every model and target, in the order in which they were named.
        targets: The targets.
        made: How many rows were made now; the others were there.
        shared: What became of weights that several results hold; None where that was not asked.
    """

    rows: tuple[Row, ...]
    targets: tuple[str, ...]
    made: int
    shared: Shared | None = None

    @property
    def words(self) -> dict[str, Counter[str]]:
        """How many models became what, by target."""
        counted: dict[str, Counter[str]] = {target: Counter() for target in self.targets}
        for row in self.rows:
            counted[row.target][row.word] += 1
        return counted

    @property
    def cures(self) -> dict[str, Counter[str]]:
        """By target, what alone blocks it, and of how many models."""
        counted: dict[str, Counter[str]] = {target: Counter() for target in self.targets}
        for row in self.rows:
            if len(row.left) == 1:
                counted[row.target].update(row.left.keys())
        return counted


def run_fleet(request: Request, crew: Crew, on_row: Callable[[Row, int, int], None]) -> Fleet:
    """Do what is not done yet, and return the whole.

    Each row is on disk before the next is taken for done, so that a run that is killed continues
    where it was: what had no row is done again, and nothing else is.

    Args:
        request: What is asked.
        crew: Who does it.
        on_row: Is given each row, how many rows there are by now, and how many there will be.

    Raises:
        UsageError: The ledger cannot be written.
    """
    jobs = list(_jobs(request))
    ledger = Ledger(request.rows / NAME)
    try:
        known = {} if request.fresh else {r.key: r for r in ledger.rows() if _still_there(r)}
        missing = {job.key: job for job in jobs if job.key not in known}
        made = 0
        for row in crew.rows(iter(sorted(missing.values(), key=_size, reverse=True))):
            ledger.add(row)
            known[row.key] = row
            made += 1
            on_row(row, len(jobs) - len(missing) + made, len(jobs))
    finally:
        ledger.close()
    rows = tuple(replace(known[j.key], name=j.name, model=j.model) for j in jobs if j.key in known)
    return Fleet(rows, request.targets, made)


def with_shared_weights(fleet: Fleet, out: Path) -> Fleet:
    """Store what several results of a folder hold once, in a data file next to them.

    A model reads its own folder alone, so that those of different ones share nothing.

    Raises:
        UsageError: The results cannot be written.
    """
    folders: dict[Path, list[Path]] = {}
    for row in fleet.rows:
        if row.output and Path(row.output).is_file():
            folders.setdefault(Path(row.output).resolve().parent, []).append(Path(row.output))
    found = [(folder, share_weights(written)) for folder, written in folders.items()]
    names = (folder / name for folder, each in found for name in each.data)
    data = tuple(name.relative_to(out.resolve()).as_posix() for name in names)
    weights = sum(each.weights for _, each in found)
    spared = sum(each.spared for _, each in found)
    return replace(fleet, shared=Shared(data, weights, spared))


def _jobs(request: Request) -> Iterator[Job]:
    for source in request.models:
        content = _content(source)
        for target in request.targets:
            output = f"{request.out.rstrip('/')}/{source.name}.{target}.onnx"
            key = key_of(content, target, (*request.options, output))
            yield Job(
                key, source.name, source.place, target, output, request.options, request.caches
            )


def _content(source: Source) -> str:
    if source.is_url:
        system, path = filesystem(source.place)
        return f"url:{source.place}:{system.ukey(path)}"
    try:
        return content_of(Path(source.place))
    except OSError as error:  # the job says so
        return f"unreadable:{source.place}:{error.errno}"


def _size(job: Job) -> int:
    """Return the bytes of a model: who does the big ones first does not wait for one at the end.

    Those that are not on this machine count as none, and keep their order.
    """
    try:
        return 0 if is_url(job.model) else Path(job.model).stat().st_size
    except OSError:
        return 0


def _still_there(row: Row) -> bool:
    if not row.output:
        return row.settled
    return is_url(row.output) or Path(row.output).is_file()


def versions(targets: Sequence[str]) -> tuple[str, ...]:
    """Return the profiles that names of targets mean, each once.

    Raises:
        UsageError: There is no such target, or none is named.
    """
    from graphfix.engines.targets import load_target

    if not targets:
        raise UsageError("names no target", where="--target", hint="`graphfix targets` lists them")
    return tuple(dict.fromkeys(load_target(name).name for name in targets))
