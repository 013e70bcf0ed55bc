"""Keep the values of many samples: what is too much for memory lies in files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from graphfix.proving.values.kinds import Array, Feed, Value

# The bytes that stay in memory, and those of a tensor that is not worth a file.
IN_MEMORY = 2**27
_SMALL = 2**16


class Shelf:
    """Holds values; those of big tensors are mapped from files once there are many."""

    def __init__(self, folder: Path | None, in_memory: int = IN_MEMORY) -> None:
        """Keep files in a folder, where there is one, past so many bytes in memory."""
        self._folder = folder
        self._free = in_memory

    def put(self, values: Feed) -> Feed:
        """Return the same values, to be kept in the place of these."""
        return {name: self._put(value) for name, value in values.items()}

    def _put(self, value: Value) -> Value:
        if isinstance(value, list):
            return [self._put(item) for item in value]
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            return value
        self._free -= value.nbytes
        if self._free >= 0 or value.nbytes < max(_SMALL, 1) or self._folder is None:
            return value
        return _mapped(value, self._folder)


def _mapped(array: Array, folder: Path) -> Array:
    """Write an array to a new file and map it; where that is not possible, return the array."""
    try:
        descriptor, path = tempfile.mkstemp(prefix="value-", suffix=".bin", dir=folder)
        with open(descriptor, "wb") as stream:
            stream.write(np.ascontiguousarray(array).data)
        return np.memmap(path, dtype=array.dtype, mode="r", shape=array.shape)
    except OSError:
        return array
