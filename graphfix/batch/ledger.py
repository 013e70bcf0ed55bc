"""The rows of a fleet on disk: one JSON line each, so that what was done is never done again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from graphfix.batch.jobs import Row
from graphfix.errors import UsageError

NAME = "rows.jsonl"


class Ledger:
    """A file to which rows are appended; each is on disk before the next job is taken for done.

    A line that is not whole, as a killed process leaves it, counts as never written.
    """

    def __init__(self, path: Path) -> None:
        """Open the ledger at `path`, which is made.

        Raises:
            UsageError: It cannot be written.
        """
        self.path = path
        self._encode = msgspec.json.Encoder().encode
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            if self._file.tell() and not path.read_bytes().endswith(b"\n"):
                self._file.write(b"\n")  # after half a line
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from error

    def rows(self) -> Iterator[Row]:
        """Walk the rows that are there, those that were written last at the end."""
        decode = msgspec.json.Decoder(Row).decode
        with self.path.open("rb") as file:
            for line in file:
                try:
                    yield decode(line)
                except msgspec.MsgspecError:
                    continue

    def add(self, row: Row) -> None:
        """Append a row.

        Raises:
            UsageError: It cannot be written.
        """
        try:
            self._file.write(self._encode(row) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise UsageError(
                f"cannot be written: {error.strerror}",
                where=str(self.path),
                hint="the same command continues after the last row that is whole",
            ) from error

    def close(self) -> None:
        """Close the file; what could not be written is reported by `add`."""
        with contextlib.suppress(OSError):
            self._file.close()
