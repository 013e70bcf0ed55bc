"""Tests that the work of `check` grows with the nodes of a chain, for every engine family."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from functools import cache, partial

import pytest

from benchmarks.speed.chains import CHAINS
from graphfix.api import check
from graphfix.engines.engine import engines
from graphfix.ir.model import Model
from graphfix.ir.schemas import CLOCK
from graphfix.pipeline.findings import examined, findings_for
from graphfix.pipeline.model_files import load
from graphfix.pipeline.settings import RunOptions, Settings
from graphfix.validity.complaints import Complaint

# Below the 200 nodes that some rules look at at most, so that no such limit hides what grows.
_FEW, _MANY = 90, 180
_MOST = 1.1 * _MANY / _FEW
_NAMES = [engine.names()[-1] for engine in engines() if engine.names()]


def _calls(work: Callable[[], object]) -> int:
    """Count the calls of Python functions, whoever makes them: walkers, rules, views."""
    counting = Profile(subcalls=False, builtins=False)
    counting.runcall(work)
    return sum(entry.callcount for entry in counting.getstats())


def _settings(target: str) -> Settings:
    return RunOptions(target=target).settings()


def _read(name: str, count: int) -> tuple[Model, tuple[Complaint, ...]]:
    model = load(CHAINS[name](count))
    return model, examined(model, _settings(_NAMES[0]))


_read_once = cache(_read)  # what `check` does before it looks at the target, for all of them


def _work(name: str, count: int, target: str) -> int:
    (model, complaints), settings = _read_once(name, count), _settings(target)
    CLOCK.count += 1  # as after an edit: no target profits from what another one asked
    return _calls(lambda: findings_for(model, complaints, settings))


@pytest.mark.parametrize("name", CHAINS)
def test_the_work_of_reading_is_in_proportion_to_the_nodes(name: str) -> None:
    _read(name, 12)  # what is loaded and looked up once
    many, few = (_calls(partial(_read, name, count)) for count in (_MANY, _FEW))
    assert many / few < _MOST


@pytest.mark.parametrize("target", _NAMES)
def test_the_work_of_a_check_is_in_proportion_to_the_nodes(target: str) -> None:
    for make in CHAINS.values():
        check(make(12), target)  # what is loaded and looked up once
    grown = {name: _work(name, _MANY, target) / _work(name, _FEW, target) for name in CHAINS}
    assert max(grown.values()) < _MOST, grown


def test_a_chain_of_any_length_is_no_fault() -> None:
    """A rule that recursed would be cut off by Python, and be a possible finding of its own."""
    for name in ("ncnn1.0", "tflite1.29"):
        findings = check(CHAINS["Reshape"](1500), name)
        assert not [found for found in findings if found.fault]
