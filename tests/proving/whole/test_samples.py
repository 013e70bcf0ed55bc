"""Which sizes are tried where a model runs with none of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from graphfix.errors import EngineFailed
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.sizes import FREE_PATTERNS
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.whole.samples import Samples

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> g (float[A, B, C] x) => (float[A, B, C] y) '
    "{ y = Neg (x) }"
)


class _Refusing:
    """An engine that runs nothing until it was asked so many times."""

    name = "refusing"

    def __init__(self, until: int) -> None:
        self.asked = 0
        self.until = until

    def run(self, feed: Feed) -> dict[str, Value]:
        self.asked += 1
        if self.asked <= self.until:
            raise EngineFailed("other sizes, please")
        return {"y": feed["x"]}


def test_all_sizes_are_tried_twice_and_then_those_that_change() -> None:
    maker, engine = FeedMaker(MODEL), _Refusing(10**6)
    samples = Samples(MODEL, engine, maker, None, 60.0)
    counts: list[int] = []
    for number in range(4):
        before = engine.asked
        assert samples.next(number) is None
        counts.append(engine.asked - before)
    assert counts == [maker.attempts(), maker.attempts(), FREE_PATTERNS + 1, FREE_PATTERNS + 1]


def test_what_runs_late_is_still_found() -> None:
    maker = FeedMaker(MODEL)
    engine = _Refusing(2 * maker.attempts() + 2)
    samples = Samples(MODEL, engine, maker, None, 60.0)
    assert [samples.next(number) is None for number in range(3)] == [True, True, False]
    assert samples.ran_first == 2


class _Forgetful:
    """An engine that leaves what was in its memory where the first size is not 4."""

    name = "forgetful"

    def __init__(self) -> None:
        self.last: Value = None

    def run(self, feed: Feed) -> dict[str, Value]:
        x, left = feed["x"], self.last
        self.last = x
        assert isinstance(x, np.ndarray)
        if x.shape[0] == 4 or not isinstance(left, np.ndarray) or left.shape != x.shape:
            return {"y": x}
        return {"y": left}


@pytest.mark.parametrize("repeating", [True, False])
def test_sizes_that_are_not_meant_are_passed_over(repeating: bool) -> None:
    maker = FeedMaker(MODEL)
    samples = Samples(MODEL, _Forgetful(), maker, None, 60.0, repeating=repeating)
    drawn = samples.next(0)
    assert drawn is not None
    x = drawn[0]["x"]
    assert isinstance(x, np.ndarray)
    assert (x.shape[0] == 4) == repeating
    assert (samples.ran_first == 0) == (not repeating)


def test_refused_sizes_are_not_drawn_again() -> None:
    samples = Samples(MODEL, _Refusing(0), FeedMaker(MODEL), None, 60.0)
    assert samples.next(0) is not None
    assert samples.ran_first == 0
    samples.refuse_last()
    assert samples.ran_first is None
    assert samples.next(0) is not None
    assert samples.ran_first == 1
