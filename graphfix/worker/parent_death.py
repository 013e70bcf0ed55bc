"""Ending with the process that started this one, also where that one is killed."""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(parent: int, number: int | None = None) -> None:
    """Have the system kill this process when its parent's thread ends; Linux only.

    Args:
        parent: The number of the parent, which may be gone by now.
        number: The signal that ends it; SIGKILL, which not every system has, where none is given.
    """
    if sys.platform == "linux":
        import ctypes

        ending = signal.SIGKILL if number is None else number
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, ending, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
