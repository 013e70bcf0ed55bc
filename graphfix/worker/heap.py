"""How the C library of a child keeps memory between one tensor and the next."""

from __future__ import annotations

import ctypes
import sys

# Of malloc.h: the bytes at the end of the heap from which they go back to the system, and those
# from which one allocation has pages of its own. Of the latter glibc takes no more.
_M_TRIM_THRESHOLD, _KEPT = -1, 2**28
_M_MMAP_THRESHOLD, _ALONE = -3, 2**25


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
    settings = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if settings is None:
        return False
    # 1 stands for success (mallopt(3)); both are set, as either turns off what glibc chooses.
    return bool(settings(_M_TRIM_THRESHOLD, _KEPT) and settings(_M_MMAP_THRESHOLD, _ALONE))
