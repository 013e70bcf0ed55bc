"""What a child does for certificates: it proves cases one after the other.

It appends one line for each that is done, so that whoever started it can go on behind the site at
which an engine crashed.
"""

from __future__ import annotations

import dataclasses
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import onnx

from graphfix.errors import EngineFailed
from graphfix.proving.child import evaluators_of
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.judging import Case, certify
from graphfix.proving.sites.merging import can_merge, certify_together
from graphfix.proving.sites.watching import PATIENCE, own_feed, watch
from graphfix.report import Certificate, Verdict

CASES = "cases.json"
MODELS = "cases.bin"
RESULTS = "results.jsonl"
# The number under which the run of the whole model is written down.
WATCHING = -1
_TOGETHER = 128


def answer(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Certify the cases of a folder until they are done or the time is up."""
    evaluators = evaluators_of(request)
    deadline = time.monotonic() + request["seconds"]
    cases = list(_read(folder))
    why = ""
    with np.errstate(all="ignore"), (folder / RESULTS).open("a", encoding="utf-8") as log:
        if request["together"]:
            cases = _together(cases, evaluators, log)
        if request["whole"] is not None and cases:
            cases, why = _watched(cases, folder, request["whole"], evaluators, log)
        for number, case in cases:
            if time.monotonic() > deadline:
                break
            _write(log, number, None)
            start = time.process_time()
            _alarm(request["patience"])
            found = _one(case, evaluators, request["gentle"])
            if why and found.status is Verdict.INCONCLUSIVE:
                told = f"{found.reason}; the whole model was not run for its own values: {why}"
                found = dataclasses.replace(found, reason=told)
            _write(log, number, found, time.process_time() - start)
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
            claims = frozenset(entry["claims"])
            case = Case(sides[0], sides[1], entry["lossy"], entry["approximate"], claims)
            yield entry["number"], case


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
            begun = time.process_time()
            found = certify_together([case for _, case in part], evaluators)
            cost = (time.process_time() - begun) / len(part)
            for (number, case), certificate in zip(part, found, strict=True):
                if certificate is None:
                    left.append((number, case))
                else:
                    _write(log, number, certificate, cost)
    return left


def _watched(
    cases: list[tuple[int, Case]],
    folder: Path,
    request: dict[str, Any],
    evaluators: Evaluators,
    log: TextIO,
) -> tuple[list[tuple[int, Case]], str]:
    """Give the cases the values that the whole model has there, or say why not."""
    listed: list[dict[str, Any]] = json.loads((folder / CASES).read_text(encoding="utf-8"))
    names: dict[int, dict[str, str]] = {entry["number"]: entry["names"] for entry in listed}
    types: dict[str, int] = {}
    for number, case in cases:
        for info in case.before.graph.input:
            types[names[number][info.name]] = info.type.tensor_type.elem_type
    if not types:
        return cases, ""
    _write(log, WATCHING, None)
    _alarm(PATIENCE)
    values, why = watch(request, types, evaluators)
    _alarm(0.0)
    return [
        (number, dataclasses.replace(case, own=own_feed(case.before, names[number], values)))
        for number, case in cases
    ], why


def _one(case: Case, evaluators: Evaluators, gentle: bool) -> Certificate:
    try:
        return certify(case, evaluators, gentle=gentle)
    except MemoryError:
        return Certificate(Verdict.INCONCLUSIVE, reason="ran out of memory")
    except EngineFailed as error:
        return Certificate(Verdict.INCONCLUSIVE, reason=error.message)


def _write(log: TextIO, number: int, certificate: Certificate | None, cost: float = 0.0) -> None:
    found = None if certificate is None else dataclasses.asdict(certificate)
    log.write(json.dumps({"number": number, "certificate": found, "cost": cost}) + "\n")
    log.flush()


def _alarm(seconds: float) -> None:
    """End this process after some seconds in one site, whatever an engine is doing then."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
