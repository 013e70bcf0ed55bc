"""A data file of a run: big constants that passes make wait there until the model is saved.

It lies next to the data of the model itself, since engines read external data from the folder of
the model alone, and is gone as soon as nothing refers to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import weakref
from pathlib import Path

from onnx import TensorProto

PREFIX, SUFFIX = ".graphfix-", ".weights"
# What is smaller is kept in memory.
LEAST = 1 << 20
# Offsets of data that engines map from its file: pages.
PAGE = 4096


def is_aside(location: str) -> bool:
    """Say whether external data is in the file of a run."""
    return location.startswith(PREFIX) and location.endswith(SUFFIX)


class Aside:
    """The file; equal values are written once."""

    def __init__(self, folder: str) -> None:
        """Make an empty one.

        Raises:
            OSError: The folder cannot be written.
        """
        descriptor, name = tempfile.mkstemp(prefix=PREFIX, suffix=SUFFIX, dir=folder or ".")
        os.close(descriptor)
        self._path = Path(name)
        self._known: dict[bytes, int] = {}
        self._end = 0
        weakref.finalize(self, _remove, self._path)

    def put(self, proto: TensorProto) -> TensorProto:
        """Write the values of a tensor; return one that refers to them.

        Raises:
            OSError: They cannot be written.
        """
        made = TensorProto(name=proto.name, data_type=proto.data_type, dims=proto.dims)
        return self.write(made, memoryview(proto.raw_data))

    def write(self, made: TensorProto, raw: memoryview) -> TensorProto:
        """Let a tensor refer to bytes, which are written where no tensor before it has them.

        Raises:
            OSError: They cannot be written.
        """
        key = hashlib.blake2b(raw, digest_size=20).digest()
        offset = self._known.get(key)
        if offset is None:
            offset = -(-self._end // PAGE) * PAGE
            with self._path.open("r+b") as stream:
                stream.seek(offset)
                stream.write(raw)
            self._known[key] = offset
            self._end = offset + raw.nbytes
        refer(made, self._path.name, offset, raw.nbytes)
        return made


def refer(tensor: TensorProto, location: str, offset: int, length: int) -> None:
    """Let the values of a tensor be a part of a file."""
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
