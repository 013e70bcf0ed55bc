"""What holds for all tests: how many examples hypothesis draws, and what is kept of collecting."""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("thorough", max_examples=200, deadline=None)
settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """Take what collecting made out of garbage collection: it lives to the end."""
    gc.collect()
    gc.freeze()
