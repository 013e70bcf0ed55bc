"""Certify sites one after the other; runs inside the child process.

It appends one line for each that is done, so that whoever started it can continue after the site at
which an engine crashed.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Container, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from msgspec import structs

from graphfix.errors import EngineFailed
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.alike import certify_alike, groups_of
from graphfix.proving.sites.cases import (
    PATIENCE,
    WATCHING,
    CaptureRequest,
    CertificationRequest,
    Log,
    ReadCase,
    capture_activations,
    captured_feed,
    failing_file,
    given_file,
    read_cases,
)
from graphfix.proving.sites.merging import can_merge, certify_together
from graphfix.proving.sites.one_site import at_own_sizes, certify
from graphfix.proving.sites.shorter import shorter
from graphfix.proving.values.files import read_values, write_values
from graphfix.proving.values.kinds import Feed
from graphfix.report import Certificate, Verdict
from graphfix.worker.limits import WAITING

_TOGETHER = 128


def certify_cases(folder: Path, request: CertificationRequest, memory: int | None = None) -> None:
    """Certify the sites of a folder until they are done or the time is up.

    Args:
        folder: Where they are written.
        request: How.
        memory: The bytes that may be taken; None where no one says.
    """
    evaluators = Evaluators.of(request.evaluators)
    deadline = time.process_time() + request.seconds
    cases = list(read_cases(folder))
    why, log = "", Log(folder)
    cases = [_shortened(read, request) for read in cases]
    if request.together:
        cases = _together(cases, evaluators, log)
    if request.watched is not None and cases:
        cases, why = _watched(cases, request.watched, evaluators, log, memory)
    if request.together and not request.gentle:
        cases = _alike(cases, evaluators, log, request.patience)
    for read in cases:
        if time.process_time() > deadline:
            break
        log.begin(read.number)
        start = time.process_time()
        _alarm(request.patience)
        found = _one(folder, read, evaluators, request)
        if why and found.status is Verdict.INCONCLUSIVE:
            reason = f"{found.reason}; the whole model was not run for its own values: {why}"
            found = replace(found, reason=reason)
        log.end(read.number, found, time.process_time() - start)
        _alarm(0.0)
    log.close()


def _shortened(read: ReadCase, request: CertificationRequest) -> ReadCase:
    case = read.case
    short = None if request.stored else shorter(case.before, case.after)
    return structs.replace(read, case=replace(case, short=short, whole=request.whole))


def _together(cases: Sequence[ReadCase], evaluators: Evaluators, log: Log) -> list[ReadCase]:
    """Certify the constant ones in groups; return what is left."""
    groups: dict[str, list[ReadCase]] = {}
    left: list[ReadCase] = []
    for read in cases:
        if can_merge(read.case):
            models = (read.case.before, read.case.after)
            imports = [
                sorted((e.domain, e.version) for e in model.opset_import) for model in models
            ]
            groups.setdefault(repr(imports), []).append(read)
        else:
            left.append(read)
    for group in groups.values():
        for start in range(0, len(group), _TOGETHER):
            part = group[start : start + _TOGETHER]
            begun = time.process_time()
            found = certify_together([read.case for read in part], evaluators)
            cost = (time.process_time() - begun) / len(part)
            for read, certificate in zip(part, found, strict=True):
                if certificate is None:
                    left.append(read)
                else:
                    log.end(read.number, certificate, cost)
    return left


def _alike(
    cases: list[ReadCase], evaluators: Evaluators, log: Log, patience: float
) -> list[ReadCase]:
    """Certify those together that are alike; return what is left."""
    done: set[int] = set()
    for places in groups_of([read.case for read in cases]):
        begun = time.process_time()
        _alarm(patience)
        group = [cases[place] for place in places]
        found = certify_alike([read.case for read in group], evaluators)
        for place, read, certificate in zip(places, group, found, strict=True):
            if certificate is not None:
                proved = at_own_sizes(read.case, certificate, evaluators)
                log.end(read.number, proved, (time.process_time() - begun) / len(group))
                done.add(place)
        _alarm(0.0)
    return [read for place, read in enumerate(cases) if place not in done]


def _watched(
    cases: list[ReadCase],
    request: CaptureRequest,
    evaluators: Evaluators,
    log: Log,
    memory: int | None,
) -> tuple[list[ReadCase], str]:
    """Give the cases the values that the whole model has there, or say why not."""
    types = _types(cases)
    if not types:
        return cases, ""
    log.begin(WATCHING)
    _alarm(PATIENCE)
    found: dict[int, Feed] = {}
    left, why = cases, ""
    if request.corner:
        values, why = capture_activations(request, types, evaluators, memory, corner=True)
        found = _own(cases, values)
        # Others need the whole image, unless the model has no such tensors.
        left = [r for r in cases if r.number not in found and _has_all(r, values or types)]
    types = _types(left)
    if types:
        values, why = capture_activations(request, types, evaluators, memory)
        found |= _own(left, values)
    _alarm(0.0)
    return [
        structs.replace(read, case=replace(read.case, own=found.get(read.number))) for read in cases
    ], why


def _own(cases: Sequence[ReadCase], values: Feed) -> dict[int, Feed]:
    """Return the inputs that the whole model has for cases, by their numbers."""
    feeds = {
        read.number: captured_feed(read.case.before, read.names, values, read.case.short)
        for read in cases
    }
    return {number: feed for number, feed in feeds.items() if feed is not None}


def _has_all(read: ReadCase, known: Container[str]) -> bool:
    return all(read.names[info.name] in known for info in read.case.before.graph.input)


def _types(cases: Sequence[ReadCase]) -> dict[str, int]:
    """Return the tensors of the whole model that cases read, with their element types."""
    return {
        read.names[info.name]: info.type.tensor_type.elem_type
        for read in cases
        for info in read.case.before.graph.input
    }


def _one(
    folder: Path, read: ReadCase, evaluators: Evaluators, request: CertificationRequest
) -> Certificate:
    given = given_file(folder, read.number)
    feeds = read_values(given) if request.stored and given.exists() else ()
    keep = partial(_keep, failing_file(folder, read.number) if request.stored else None)
    try:
        return certify(read.case, evaluators, gentle=request.gentle, given=feeds, failing=keep)
    except MemoryError:
        return Certificate(Verdict.INCONCLUSIVE, reason="ran out of memory")
    except EngineFailed as error:
        return Certificate(Verdict.INCONCLUSIVE, reason=error.message)


def _keep(path: Path | None, feed: Feed) -> None:
    if path is not None:
        write_values(path, [feed])


def _alarm(seconds: float) -> None:
    """End this process after some seconds of work on one site, whatever an engine is doing then.

    Other processes of a machine may make it wait; what waits for much longer does nothing at all.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, WAITING * seconds)
