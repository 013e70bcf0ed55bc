"""Importing numerical libraries without the threads that some start at once."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

_COUNTS = (
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


@contextmanager
def single_threaded() -> Generator[None]:
    """Let what is imported meanwhile start no threads of its own.

    OpenBLAS makes one for each processor when numpy is imported: they spin for a tenth of a
    second, and a process that has them cannot be forked safely. Numbers of the user are.
    """
    added = [name for name in _COUNTS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
