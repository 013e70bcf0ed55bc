"""Answers for an older release of onnxruntime, confirmed in that release itself."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks.coverage.cases import Case
from benchmarks.coverage.outcomes import FAILED, FAULTS, WRONG, Answer, differing
from benchmarks.onnxruntime.releases import CHILD, RELEASES, interpreter
from benchmarks.opset.conversions import is_random

NEWEST = "the same file gives what is expected in the newest onnxruntime or onnx's evaluator"
_PLAIN = "biufcSU"
_PLACE = re.compile(r"Load model from \S+ failed:\s*")


def release_of(target: str) -> str:
    """Return the release that confirms answers for a target, an empty text where none does."""
    minor = target.removeprefix("ort-")
    here = max(RELEASES, key=lambda name: int(name.partition(".")[2]))
    return minor if minor in RELEASES and minor != here else ""


def confirmed(cases: Sequence[Case], answers: Sequence[Answer], minor: str) -> list[Answer]:
    """Run the results in a release.

    Returns:
        The answers; those that the release ran say so, and those that it does not load or
        computes differently are faults. What numpy's files do not hold is left as it is.
    """
    found = list(answers)
    with tempfile.TemporaryDirectory(prefix="coverage-") as scratch:
        home, said = Path(scratch) / "models", Path(scratch) / "answers.jsonl"
        home.mkdir()
        for at, (case, answer) in enumerate(zip(cases, answers, strict=True)):
            if answer.model is not None and storable(case):
                (home / f"{at}.onnx").write_bytes(answer.model.SerializeToString())
                feed = {f"in_{name}": np.asarray(value) for name, value in case.feed.items()}
                with (home / f"{at}.npz").open("wb") as stream:
                    np.savez(stream, allow_pickle=False, **feed)
        command = [str(interpreter(minor)), str(CHILD), "run", str(home), str(said)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for line in said.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            at = int(row["name"].partition(".")[0])
            found[at] = _judged(cases[at], answers[at], row, home / f"{at}.out.npz", minor)
    return found


def held_to_newest(answer: Answer) -> Answer:
    """Return a fault for what onnxruntime itself does not run, whatever an evaluator computes."""
    if not answer.unrun:
        return answer
    return replace(answer, answer=FAILED, why=f"{answer.unrun[:300]}; {NEWEST}")


def _judged(case: Case, answer: Answer, row: dict[str, Any], out: Path, minor: str) -> Answer:
    engine = f"onnxruntime {RELEASES[minor]}"
    # What was compared here before is right, whatever the release makes of the same file.
    newest = "" if answer.answer in FAULTS else f"; {NEWEST}"
    if not row.get("ran"):
        said = _PLACE.sub("", str(row.get("error", "")))[:300]
        why = f"{said}{newest}"
        return replace(answer, answer=FAILED, why=why, engine=engine)
    with np.load(out) as arrays:
        given = [arrays[f"out_{at}"] for at in range(len(arrays.files))]
    values = not is_random(onnx.load_from_string(case.model))
    wrong = differing(given, case.expected, values=values)
    answer = replace(answer, engine=engine)
    return replace(answer, answer=WRONG, why=f"{wrong}{newest}") if wrong else answer


def storable(case: Case) -> bool:
    """Say whether a release can be given the inputs of a case, and files of numpy hold them."""
    dtypes: list[Any] = [
        getattr(value, "dtype", None) for value in (*case.feed.values(), *case.expected)
    ]
    # Not by `isbuiltin`, which is 0 for what was pickled, as cases are.
    return all(
        d is not None and d.kind in _PLAIN and d.type.__module__ == np.__name__ for d in dtypes
    )
