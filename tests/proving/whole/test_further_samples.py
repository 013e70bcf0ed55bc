"""What is compared beyond the usual samples: telling sizes and overridden initializers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from onnx import ModelProto, parser

import graphfix
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.values.kinds import Array, Feed, Value
from graphfix.proving.whole.further_samples import Further
from graphfix.proving.whole.ladder import Ladder
from graphfix.report import Verification

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '


def compared(before: str, after: str, folder: Path) -> Verification:
    paths = folder / "before.onnx", folder / "after.onnx"
    for path, text in zip(paths, (before, after), strict=True):
        model: ModelProto = parser.parse_model(HEAD + text)
        path.write_bytes(model.SerializeToString())
    return graphfix.compare(*paths).verification


def of_size(body: str) -> str:
    return (
        "g (float[N, 3] x) => (double[A] y, float[N, 3] z) <int64[1] k = {77}, int64[1] t = {2}, "
        f"int64[1] i = {{0}}> {{ s = Shape (x) n = Gather (s, i) z = Neg (x) {body} }}"
    )


SAME = of_size("y = Cast <to = 11> (n)")


@pytest.mark.parametrize(
    ("body", "size"),
    [
        *(
            (f"a = Cast <to = {to}> (n) y = Cast <to = 11> (a)", size)
            for to, size in ((2, 256), (3, 128), (5, 32768), (4, 65536), (10, 2049))
        ),
        ("a = Min (n, k) y = Cast <to = 11> (a)", 78),
        ("l = Less (k, n) a = Where (l, k, n) y = Cast <to = 11> (a)", 78),
    ],
)
def test_what_differs_beyond_a_size_alone_is_found(body: str, size: int, tmp_path: Path) -> None:
    for one, other in ((SAME, of_size(body)), (of_size(body), SAME)):
        reported = compared(one, other, tmp_path)
        assert reported.status == "mismatch", size


def test_how_often_is_said(tmp_path: Path) -> None:
    body = of_size("a = Cast <to = 2> (n) y = Cast <to = 11> (a)")
    assert "6 with sizes next to what they meet" in compared(body, body, tmp_path).method
    assert "next to" not in compared(SAME, SAME, tmp_path).method


def overridden(body: str, declared: str = "K") -> str:
    return (
        f"g (float[6] x, int64[{declared}] w) => (double[A] y, float[6] z) <int64[2] w = {{2, 3}}, "
        f"int64[1] one = {{1}}> {{ z = Neg (x) {body} }}"
    )


@pytest.mark.parametrize(
    ("one", "other", "declared"),
    [
        ("y = Cast <to = 11> (w)", "c = Constant <value_ints = [2, 3]> () y = Cast <to = 11> (c)",
         "2"),
        ("r = Reshape (x, w) s = Shape (r) k = Shape (s) y = Cast <to = 11> (k)",
         "c = Constant <value_ints = [2]> () y = Cast <to = 11> (c)", "K"),
        ("r = Reshape (x, w) k = Shape (r) y = Cast <to = 11> (k)",
         "c = Constant <value_ints = [2, 3]> () y = Cast <to = 11> (c)", "2"),
        ("k = Size (w) r = Reshape (k, one) y = Cast <to = 11> (r)",
         "c = Constant <value_ints = [2]> () y = Cast <to = 11> (c)", "K"),
    ],
)  # fmt: skip
def test_initializers_are_overridden_in_value_and_shape(
    one: str, other: str, declared: str, tmp_path: Path
) -> None:
    before, after = overridden(one, declared), overridden(other, declared)
    assert compared(before, after, tmp_path).status == "mismatch"
    reported = compared(before, before, tmp_path)
    assert (reported.status, "overridden initializers" in reported.method) == ("equal", True)


def test_a_ladder_ends_before_what_would_take_too_long() -> None:
    ladder, climbed = Ladder(0.3, 1 << 30), list[int]()
    for size, _ in ladder.climb([1 << 16]):
        climbed.append(size)
        sum(range(40 * size * size // 64))  # 4096 takes a second, 512 a sixtieth of it
    assert climbed[:2] == [64, 512]
    assert climbed[-1] < 1 << 16
    assert [size for size, rung in Ladder(1.0, 1 << 30).climb([3, 200]) if not rung] == [3, 200]


def _busy(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@pytest.mark.parametrize(("judging", "last"), [(0.0, 4096), (0.1, 512)])
def test_what_is_asked_besides_counts_for_what_comes_after_rungs(judging: float, last: int) -> None:
    ladder, climbed = Ladder(0.3, 1 << 30), list[int]()
    for size, is_rung in ladder.climb([30, 4096]):
        climbed.append(size)
        _busy(0.004 + size / 4096 / 40)
        ladder.ran()
        _busy(0.0 if is_rung else judging)
    assert climbed == [30, 64, 512, 4096][: 4 if last == 4096 else 3]


class Instant:
    """An engine that takes no time at any size, and so shows nothing of how a run grows."""

    name = "instant"

    def run(self, feed: Feed) -> dict[str, Value]:
        """Return nothing of the inputs."""
        return {"y": np.zeros(1)}


def sizes_tried(body: str, seconds: float) -> list[int]:
    text = (
        "g (float[N, 3] x) => (double[A] y) <int64[1] i = {0}> { s = Shape (x) n = Gather (s, i) "
        f"a = Cast <to = 10> (n) {body} }}"
    )
    model = parser.parse_model(HEAD + text)
    further = Further(model, FeedMaker(model), Instant(), 0, seconds, frozenset({"x"}))
    tried = further.at_telling_sizes([model.graph])
    return [np.shape(cast("Array", feed["x"]))[0] for feed, _ in tried]


def test_sizes_at_which_a_run_surely_takes_too_long_are_not_tried() -> None:
    mask = (
        "k = Constant <value_ints = [8]> () d = Concat <axis = 0> (n, n, k) "
        "m = ConstantOfShape (d) y = ReduceSum (m)"
    )
    row = "m = ConstantOfShape (n) y = ReduceSum (m)"
    both = [2048, 2049, 2050, 4097, 4098, 4099]
    assert sizes_tried(mask, 0.5) == both  # half a GB at least
    assert sizes_tried(mask, 0.1) == both[:3]
    assert sizes_tried(mask, 0.05) == []
    assert sizes_tried(row, 0.1) == both
