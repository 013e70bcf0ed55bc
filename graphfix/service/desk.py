"""The models that are handed in: each in a folder of its own, worked on, and thrown away."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from graphfix.batch.jobs import Job, Row
from graphfix.batch.local_crew import done

MODEL, RESULT, REPORT = "model.onnx", "result.onnx", "report.html"


class Limits(Struct, frozen=True):
    """What a model may take.

    Attributes:
        size: The bytes of a file that is taken.
        seconds: How long it is worked on.
        memory: What the work may take of memory, as ``--max-memory`` reads it.
        kept: For how many seconds a model and its result are there once it is done.
        waiting: How many models may be there.
    """

    size: int = 1 << 29
    seconds: float = 300.0
    memory: str = "4GiB"
    kept: float = 3600.0
    waiting: int = 64


class Piece(Struct):
    """One model that was handed in.

    Attributes:
        key: What it is asked for by; no one can guess it.
        name: The name of the file, as it was sent.
        target: The target.
        folder: Where model, result and report are.
        future: What becomes of it.
        since: When it was handed in, or done, by `time.monotonic`.
    """

    key: str
    name: str
    target: str
    folder: Path
    future: Future[Row] | None = None
    since: float = 0.0

    @property
    def row(self) -> Row | None:
        """What became of it; None while it is worked on."""
        return self.future.result() if self.future is not None and self.future.done() else None


class Desk:
    """Takes models, has them worked on, and removes them: in time, when told to, at the end."""

    def __init__(self, limits: Limits, jobs: int) -> None:
        """Work on `jobs` models at a time."""
        self.limits = limits
        self._root = Path(tempfile.mkdtemp(prefix="graphfix-serve-"))
        self._pool = ThreadPoolExecutor(jobs)
        self._pieces: dict[str, Piece] = {}
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        """Whether no further model is taken now."""
        self.sweep()
        return len(self._pieces) >= self.limits.waiting

    def folder(self) -> Path:
        """Make the folder of a model that is to be handed in."""
        return Path(tempfile.mkdtemp(dir=self._root))

    def take(self, folder: Path, name: str, target: str, options: Sequence[str]) -> Piece:
        """Take the model that lies in `folder`, and begin with it when there is someone free."""
        piece = Piece(secrets.token_urlsafe(18), name, target, folder, since=time.monotonic())
        job = Job(
            piece.key,
            name,
            str(folder / MODEL),
            target,
            str(folder / RESULT),
            (
                *("--timeout", str(self.limits.seconds), "--max-memory", self.limits.memory),
                *("--report", str(folder / REPORT), "--reproducers", str(folder / "faults")),
                *options,
            ),
        )
        with self._lock:
            self._pieces[piece.key] = piece
        piece.future = self._pool.submit(self._done, piece, job)
        return piece

    def _done(self, piece: Piece, job: Job) -> Row:
        row = done(job)
        piece.since = time.monotonic()
        return row

    def get(self, key: str) -> Piece | None:
        """Return a model that was handed in; None where it is not there any more."""
        self.sweep()
        return self._pieces.get(key)

    def remove(self, key: str) -> None:
        """Remove a model with all that was made of it."""
        with self._lock:
            piece = self._pieces.pop(key, None)
        if piece is not None:
            shutil.rmtree(piece.folder, ignore_errors=True)

    def sweep(self) -> None:
        """Remove what has been there for long enough."""
        old = time.monotonic() - self.limits.kept
        for piece in list(self._pieces.values()):
            if piece.row is not None and piece.since < old:
                self.remove(piece.key)

    def close(self) -> None:
        """Remove everything."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        shutil.rmtree(self._root, ignore_errors=True)
