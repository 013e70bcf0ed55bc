"""What holds for all tests: examples of hypothesis, what collecting leaves, who runs which."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from graphfix.engines.kept_answers import FOLDER
from graphfix.engines.rule import STRICT
from graphfix.worker.limits import DEADLINE, ENGINE_MEMORY, ENGINE_SECONDS
from tests.node_tests import keep_node_tests_in

settings.register_profile("quick", max_examples=10, deadline=None)
settings.register_profile("thorough", max_examples=200, deadline=None)
settings.load_profile("quick")

os.environ[STRICT] = "1"  # a rule that raises fails the test, in children as well
os.environ["GRAPHFIX_KEEP_ENGINES"] = "0"  # nothing that a test starts is left
os.environ[FOLDER] = os.path.join(os.devnull, "answers")  # what engines say is kept for no one


_BYTECODE = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep bytecode in pytest's cache where none may be put next to the sources.

    Each of some two hundred interpreters would compile all of graphfix again: 0.8 CPU s. This
    process, and each worker, would write out the asserts of all files of tests again.
    """
    cache: pytest.Cache | None = getattr(config, "cache", None)  # none with -p no:cacheprovider
    if cache is not None:
        keep_node_tests_in(cache.mkdir("node-tests"))
    if cache is None or not sys.dont_write_bytecode or sys.pycache_prefix is not None:
        return
    config.stash[_BYTECODE] = folder = cache.mkdir("bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(folder)
    sys.dont_write_bytecode = False


def pytest_unconfigure(config: pytest.Config) -> None:
    """Drop the bytecode of what tests wrote to folders for temporary files."""
    there = Path(tempfile.gettempdir()).resolve()
    if _BYTECODE in config.stash and there not in config.rootpath.parents:
        shutil.rmtree(config.stash[_BYTECODE] / there.relative_to(there.anchor), ignore_errors=True)


def pytest_collection_finish() -> None:
    """Take what collecting made out of garbage collection: it lives to the end."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logfinish() -> None:
    """Reset what a command in this process has sent to children: later tests need time, too.

    As a fixture it takes 0.07 ms more of each test.
    """
    for name in (DEADLINE, ENGINE_MEMORY, ENGINE_SECONDS):
        os.environ.pop(name, None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker whole files: what a file prepares once is not prepared by two of them."""
    if config.getoption("dist") != "load":  # someone asked for another way
        return None
    return import_module("xdist.scheduler").LoadFileScheduling(config, log)
