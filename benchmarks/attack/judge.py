"""The judge: an original and a result in plain onnxruntime, in a process of its own.

It imports nothing of graphfix. On every feed that the original runs, the result runs too and gives
tensors of the same types, shapes and numbers: integers, booleans and strings exactly, NaN at the
same places, infinities by sign, floats within a few units of their type.
"""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnxruntime  # type: ignore[import-untyped]

SECONDS = 60.0
RELATIVE = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-9}


@dataclass(frozen=True)
class Ruling:
    """What is said of one feed: ``equal``, ``differs``, ``raises`` or ``original fails``."""

    status: str
    text: str = ""


class Judge:
    """A child that runs models, made again where one brings it down."""

    def __init__(self) -> None:
        """Start no child yet."""
        self._child: subprocess.Popen[bytes] | None = None

    def rule(
        self,
        before: bytes,
        after: bytes,
        feeds: Sequence[Any],
        *,
        loose: bool = False,
        inputs: Mapping[str, str] | None = None,
        outputs: Sequence[tuple[str, str]] = (),
    ) -> list[Ruling]:
        """Say for each feed whether both compute the same.

        Args:
            before: The original.
            after: The result.
            feeds: What goes in.
            loose: Whether tolerances are those of float32 whatever the type.
            inputs: How the result calls inputs; those that are not in it are not fed.
            outputs: What to compare, as the original and as the result call it; all if empty.
        """
        originals = self._ask(before, feeds, [one for one, _ in outputs])
        wanted = [k for k, item in enumerate(originals) if not isinstance(item, str)]
        fed = [feeds[k] for k in wanted]
        if inputs is not None:
            fed = [{inputs[k]: v for k, v in feed.items() if k in inputs} for feed in fed]
        found = self._ask(after, fed, [other for _, other in outputs]) if wanted else []
        results = dict(zip(wanted, found, strict=True))
        rulings: list[Ruling] = []
        for k, item in enumerate(originals):
            if k not in results:
                rulings.append(Ruling("original fails", str(item)[:200]))
                continue
            ruling = _rule(item, results[k], loose=loose)
            if ruling.status != "equal":
                again = self._ask(before, [feeds[k]] * 3, [one for one, _ in outputs])
                if any(_rule(item, each, loose=loose).status != "equal" for each in again):
                    ruling = Ruling("original fails", "gives other numbers each time")
            rulings.append(ruling)
        return rulings

    def rule_items(
        self, before: bytes, after: bytes, feeds: Sequence[Any], step: int = 1
    ) -> list[Ruling]:
        """Say whether a model of free batch computes what one of a fixed batch did for each item.

        Args:
            before: The original.
            after: The result.
            feeds: What the result is fed; the first axis is the batch. The longest feed has a
                multiple of `step`.
            step: How many items the original takes.
        """
        most = max(len(next(iter(feed.values()))) for feed in feeds)
        longest = next(feed for feed in feeds if len(next(iter(feed.values()))) == most)
        starts = range(0, most, step)
        rows = [{k: v[i : i + step] for k, v in longest.items()} for i in starts]
        items = self._ask(before, rows, ())
        if any(isinstance(item, str) for item in items):
            return [Ruling("original fails", str(items[0])[:200])]
        whole = [np.concatenate(parts) for parts in zip(*items, strict=True)]
        rulings: list[Ruling] = []
        fed = [{k: v[: len(feed[k])] for k, v in longest.items()} for feed in feeds]
        for feed, found in zip(fed, self._ask(after, fed, ()), strict=True):
            count = len(next(iter(feed.values())))
            rulings.append(_rule([part[:count] for part in whole], found, loose=False))
        return rulings

    def rule_against(
        self, wanted: Sequence[Any], after: bytes, feeds: Sequence[Any], *, loose: bool
    ) -> list[Ruling]:
        """Say whether a result computes what another judge says.

        Args:
            wanted: For each feed the outputs, or why there are none.
            after: The result.
            feeds: What goes in.
            loose: Whether tolerances are those of float32 whatever the type.
        """
        asked = [k for k, item in enumerate(wanted) if not isinstance(item, str)]
        found = dict(zip(asked, self._ask(after, [feeds[k] for k in asked], ()), strict=True))
        return [
            _rule(item, found[k], loose=loose) if k in found else Ruling("original fails", item)
            for k, item in enumerate(wanted)
        ]

    def _ask(self, model: bytes, feeds: Sequence[Any], outputs: Sequence[str]) -> list[Any]:
        """Return the outputs for each feed, or what went wrong."""
        answers: list[Any] = []
        while len(answers) < len(feeds):
            if self._child is None:
                command = [sys.executable, "-m", "benchmarks.attack.judge"]
                pipe = subprocess.PIPE
                self._child = subprocess.Popen(command, stdin=pipe, stdout=pipe)
            child = self._child
            assert child.stdin is not None
            assert child.stdout is not None
            try:
                pickle.dump((model, list(feeds[len(answers) :]), list(outputs)), child.stdin)
                child.stdin.flush()
                for _ in feeds[len(answers) :]:
                    size = int.from_bytes(_read(child.stdout.fileno(), 8), "little")
                    answers.append(pickle.loads(_read(child.stdout.fileno(), size)))
            except (EOFError, OSError):
                self.close()
                answers.append("crashed, or took too long")
        return answers

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
        self._child = None


def _read(source: int, count: int) -> bytes:
    """Read so many bytes from a pipe, of which nothing else reads.

    Raises:
        EOFError: It ended, or nothing came for too long.
    """
    parts: list[bytes] = []
    while count:
        if not select.select([source], [], [], SECONDS)[0]:
            raise EOFError
        part = os.read(source, count)
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    engine: Any = onnxruntime
    engine.set_default_logger_severity(4)
    while True:
        try:
            model, feeds, outputs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        session: Any = None
        error = ""
        try:
            options = engine.SessionOptions()
            options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.enable_cpu_mem_arena = False
            options.log_severity_level = 4
            session = engine.InferenceSession(model, options, ["CPUExecutionProvider"])
        except Exception as problem:
            error = f"does not load: {problem}"
        for feed in feeds:
            answer: Any = error
            if session is not None:
                try:
                    answer = [_portable(v) for v in session.run(outputs or None, feed)]
                except Exception as problem:
                    answer = f"does not run: {problem}"
            packed = pickle.dumps(answer)
            answers.write(len(packed).to_bytes(8, "little") + packed)
            answers.flush()


def _portable(value: Any) -> Any:
    """Return a value as the pipe takes it."""
    return [_portable(part) for part in value] if _is_list(value) else value


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _rule(left: list[Any], right: Any, *, loose: bool) -> Ruling:
    if isinstance(right, str):
        return Ruling("raises", right[:300])
    if len(left) != len(right):
        return Ruling("differs", f"{len(right)} outputs instead of {len(left)}")
    for place, (one, other) in enumerate(zip(left, right, strict=True)):
        text = _difference(one, other, loose)
        if text:
            return Ruling("differs", f"output {place}: {text}")
    return Ruling("equal")


def _difference(one: Any, other: Any, loose: bool) -> str:
    if _is_list(one) or _is_list(other):
        if not (_is_list(one) and _is_list(other)) or len(one) != len(other):
            return "another sequence"
        texts = [_difference(a, b, loose) for a, b in zip(one, other, strict=True)]
        return next((text for text in texts if text), "")
    if one is None or other is None:
        return "" if one is None and other is None else "one is empty"
    a, b = np.asarray(one), np.asarray(other)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    wrong = _far(a, b, loose) if a.dtype.kind == "f" else a != b
    if not np.any(wrong):
        return ""
    at = np.flatnonzero(wrong)[0]
    return f"{b.reshape(-1)[at]} instead of {a.reshape(-1)[at]} at {at} of {a.size}"


def _far(a: Any, b: Any, loose: bool) -> Any:
    relative = RELATIVE.get("float32" if loose else a.dtype.name, 1e-4)
    if a.dtype.name == "float16":
        relative = RELATIVE["float16"]
    finite = np.isfinite(a) & np.isfinite(b)
    one, other = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        far = np.abs(one - other) > relative * np.abs(one)
        size = np.abs(one[finite]).max(initial=0.0) if finite.any() else 0.0
        far &= np.abs(one - other) > relative * 1e-1 * min(size, 1e30) + 1e-37
        same = (np.isnan(one) & np.isnan(other)) | (one == other)
    return cast("Any", np.where(finite, far, ~same))


if __name__ == "__main__":
    _serve()
