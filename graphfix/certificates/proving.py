"""Certificates for many sites: each different one is run once, in child processes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onnx import ModelProto

from graphfix.authoring.evidence import Evidence
from graphfix.certificates.child import CASES, MODELS, RESULTS
from graphfix.certificates.cutting import (
    READ_AT_MOST,
    TAKEN_IN,
    CannotCut,
    Cut,
    Functions,
    cut,
)
from graphfix.comparing.models import listed
from graphfix.comparing.process import Limits, ask
from graphfix.errors import EngineFailed
from graphfix.report import APPROXIMATE, LOSSY, Accuracy, Certificate, Verdict

MODULE = "graphfix.certificates.child"
# From this many different sites on, two children share them.
_SHARED_FROM = 40
_MOST_CRASHES = 20
_MARKED = re.compile(r"@([br]\d+)@")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What certificates may cost.

    Attributes:
        seconds: For all sites together; those that are not reached say so.
        patience: For one site; the process that runs longer is ended.
        memory: Bytes for each child; a share of what is free by default.
        children: How many processes at once.
    """

    seconds: float = 120.0
    patience: float = 20.0
    memory: int | None = None
    children: int = 2


@dataclass(slots=True)
class _Case:
    """A site that has to be run: its models as bytes, and what is known of it."""

    before: bytes
    after: bytes
    accuracy: Accuracy

    def key(self) -> bytes:
        """Return what two sites have in common that need one proof only."""
        digest = hashlib.sha256(self.before)
        digest.update(len(self.before).to_bytes(8, "little"))
        digest.update(self.after)
        digest.update(self.accuracy.encode())
        return digest.digest()

    @classmethod
    def of(cls, found: Cut, accuracy: Accuracy) -> _Case:
        return cls(_bytes(found.before), _bytes(found.after), accuracy)


def _bytes(model: ModelProto) -> bytes:
    return model.SerializeToString(deterministic=True)


def _named(certificate: Certificate, names: Mapping[str, str]) -> Certificate:
    """Put a site's own names in the place of the short ones."""
    if "@" not in certificate.reason:
        return certificate
    reason = _MARKED.sub(lambda m: names.get(m.group(1), m.group(1)), certificate.reason)
    return replace(certificate, reason=reason)


@dataclass(slots=True)
class Prover:
    """Makes certificates and remembers them, for the further runs that a rollback takes.

    Attributes:
        evaluators: Where the numpy models of operators without schema are.
        bounds: What it may cost.
    """

    evaluators: Mapping[tuple[str, str], str]
    bounds: Bounds = field(default_factory=Bounds)
    _known: dict[bytes, Certificate] = field(default_factory=dict[bytes, Certificate])
    _spent: float = 0.0

    def prove(
        self, sites: Sequence[tuple[Evidence, Accuracy]], functions: Functions
    ) -> list[Certificate]:
        """Return one certificate for each site.

        Args:
            sites: What each site was and became, and its label.
            functions: The local functions that sites may call.
        """
        start = time.monotonic()
        keys: list[tuple[bytes, dict[str, str]] | Certificate] = []
        open_cases: dict[bytes, _Case] = {}
        made_up: dict[bytes, tuple[Evidence, Accuracy]] = {}
        for evidence, accuracy in sites:
            try:
                found = cut(evidence, functions, TAKEN_IN)
            except CannotCut as reason:
                keys.append(Certificate(Verdict.INCONCLUSIVE, reason=str(reason)))
                continue
            case = _Case.of(found, accuracy)
            key = case.key()
            keys.append((key, found.names))
            if key not in self._known:
                open_cases.setdefault(key, case)
                if found.made_up:
                    made_up.setdefault(key, (evidence, accuracy))
        self._known |= self._run(open_cases, start)
        self._confirm(made_up, functions, start)
        self._spent += time.monotonic() - start
        return [k if isinstance(k, Certificate) else _named(self._known[k[0]], k[1]) for k in keys]

    def _confirm(
        self,
        made_up: Mapping[bytes, tuple[Evidence, Accuracy]],
        functions: Functions,
        start: float,
    ) -> None:
        """Look again, with the model's own weights, where made ones did not come out equal."""
        again: dict[bytes, _Case] = {}
        for key, (evidence, accuracy) in made_up.items():
            first = self._known[key]
            if first.status in (Verdict.EQUAL, Verdict.LOSSY):
                continue
            try:
                found = cut(evidence, functions, READ_AT_MOST)
            except CannotCut:
                found = None
            if found is None or found.made_up:
                reason = f"with made weights, its own being too big to read: {first.reason}"
                self._known[key] = Certificate(
                    Verdict.INCONCLUSIVE, samples=first.samples, reason=reason
                )
            else:
                again[key] = _Case.of(found, accuracy)
        self._known |= self._run(again, start)

    def _run(self, cases: Mapping[bytes, _Case], start: float) -> dict[bytes, Certificate]:
        if not cases:
            return {}
        entries = list(cases.items())
        count = min(self.bounds.children, os.cpu_count() or 1)
        if len(entries) < _SHARED_FROM:
            count = 1
        parts = [entries[first::count] for first in range(count)]
        deadline = start + self.bounds.seconds - self._spent
        share = 0.8 / count

        def work(part: list[tuple[bytes, _Case]]) -> list[Certificate]:
            return _Batch([case for _, case in part], self, deadline, share).run()

        with ThreadPoolExecutor(count) as pool:
            found = list(pool.map(work, parts))
        return {
            key: certificate
            for part, certificates in zip(parts, found, strict=True)
            for (key, _), certificate in zip(part, certificates, strict=True)
        }


class _Batch:
    """Runs cases in one child after the other, until each has an answer."""

    def __init__(self, cases: list[_Case], prover: Prover, deadline: float, share: float) -> None:
        self._cases = cases
        self._evaluators = prover.evaluators
        self._bounds = prover.bounds
        self._deadline = deadline
        self._share = share
        self._found: dict[int, Certificate] = {}

    def run(self) -> list[Certificate]:
        """Return a certificate for each case."""
        crashes: dict[int, int] = {}
        together = True
        while self._open() and time.monotonic() < self._deadline:
            open_now = self._open()
            # A site that crashed an engine is tried once more, alone and with kinder inputs.
            crashed = [n for n in open_now if n in crashes]
            chosen = [n for n in open_now if n not in crashes] or crashed[:1]
            gentle = not [n for n in open_now if n not in crashes]
            failure, culprit = self._ask(chosen, gentle=gentle, together=together)
            if not failure:
                if not gentle:
                    if [n for n in chosen if n not in self._found]:
                        break  # the child ran out of time
                    continue
            elif culprit is None:
                if not together:
                    for number in chosen:
                        self._give_up(number, failure)
                together = False
            else:
                crashes[culprit] = crashes.get(culprit, 0) + 1
                if gentle or sum(crashes.values()) > _MOST_CRASHES:
                    self._give_up(culprit, failure)
        limit = self._bounds.seconds
        for number in self._open():
            self._give_up(number, f"not looked at: {limit:g} s for all sites were used up")
        return [self._found[number] for number in range(len(self._cases))]

    def _open(self) -> list[int]:
        return [number for number in range(len(self._cases)) if number not in self._found]

    def _give_up(self, number: int, reason: str) -> None:
        self._found[number] = Certificate(Verdict.INCONCLUSIVE, reason=reason)

    def _ask(self, numbers: list[int], *, gentle: bool, together: bool) -> tuple[str, int | None]:
        """Run some cases; return how the child failed, and at which case, where it did."""
        left = max(1.0, self._deadline - time.monotonic())
        request: dict[str, Any] = {
            "evaluators": listed(self._evaluators),
            "gentle": gentle,
            "together": together,
            "seconds": left,
            "patience": self._bounds.patience,
            "share": self._share,
        }
        with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
            folder = Path(text)
            self._write(folder, numbers)
            failure = ""
            try:
                limits = Limits(left + self._bounds.patience + 10.0, self._bounds.memory)
                ask(folder, request, limits, MODULE)
            except EngineFailed as error:
                failure = error.message
                if "SIGALRM" in failure:
                    failure = f"took longer than {self._bounds.patience:g} s"
            return failure, self._read(folder)

    def _write(self, folder: Path, numbers: list[int]) -> None:
        entries: list[dict[str, Any]] = []
        with (folder / MODELS).open("wb") as stream:
            for number in numbers:
                case = self._cases[number]
                stream.write(case.before)
                stream.write(case.after)
                entries.append(
                    {
                        "number": number,
                        "sizes": [len(case.before), len(case.after)],
                        "lossy": case.accuracy is LOSSY,
                        "approximate": case.accuracy is APPROXIMATE,
                    }
                )
        (folder / CASES).write_text(json.dumps(entries), encoding="utf-8")

    def _read(self, folder: Path) -> int | None:
        """Take what the child wrote; return the case that it had begun and not ended."""
        begun: int | None = None
        path = folder / RESULTS
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                entry: dict[str, Any] = json.loads(line)
            except ValueError:
                break  # the child died while it wrote this line
            number: int = entry["number"]
            found = entry["certificate"]
            begun = number if found is None else None
            if found is not None:
                status = Verdict(found.pop("status"))
                self._found[number] = Certificate(status, **found)
        return begun
