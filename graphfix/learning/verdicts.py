"""What becomes of a model in an engine: taken and equal, wrong, refused, or a death.

What is right is given: what onnxruntime computes. That the machine lacks memory or time says
nothing of a model, and is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx

from graphfix.engines.hosting.host import Host, Refused
from graphfix.engines.hosting.runner import HostedRunner
from graphfix.errors import EngineFailed, NoDevice, NoEngine
from graphfix.worker.messages import is_out_of_memory
from graphfix.worker.service import OutOfTime

Array: TypeAlias = np.ndarray[Any, Any]

EQUAL, WRONG, REFUSED, CRASHED = "equal", "wrong", "refused", "crashed"
TAKEN = "taken"  # and there is nothing here to run it on
UNANSWERED = "unanswered"
FAILED = (REFUSED, CRASHED)
_WORDS = 600
_RELATIVE, _ABSOLUTE, _FLOOR = 1e-3, 1e-4, 1e-6
_HALF = 1e-2


class Asker:
    """An engine in a process, which is started again where a model has killed it."""

    def __init__(
        self, start: Callable[[], Host], *, static: bool = False, half: bool = False
    ) -> None:
        """Remember how the engine is started.

        Args:
            start: Returns a process of it.
            static: Whether it wants to know all sizes when it loads a model.
            half: Whether it computes in float16.
        """
        self._start = start
        self._static = static
        self.half = half
        self._host: Host | None = None

    def verdict(
        self, path: Path, given: Mapping[str, Array], expected: Mapping[str, Array]
    ) -> tuple[str, str]:
        """Return what becomes of a model that ran once before, and the engine's words.

        A process that other models ran in before may have had its memory spoilt by them, and other
        numbers may do that too, so what ends it is asked for once more, in a new one.

        Args:
            path: The model.
            given: Its inputs.
            expected: What it computes.

        Raises:
            NoEngine: The engine does not start.
        """
        verdict, words = self._asked(path, given, expected, again=True)
        if verdict == CRASHED:
            return self._asked(path, given, expected, again=False)
        return verdict, words

    def _asked(
        self,
        path: Path,
        given: Mapping[str, Array],
        expected: Mapping[str, Array],
        *,
        again: bool,
    ) -> tuple[str, str]:
        host = self.host()
        model = onnx.ModelProto.FromString(path.read_bytes())
        try:
            runner = HostedRunner(host, model, path, parts=2, static=self._static)
            found = runner.run_again(given) if again else runner.run(given)
        except NoEngine:
            raise
        except NoDevice as none:
            return TAKEN, none.message[:_WORDS]
        except Refused as refused:
            return self._no(REFUSED, refused)
        except EngineFailed as failed:
            return self._no(REFUSED if host.alive else CRASHED, failed)
        narrow = any(each.i == onnx.TensorProto.BFLOAT16 for each in _types_of_casts(model))
        half = self.half or narrow
        said = {name: difference(expected[name], found[name], half=half) for name in expected}
        wrong = {name: text for name, text in said.items() if text}
        if not wrong:
            return EQUAL, ""
        return WRONG, "; ".join(f"{name}: {text}" for name, text in wrong.items())[:_WORDS]

    def _no(self, verdict: str, failed: EngineFailed) -> tuple[str, str]:
        lacking = isinstance(failed, OutOfTime) or is_out_of_memory(failed.message)
        return (UNANSWERED if lacking else verdict), failed.message[:_WORDS]

    def host(self) -> Host:
        """Return the process, started where there is none.

        Raises:
            NoEngine: It does not start.
        """
        if self._host is None or not self._host.alive:
            self.close()
            self._host = self._start()
        return self._host

    @property
    def host_is_alive(self) -> bool:
        """Whether the process has outlived the last model."""
        return self._host is not None and self._host.alive

    def close(self) -> None:
        """End the process of the engine."""
        if self._host is not None:
            self._host.close()
        self._host = None


def _types_of_casts(model: onnx.ModelProto) -> list[onnx.AttributeProto]:
    nodes = (node for node in model.graph.node if node.op_type == "Cast")
    return [each for node in nodes for each in node.attribute if each.name == "to"]


def difference(expected: Array, found: Array, *, half: bool = False) -> str:
    """Say how an output differs; empty where it is right.

    Floats may differ by 1e-3 of each and 1e-4 of the largest, or 1e-2 of each for 16 bits.

    Args:
        expected: What is right.
        found: What an engine computes.
        half: Whether it computes in float16.
    """
    if found.shape != expected.shape:
        return f"shape {list(expected.shape)} -> {list(found.shape)}"
    if expected.dtype.kind in "OUS":
        same = expected.astype(str) == found.astype(str)
        return "" if np.all(same) else "other text"
    if expected.dtype.kind not in "fc":
        count = int(np.count_nonzero(expected != found))
        return f"{count} of {expected.size} numbers differ" if count else ""
    one, two = expected.astype(np.float64), np.asarray(found).astype(np.float64)
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(two)) or not np.array_equal(
        one[~finite], two[~finite], equal_nan=True
    ):
        return "NaN or infinity elsewhere"
    one, two = one[finite], two[finite]
    if not one.size:
        return ""
    half = half or expected.dtype.itemsize <= 2
    relative, absolute = (_HALF, _HALF) if half else (_RELATIVE, _ABSOLUTE)
    allowed = relative * np.abs(one) + absolute * np.abs(one).max() + _FLOOR
    count = int(np.count_nonzero(np.abs(one - two) > allowed))
    worst = float(np.abs(one - two).max())
    return f"{count} of {one.size} numbers differ, by up to {worst:.3g}" if count else ""
