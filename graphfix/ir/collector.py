"""Python's collector of cycles, which has nothing to find while thousands of parts are made."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Generator[None]:
    """Let the collector wait, where it is on: what is made meanwhile is held or freed by itself.

    It would look again and again at all parts of a graph that grows, which all stay.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
