"""OpenVINO on the CPU, in the process of `graphfix.engines.hosting.serve`.

It is self-contained: Python 3.8 or newer, numpy and openvino 2023.0 or newer.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

# It would tell its makers of each model, from a process that outlives this one.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]
try:
    ov: Any = import_module("openvino.runtime")  # the only name before 2023.1; gone in 2026
except ImportError:
    ov = import_module("openvino")

if TYPE_CHECKING:
    from collections.abc import Callable

# What it computes floats in is a matter of the processor otherwise (bfloat16 on newer ones), and
# next to weights of 8 bits and fewer it rounds activations to 8 bits, in groups of 32.
_EXACTLY = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}


def version() -> str:
    """Return the version, ``2024.0.0-14509-...``."""
    return str(ov.get_version())


def load(
    path: str, shapes: dict[str, list[int]]
) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
    """Return a function that runs a model; see `graphfix.engines.hosting.serve`."""
    core = ov.Core()
    model = _staged("read", core.read_model, path)
    compiled = _staged("compile", core.compile_model, model, "CPU", _EXACTLY)

    def run(feed: dict[str, np.ndarray]) -> list[np.ndarray]:
        results = compiled(_in_order(compiled.inputs, feed))
        return [np.array(results[port]) for port in compiled.outputs]

    return run


def _in_order(ports: list[Any], feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Return the inputs in the engine's order.

    An input that is an output as well has the name of that alone; such ones are in the order of
    the graph.
    """
    names = [next((name for name in port.get_names() if name in feed), None) for port in ports]
    rest = [name for name in feed if name not in names]
    return [feed[rest.pop(0) if name is None else name] for name in names]


def _staged(stage: str, function: Any, *given: Any) -> Any:
    try:
        return function(*given)
    except Exception as error:
        error.stage = stage  # type: ignore[attr-defined]
        raise
