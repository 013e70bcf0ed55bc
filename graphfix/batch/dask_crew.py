"""Jobs on the workers of a Dask scheduler: more than one machine."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from graphfix.batch.jobs import Job, Row, row_of
from graphfix.batch.local_crew import done
from graphfix.errors import UsageError

_AHEAD = 4  # jobs for each thread of a worker: none waits, and few are lost with one
_RETRIES = 3
HINT = 'pip install "graphfix[dask]"'


class DaskCrew:
    """Does jobs on the workers of a scheduler; a job whose worker dies is done by another."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler at `address`, such as ``tcp://10.0.0.1:8786``.

        Raises:
            UsageError: Dask is not installed, or no one answers.
        """
        try:
            client: Any = import_module("distributed").Client
        except ImportError as error:
            raise UsageError(
                "Dask distributed is not installed", where="--scheduler", hint=HINT
            ) from error
        try:
            self._client: Any = client(address, timeout="10s")
        except (OSError, ValueError, TimeoutError) as error:
            raise UsageError("no scheduler answers there", where=address) from error

    def rows(self, jobs: Iterator[Job]) -> Iterator[Row]:
        """Walk what becomes of jobs, in the order in which they end."""
        as_completed = import_module("distributed").as_completed
        by_key: dict[str, Job] = {}
        try:
            first = [self._submit(job, by_key) for job in islice(jobs, self._room())]
            if not first:
                return
            waiting: Any = as_completed(first)
            for future in waiting:
                following = next(jobs, None)
                if following is not None:
                    waiting.add(self._submit(following, by_key))
                yield self._row(future, by_key.pop(future.key))
        finally:
            self._client.close()

    def _room(self) -> int:
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return _AHEAD * max(1, sum(int(worker["nthreads"]) for worker in workers))

    def _submit(self, job: Job, by_key: dict[str, Job]) -> Any:
        by_key[job.key] = job
        return self._client.submit(done, job, key=job.key, pure=False, retries=_RETRIES)

    def _row(self, future: Any, job: Job) -> Row:
        error = future.exception()
        if error is None:
            row: Row = future.result()
            return row
        return row_of(job, 3, "", f"its worker died: {type(error).__name__}: {error}", 0.0)
