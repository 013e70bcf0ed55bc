"""Memory that is freed stays with the process, and serves what is asked for next."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec import Struct

from graphfix.worker.heap import FILLINGS, keep_freed_memory, unwritten_memory_filled
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask

_SIZE, _TIMES = 2**22, 20


class Faulted(Struct):
    """How many pages were cleared for arrays that were made one after the other."""

    pages: int
    kept: bool


def allocate(_folder: Path, keep: bool, _limits: Limits) -> Faulted:
    """Fill arrays of 4 MiB, each of which is gone before the next one is made."""
    import resource

    kept = keep_freed_memory() if keep else False
    block = np.ones(_SIZE, np.uint8)  # glibc learns from it which sizes to expect
    del block
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(_TIMES):
        several = [np.ones(_SIZE // 4, np.uint8) for _ in range(16)]
        del several
    return Faulted(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, kept)


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has these settings")
def test_pages_are_cleared_once(tmp_path: Path) -> None:
    task = f"{__name__}:allocate"
    usual, kept = (
        ask(task, tmp_path, keep, Limits(60.0, 2**30), Faulted) for keep in (False, True)
    )
    if not kept.kept:
        pytest.skip("another C library than glibc")
    assert 5 * kept.pages < usual.pages


def test_what_nothing_wrote_holds_a_byte_as_long_as_asked() -> None:
    for byte in FILLINGS:
        with unwritten_memory_filled(byte) as filled:
            if not filled:
                pytest.skip("another C library than glibc")
            assert (np.empty(2**17, np.uint8) == byte).all()
    again = np.empty(2**23, np.uint8)  # cleared by the system, or left as it was
    assert not (again == FILLINGS[0]).all()
    assert not (again == FILLINGS[1]).all()
