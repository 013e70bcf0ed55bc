"""Tests that the work of `check` grows with the nodes of a chain, for every engine family."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile

import pytest
from onnx import ModelProto

from benchmarks.speed.chains import CHAINS
from graphfix.api import check
from graphfix.engines.engine import engines

# Below the 200 nodes that some rules look at at most, so that no such limit hides what grows.
_FEW, _MANY = 90, 180
_MOST = 1.1 * _MANY / _FEW
_NAMES = [engine.names()[-1] for engine in engines() if engine.names()]


def _calls(work: Callable[[], object]) -> int:
    """Count the calls of Python functions, whoever makes them: walkers, rules, views."""
    counting = Profile(subcalls=False, builtins=False)
    counting.runcall(work)
    return sum(entry.callcount for entry in counting.getstats())


def _work(make: Callable[[int], ModelProto], count: int, target: str) -> int:
    model = make(count)
    return _calls(lambda: check(model, target))


@pytest.mark.parametrize("target", _NAMES)
def test_the_work_of_a_check_is_in_proportion_to_the_nodes(target: str) -> None:
    for make in CHAINS.values():
        check(make(12), target)  # what is loaded and looked up once
    grown = {
        name: _work(make, _MANY, target) / _work(make, _FEW, target)
        for name, make in CHAINS.items()
    }
    assert max(grown.values()) < _MOST, grown


def test_a_chain_of_any_length_is_no_fault() -> None:
    """A rule that recursed would be cut off by Python, and be a possible finding of its own."""
    for name in ("ncnn1.0", "tflite1.29"):
        findings = check(CHAINS["Reshape"](1500), name)
        assert not [found for found in findings if found.fault]
