"""Time files in OpenVINO, in turns on the same inputs; it needs nothing but openvino and numpy.

    PYTHON turns_in_openvino.py INPUTS.npz FILE ...  # prints a list of microseconds; null: refused

One thread and what OpenVINO does by itself otherwise; the least time of each file, which is
compiled twice, because where its memory lies counts as well.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

_TURNS, _SAMPLE_SECONDS, _MOST_SECONDS = 60, 0.002, 8.0
_HINTS = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}


def prepared(path: str, feed: dict[str, Any]) -> Callable[[], Any] | None:
    """Return a function that runs a file once; None where OpenVINO does not run it."""
    sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
    core: Any = import_module("openvino").Core()
    try:
        compiled = core.compile_model(core.read_model(path), "CPU", _HINTS)
        request = compiled.create_infer_request()
        for port in compiled.inputs:
            name = next(name for name in port.get_names() if name in feed)
            request.set_tensor(port, import_module("openvino").Tensor(feed[name]))
        request.infer()
    except (RuntimeError, StopIteration, TypeError, ValueError):
        return None
    return partial(request.infer)


def least(calls: list[Callable[[], Any] | None]) -> list[float | None]:
    """Return the least microseconds of each, in turns; a short one is called several times."""
    live = {place: call for place, call in enumerate(calls) if call is not None}
    often = {place: max(1, int(_SAMPLE_SECONDS / _seconds(live[place], 3))) for place in live}
    found = dict.fromkeys(live, float("inf"))
    end = time.monotonic() + _MOST_SECONDS
    for turn in range(_TURNS):
        for place, call in live.items():
            found[place] = min(found[place], 1e6 * _seconds(call, often[place]))
        if turn >= 2 and time.monotonic() > end:
            break
    return [found.get(place) for place in range(len(calls))]


def _seconds(call: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def main(words: list[str]) -> None:
    """Run from the command line."""
    with np.load(words[0]) as inputs:
        feed = {name: np.ascontiguousarray(inputs[name]) for name in inputs.files}
    paths = words[1:]
    times = least([prepared(path, feed) for path in (*paths, *paths)])
    pairs = zip(times, times[len(paths) :], strict=False)
    print(json.dumps([None if a is None or b is None else min(a, b) for a, b in pairs]))


if __name__ == "__main__":
    main(sys.argv[1:])
