"""What becomes of one network: in onnxruntime, with graphfix, and with other tools."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx

from benchmarks.children import call_in_child
from benchmarks.corpus.acceptance import is_done
from benchmarks.corpus.row import BLOCKING, Job, run_job
from benchmarks.references import Array, difference
from benchmarks.wild.rows import Fact
from graphfix import check
from graphfix.errors import GraphfixError
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model
from graphfix.worker.service import OutOfTime

_ATTEMPTS = (0, 3, 9, 16, 22)
_SECONDS = 400.0
_RUNNING = 30.0
_MEMORY = 12 << 30
CONSENT = "--allow-io-change"
TOOLS: dict[str, Sequence[str]] = {
    "onnxsim": ("-m", "onnxsim", "IN", "OUT"),
    "OnnxSlim": ("-m", "onnxslim", "IN", "OUT"),
    "polygraphy": (
        "-c",  # it is no module that -m runs
        "from polygraphy.tools import main; main()",
        "surgeon",
        "sanitize",
        "IN",
        "--fold-constants",
        "-o",
        "OUT",
    ),
}


def with_graphfix(path: Path, target: str, main: Callable[[Sequence[str]], int]) -> Fact:
    """Return what `graphfix run` makes of a network: its row, and whether it is done.

    Where a refusal asks for the consent to other inputs and outputs (texts, maps), it is run again
    with that, and `consent` says whether it is done then.
    """
    job = Job(path.name, path, target, timeout=_SECONDS, memory_bytes=_MEMORY)
    row = run_job(job, main)
    found = {**asdict(row), "done": is_done(row), "consent": is_done(row)}
    if not any(CONSENT in why for why in row.left_because):
        return found
    again = run_job(replace(job, options=(CONSENT,)), main)
    reason = again.reason or row.reason
    more = {"after": again.after, "left_because": again.left_because, "reason": reason}
    return {**found, **more, "consent": is_done(again)}


def runs(path: Path) -> Fact:
    """Return whether onnxruntime runs a network on drawn inputs, or why not."""
    drawn = _drawn(path)
    return {"runs": False, "why": drawn[:300]} if isinstance(drawn, str) else {"runs": True}


def with_tools(path: Path, targets: Sequence[str], python: Path) -> Fact:
    """Return for each tool and target whether nothing is left and the outputs are equal.

    Args:
        path: The network, which onnxruntime runs.
        targets: What nothing should be left for.
        python: The Python that has the tools.
    """
    found: Fact = {}
    with tempfile.TemporaryDirectory(prefix="wild-") as text:
        folder = Path(text)
        for name, words in TOOLS.items():
            out = folder / f"{name}.onnx"
            places = {"IN": str(path), "OUT": str(out)}
            _call([str(python), *(places.get(word, word) for word in words)], folder)
            scratch = folder / name
            scratch.mkdir()
            found[name] = (
                dict.fromkeys(targets, False)
                if not out.is_file()
                else _judged(path, out, targets, scratch)
            )
    return found


def _call(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return


def _judged(path: Path, out: Path, targets: Sequence[str], scratch: Path) -> dict[str, bool]:
    ended = call_in_child(
        lambda: _print_judgement(path, out, targets),
        scratch,
        timeout=_SECONDS,
        memory_bytes=_MEMORY,
    )
    if ended.code != 0:
        return dict.fromkeys(targets, False)
    answer: dict[str, bool] = json.loads(ended.stdout)
    return answer


def _print_judgement(path: Path, out: Path, targets: Sequence[str]) -> int:
    same = _same(path, out)
    print(json.dumps({target: same and not blocking(out, target) for target in targets}))
    return 0


def blocking(path: Path, target: str) -> list[str]:
    """Return the features of a file that a target does not take or takes wrongly."""
    try:
        found = check(path, target)
    except GraphfixError as error:  # no engine reads what graphfix cannot
        return [error.message]
    return [finding.feature for finding in found if str(finding.severity) in BLOCKING]


def _same(path: Path, out: Path) -> bool:
    drawn = _drawn(path)
    if isinstance(drawn, str):
        return False
    feed, expected = drawn
    names = {info.name for info in onnx.ModelProto.FromString(out.read_bytes()).graph.input}
    try:
        (found,) = run_model(out, [{n: v for n, v in feed.items() if n in names}])
    except GraphfixError:
        return False
    return found.keys() == expected.keys() and not any(
        _differs(found[name], value) for name, value in expected.items()
    )


def _differs(found: Any, expected: Any) -> bool:
    if isinstance(expected, np.ndarray):
        return bool(difference(np.asarray(found), cast("Array", expected)))
    return bool(found != expected)


def _drawn(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]] | str:
    """Return inputs that onnxruntime runs a network on and what it computes, or why none."""
    try:
        maker = FeedMaker(onnx.ModelProto.FromString(path.read_bytes()))
        why = ""
        for attempt in _ATTEMPTS:
            feed = maker.draw(0, attempt)
            try:
                (outputs,) = run_model(path, [feed], timeout=_RUNNING)
            except OutOfTime as error:
                return error.message
            except GraphfixError as error:
                why = error.message
                continue
            return feed, outputs
    except Exception as error:  # a damaged file
        return f"{type(error).__name__}: {error}"
    return why
