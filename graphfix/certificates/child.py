"""The child process: ``python -m graphfix.certificates.child FOLDER``.

Reads cases and appends one line for each that is done, so that whoever started it can go on
behind the site at which an engine crashed.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import onnx

from graphfix.certificates.judging import Case, certify
from graphfix.certificates.merging import can_merge, certify_together
from graphfix.comparing import memory
from graphfix.comparing.child import evaluators_of, memory_allowed, serve
from graphfix.comparing.evaluators import Evaluators
from graphfix.errors import EngineFailed
from graphfix.report import Certificate, Verdict

CASES = "cases.json"
MODELS = "cases.bin"
RESULTS = "results.jsonl"
_TOGETHER = 128


def answer(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Certify the cases of a folder until they are done or the time is up."""
    limit = memory_allowed(request, request["share"])
    importlib.import_module("onnxruntime")
    if limit is not None:
        memory.limit_memory(limit)
    evaluators = evaluators_of(request)
    deadline = time.monotonic() + request["seconds"]
    cases = list(_read(folder))
    with np.errstate(all="ignore"), (folder / RESULTS).open("a", encoding="utf-8") as log:
        if request["together"]:
            cases = _together(cases, evaluators, log)
        for number, case in cases:
            if time.monotonic() > deadline:
                break
            _write(log, number, None)
            _alarm(request["patience"])
            _write(log, number, _one(case, evaluators, request["gentle"]))
            _alarm(0.0)
    return {}


def _read(folder: Path) -> Iterator[tuple[int, Case]]:
    listed: list[dict[str, Any]] = json.loads((folder / CASES).read_text(encoding="utf-8"))
    with (folder / MODELS).open("rb") as stream:
        for entry in listed:
            sides: list[onnx.ModelProto] = []
            for size in entry["sizes"]:
                model = onnx.ModelProto()
                model.ParseFromString(stream.read(size))
                sides.append(model)
            yield entry["number"], Case(sides[0], sides[1], entry["lossy"], entry["approximate"])


def _together(
    cases: list[tuple[int, Case]], evaluators: Evaluators, log: TextIO
) -> list[tuple[int, Case]]:
    """Certify the constant ones in groups; return what is left."""
    groups: dict[str, list[tuple[int, Case]]] = {}
    left: list[tuple[int, Case]] = []
    for number, case in cases:
        if can_merge(case):
            key = repr(
                [
                    sorted((entry.domain, entry.version) for entry in model.opset_import)
                    for model in (case.before, case.after)
                ]
            )
            groups.setdefault(key, []).append((number, case))
        else:
            left.append((number, case))
    for group in groups.values():
        for start in range(0, len(group), _TOGETHER):
            part = group[start : start + _TOGETHER]
            found = certify_together([case for _, case in part], evaluators)
            for (number, case), certificate in zip(part, found, strict=True):
                if certificate is None:
                    left.append((number, case))
                else:
                    _write(log, number, certificate)
    return left


def _one(case: Case, evaluators: Evaluators, gentle: bool) -> Certificate:
    try:
        return certify(case, evaluators, gentle=gentle)
    except MemoryError:
        return Certificate(Verdict.INCONCLUSIVE, reason="ran out of memory")
    except EngineFailed as error:
        return Certificate(Verdict.INCONCLUSIVE, reason=error.message)


def _write(log: TextIO, number: int, certificate: Certificate | None) -> None:
    found = None if certificate is None else dataclasses.asdict(certificate)
    log.write(json.dumps({"number": number, "certificate": found}) + "\n")
    log.flush()


def _alarm(seconds: float) -> None:
    """End this process after some seconds in one site, whatever an engine is doing then."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), answer)
