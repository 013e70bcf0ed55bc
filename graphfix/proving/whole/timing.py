"""How long onnxruntime takes for two models, in turns on one input."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import onnx
from msgspec import Struct

from graphfix.errors import EngineFailed
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.worker.limits import Limits
from graphfix.worker.sessions import open_session

TASK = "graphfix.proving.whole.timing:time_both"
_DRAWS = 4
_TURNS, _SAMPLE_SECONDS, _MOST_SECONDS = 80, 0.0006, 12.0


class TimingRequest(Struct, frozen=True):
    """Two files to be timed, and what their inputs are drawn with."""

    paths: tuple[Path, Path]
    seed: int = 0
    bindings: dict[str, tuple[int, ...]] = {}


class Times(Struct, frozen=True):
    """The median microseconds of a call of each."""

    before: float
    after: float


def time_both(folder: Path, request: TimingRequest, limits: Limits) -> Times:
    """Time two files, see `samples_of`."""
    before, after = samples_of(request)
    return Times(median(before), median(after))


def samples_of(request: TimingRequest) -> list[list[float]]:
    """Return the microseconds of calls of each of two files, with one thread and as optimized.

    Raises:
        EngineFailed: One does not load, or runs on no input that is drawn.
    """
    try:
        sessions = [
            open_session(path.read_bytes(), optimised=True, folder=str(path.parent))
            for path in request.paths
        ]
    except Exception as error:  # onnxruntime's exceptions have no common base
        raise EngineFailed(_line(error)) from None
    model = onnx.ModelProto.FromString(request.paths[0].read_bytes())
    maker = FeedMaker(model, request.seed, request.bindings)
    failed = ""
    for attempt in range(_DRAWS):
        feed = maker.draw(0, attempt)
        calls: list[Callable[[], Any]] = [partial(each.run, None, feed) for each in sessions]
        try:
            for call in calls:
                call()
        except Exception as error:  # as above
            failed = _line(error)
        else:
            return _in_turns(calls)
    raise EngineFailed(failed)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _in_turns(calls: Sequence[Callable[[], Any]]) -> list[list[float]]:
    """Return samples of each call; one of what is short has several calls."""
    repeats = [max(1, int(_SAMPLE_SECONDS / _seconds(call, 1))) for call in calls]
    found: list[list[float]] = [[] for _ in calls]
    end = time.monotonic() + _MOST_SECONDS
    for turn in range(_TURNS):
        for own, call, often in zip(found, calls, repeats, strict=True):
            own.append(1e6 * _seconds(call, often) / often)
        if turn >= 2 and time.monotonic() > end:
            break
    return found


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - start
