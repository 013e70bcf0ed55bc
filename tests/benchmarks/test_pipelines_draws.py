"""Sizes at which a network computes something else each time are no sizes of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from onnx import parser

from benchmarks.pipelines import draws, judging


class _Session:
    """A session that repeats what it computes at some lengths alone, and runs at some alone."""

    def __init__(self, runs: tuple[int, ...], repeats: tuple[int, ...]) -> None:
        self.runs, self.repeated = runs, repeats
        self.count = 0

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name="x", type="tensor(float)", shape=["batch", "sequence"])]

    def run(self, names: None, feed: dict[str, Any]) -> list[Any]:
        x = feed["x"]
        if x.shape[1] not in self.runs:
            raise ValueError(f"no length of {x.shape[1]}")
        self.count += 1
        return [x if x.shape[1] in self.repeated else x + self.count]


@pytest.mark.parametrize(
    ("runs", "repeats", "expected"),
    [
        ((6, 16, 64), (6, 16, 64), (2, 6, 4, 32, 4)),
        ((16, 64), (64,), (2, 64, 1, 160, 2)),
        ((16, 64), (), (1, 16, 16, 64, 1)),
    ],
)
def test_the_first_sizes_that_are_repeated(
    runs: tuple[int, ...], repeats: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert draws.running_sizes(_Session(runs, repeats)) == expected


def test_what_runs_at_no_size_says_why_at_the_first() -> None:
    with pytest.raises(ValueError, match="no length of 6"):
        draws.running_sizes(_Session((), ()))


def test_outputs_are_alike_by_what_they_hold() -> None:
    nan = np.array([np.nan, 1], np.float32)
    assert draws.alike([nan, [{"a": 1.0}]], [nan.copy(), [{"a": 1.0}]])
    assert not draws.alike([nan, [{"a": 1.0}]], [nan, [{"a": 2.0}]])
    assert not draws.alike([nan, [{"a": 1.0}]], [nan, [{"b": 1.0}]])
    assert not draws.alike([nan], [nan, nan])


PATCHES = (
    '<ir_version: 8, opset_import: ["" : 17]> g (float[batch, sequence] x) => (float[batch, n] y) '
    "<int64[1] a = {0}, int64[1] b = {32}, int64[1] c = {64}, int64[1] one = {1}> { "
    "p = Slice (x, a, b, one) q = Slice (x, b, c, one) y = %s }"
)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("Concat <axis = 0> (p, q)", (2, 64, 1, 160, 2)),  # of equal length from 64 on alone
        ("Concat <axis = 1> (p, q)", (2, 6, 4, 32, 4)),
        ("Concat <axis = 9> (p, q)", (2, 6, 4, 32, 4)),  # refused at any size: nothing is known
    ],
)
def test_sizes_without_a_meaning_are_none(last: str, expected: tuple[int, ...]) -> None:
    model = parser.parse_model(PATCHES % last)
    every = _Session((6, 16, 8, 64), (6, 16, 8, 64))
    fits = judging.fitting(model.SerializeToString(), every.get_inputs())
    assert draws.running_sizes(every, fits) == expected
