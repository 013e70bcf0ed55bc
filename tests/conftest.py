"""What holds for all tests: examples of hypothesis, what collecting leaves, who runs which."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from hypothesis import settings

from graphfix.engines.isolation import STRICT
from graphfix.worker.limits import DEADLINE, ENGINE_MEMORY, ENGINE_SECONDS

settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("thorough", max_examples=200, deadline=None)
settings.load_profile("quick")

os.environ[STRICT] = "1"  # a rule that raises fails the test, in children as well


def pytest_collection_finish() -> None:
    """Take what collecting made out of garbage collection: it lives to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _limits_of_a_command_end_with_it() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Roll back what a command in this process has told children: later tests need time, too."""
    yield
    for name in (DEADLINE, ENGINE_MEMORY, ENGINE_SECONDS):
        os.environ.pop(name, None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker whole files: what a file prepares once is not prepared by two of them."""
    if config.getoption("dist") != "load":  # someone asked for another way
        return None
    return import_module("xdist.scheduler").LoadFileScheduling(config, log)
