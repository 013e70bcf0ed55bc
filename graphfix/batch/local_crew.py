"""Doing one job: a process of its own, which takes nothing down with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from time import perf_counter

from msgspec.structs import replace

from graphfix.batch.jobs import Job, Row, row_of
from graphfix.batch.sources import filesystem, is_url
from graphfix.errors import UsageError
from graphfix.ir.storage.user_folders import user_cache

# The command ends with the process that wants its result, also where that one is killed.
_START = """
import sys
from graphfix.worker.parent_death import die_with_parent
die_with_parent(int(sys.argv.pop(1)), 15)
from graphfix.cli import main
sys.exit(main())
"""
GRACE = 30.0  # beyond the time that a command gives itself
_UNLIMITED = 900.0 + 3600.0  # what `graphfix run` gives itself, and one second for each MiB


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def command(job: Job, model: str, output: str) -> list[str]:
    """Return the command line of a job."""
    words = [
        "run",
        model,
        "--target",
        job.target,
        "-o",
        output,
        "--json",
        "--no-settings",
        *job.options,
    ]
    if job.caches:
        words += ["--certificates", str(user_cache() / "certificates")]
    return own_command(words)


def own_command(words: Sequence[str]) -> list[str]:
    """Return the command line that runs graphfix, and ends with this process."""
    return [sys.executable, "-c", _START, str(os.getpid()), *words]


def done(job: Job, started: Callable[[subprocess.Popen[str]], None] | None = None) -> Row:
    """Do a job and say what became of it; whatever its model does, this process continues.

    Args:
        job: The job.
        started: Is given the process, so that it can be ended from elsewhere.
    """
    start = perf_counter()
    try:
        with _fetched(job.model) as model, _sent(job.output) as output:
            words = command(job, model, output)
            code, said, complaint = ended(words, _patience(job), started)
            row = row_of(job, code, said, complaint, perf_counter() - start)
        return replace(row, output=job.output) if row.output else row
    except (OSError, UsageError) as error:
        return row_of(job, 3, "", str(error), perf_counter() - start)


def _patience(job: Job) -> float:
    if "--timeout" in job.options:
        return float(job.options[job.options.index("--timeout") + 1]) + GRACE
    return _UNLIMITED


def ended(
    words: Sequence[str],
    patience: float,
    started: Callable[[subprocess.Popen[str]], None] | None = None,
    *,
    text: str = "",
    folder: str | None = None,
) -> tuple[int, str, str]:
    """Run a command to its end; return its exit code, what it printed, and what it complained of.

    Args:
        words: The command line.
        patience: For how many seconds it is waited for; the exit code is 3 after them.
        started: Is given the process, so that it can be ended from elsewhere.
        text: What it reads from standard input.
        folder: Where it runs; None for where this process does.
    """
    environment: Mapping[str, str] = {**os.environ, "NO_COLOR": "1"}
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE if text else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        cwd=folder,
        start_new_session=True,
    ) as process:
        if started is not None:
            started(process)
        try:
            said, complaint = process.communicate(text or None, timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return 3, "", f"took longer than {patience:g} s"
    return process.returncode, said, complaint


@contextmanager
def _fetched(place: str) -> Generator[str]:
    """Give the path of a model; one at a URL is fetched into a temporary folder."""
    if not is_url(place):
        yield place
        return
    system, path = filesystem(place)
    with tempfile.TemporaryDirectory(prefix="graphfix-batch-") as folder:
        local = Path(folder, Path(path).name)
        system.get_file(path, str(local))
        yield str(local)


@contextmanager
def _sent(place: str) -> Generator[str]:
    """Give a path to write to, the folder of which is there; one for a URL is sent afterwards."""
    if not is_url(place):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        yield place
        return
    system, path = filesystem(place)
    with tempfile.TemporaryDirectory(prefix="graphfix-batch-") as folder:
        local = Path(folder, Path(path).name)
        yield str(local)
        for made in sorted(Path(folder).iterdir()):
            if made.is_file():
                system.makedirs(os.path.dirname(path), exist_ok=True)
                system.put_file(str(made), os.path.join(os.path.dirname(path), made.name))


class LocalCrew:
    """Does jobs side by side on this machine."""

    def __init__(self, count: int) -> None:
        """Do `count` jobs at a time."""
        self._count = count
        self._running: set[subprocess.Popen[str]] = set()
        self._ended = False

    def rows(self, jobs: Iterator[Job]) -> Iterator[Row]:
        """Walk what becomes of jobs, in the order in which they end; few are taken ahead."""
        with ThreadPoolExecutor(self._count) as pool:
            try:
                first = islice(jobs, self._count)
                waiting = {pool.submit(self._done, job) for job in first}
                while waiting:
                    ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for each in ended:
                        following = next(jobs, None)
                        if following is not None:
                            waiting.add(pool.submit(self._done, following))
                        yield each.result()
            finally:
                self.end()

    def end(self) -> None:
        """End what is at work."""
        self._ended = True
        for process in list(self._running):
            process.terminate()

    def _done(self, job: Job) -> Row:
        mine: list[subprocess.Popen[str]] = []

        def started(process: subprocess.Popen[str]) -> None:
            mine.append(process)
            self._running.add(process)
            if self._ended:
                process.terminate()

        try:
            return done(job, started)
        finally:
            self._running.difference_update(mine)
