"""How the C library of a child keeps memory between one tensor and the next."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

# Of malloc.h: the bytes at the end of the heap from which they go back to the system, and those
# from which one allocation has pages of its own. Of the latter glibc takes no more.
_M_TRIM_THRESHOLD, _KEPT = -1, 2**28
_M_MMAP_THRESHOLD, _ALONE = -3, 2**25
_M_PERTURB = -6  # the complement of the byte that fills what is asked for; 0 for none
# One is the complement of the other, with which glibc fills what is freed: whichever of both is
# read, it is another number with the other. Floats of them are 2.6 and -1.7 in float16, 12 and
# -0.37 in float32, and never next to 0 in both.
FILLINGS = (0x41, 0xBE)


def keep_freed_memory() -> bool:
    """Have the C library keep some of what is freed for what is asked for next.

    onnxruntime without its arena asks for each tensor by itself, and glibc gives what is freed
    back to the system, which clears each page again before the next tensor has it: a twentieth to
    a tenth of the work on images of 640 x 640. Gaps take up to a quarter more, as much as
    `graphfix.proving.inputs.room` leaves; an allocation for which there is no other room uses what
    is kept.

    Returns:
        Whether it does so now. C libraries other than glibc have no such settings.
    """
    settings = _settings()
    if settings is None:
        return False
    # 1 stands for success (mallopt(3)); both are set, as either turns off what glibc chooses.
    return bool(settings(_M_TRIM_THRESHOLD, _KEPT) and settings(_M_MMAP_THRESHOLD, _ALONE))


@contextmanager
def unwritten_memory_filled(byte: int) -> Generator[bool]:
    """Have the C library fill what is asked for with a byte, and not leave it as it was.

    Whoever reads what nothing wrote computes something else with each byte. Says whether it is so.
    """
    settings = _settings()
    filled = settings is not None and bool(settings(_M_PERTURB, byte ^ 0xFF))
    try:
        yield filled
    finally:
        if filled and settings is not None:
            settings(_M_PERTURB, 0)


def _settings() -> Callable[[int, int], int] | None:
    if sys.platform != "linux":
        return None
    found: Callable[[int, int], int] | None = getattr(ctypes.CDLL(None), "mallopt", None)
    return found
