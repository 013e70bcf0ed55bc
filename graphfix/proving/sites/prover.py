"""Certificates for many sites: each different one is run once, in child processes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType

from msgspec import Struct, field
from onnx import ModelProto

from graphfix.analysis.packed_products import formula_said
from graphfix.authoring.evidence import Evidence
from graphfix.errors import EngineFailed
from graphfix.ir.protos import Functions, nodes_of_model
from graphfix.proving.runners.evaluators import OpKey, listed
from graphfix.proving.sites.cases import (
    WATCHING,
    CaptureRequest,
    CertificationRequest,
    Counted,
    StoredCase,
    WholeModel,
    read_results,
    watched,
    write_cases,
)
from graphfix.proving.sites.certificate_cache import CertificateCache
from graphfix.proving.sites.cutting import READ_AT_MOST, TAKEN_IN, CannotCut, Cut, cut
from graphfix.proving.sites.identical import same_by
from graphfix.report import Accuracy, Certificate, Verdict
from graphfix.worker.advice import with_option
from graphfix.worker.limits import WAITING, Limits, engine_seconds, more_seconds, seconds_left
from graphfix.worker.service import ask

TASK = "graphfix.proving.tasks:certify"
# From this many different sites on, two children share them. Each runs the whole model for its own
# values, and each of the groups that are alike: fewer sites take longer so.
_SHARED_FROM = 1000
_MOST_CRASHES = 20
# Of the time that a command has left, all sites get one in so many parts, where that is more.
_PART = 8
# One site gets one in so many parts of that.
_SITES = 6
_MARKED = re.compile(r"@([br]\d+)@")


@dataclass(frozen=True)
class Bounds:
    """What certificates may cost.

    Attributes:
        seconds: For all sites together; those that are not reached say so.
        patience: For one site, of a processor; the process that works longer is ended.
        memory: Bytes for each child; a share of what is free by default.
        children: How many processes at once.
        work: As `seconds`, of a processor, for all children.
    """

    seconds: float = 120.0
    patience: float = 20.0
    memory: int | None = None
    children: int = 2
    work: float = 240.0

    @classmethod
    def here(cls) -> Bounds:
        """Return what they may cost of what the command line gives engines for a small file."""
        given, left = engine_seconds(), seconds_left()
        seconds = max(cls.seconds, left / _PART) if left < float("inf") else cls.seconds
        return cls(
            min(seconds, given / 2 * WAITING),
            min(max(cls.patience, seconds / _SITES), given / 4),
            work=min(2 * seconds, given / 2),
        )


class _Case(Struct, frozen=True):
    """A site that has to be run, and what it has in common with those that need no other proof."""

    stored: StoredCase
    key: bytes

    @classmethod
    def of(cls, found: Cut, accuracy: Accuracy) -> _Case:
        stored = stored_case(found, accuracy)
        digest = hashlib.sha256(stored.before)
        digest.update(len(stored.before).to_bytes(8, "little"))
        digest.update(stored.after)
        digest.update(repr((accuracy.value, stored.claims)).encode())
        return cls(stored, digest.digest())


def stored_case(found: Cut, accuracy: Accuracy) -> StoredCase:
    """Return a site as a child gets it."""
    models = (found.before, found.after)
    before, after = (model.SerializeToString(deterministic=True) for model in models)
    return StoredCase(before, after, accuracy, tuple(sorted(found.claims)), found.names)


class _Wanted(Struct, frozen=True):
    """What one site needs.

    Attributes:
        case: The case that proves it, or one of the same content.
        made_up: Whether big weights became inputs.
        level: What is to be said of operands that were not rounded; empty where none was to be.
    """

    case: _Case
    made_up: bool
    level: str

    @classmethod
    def of(cls, found: Cut, accuracy: Accuracy) -> _Wanted:
        # Packed products alone have a level, which are of this domain.
        sides = found.before, found.after
        packs = any(n.domain == "com.microsoft" for each in sides for n in nodes_of_model(each))
        level = formula_said(sides) if packs else ""
        return cls(_Case.of(found, accuracy), found.made_up, level)

    def says(self, proof: Certificate) -> Certificate:
        """Return its proof with what was changed for it."""
        reason = "; ".join(filter(None, (proof.reason, self.level)))
        return replace(proof, reason=reason) if self.level else proof


def _unrun(reason: str) -> Certificate:
    """Return the certificate of a site whose sides are the same as they are."""
    return Certificate(Verdict.EQUAL, 0.0, 0.0, 0, reason)


def named(certificate: Certificate, names: Mapping[str, str]) -> Certificate:
    """Put a site's own names in the place of the short ones."""
    reason = _MARKED.sub(lambda m: names.get(m.group(1), m.group(1)), certificate.reason)
    sizes = tuple(replace(each, name=names.get(each.name, each.name)) for each in certificate.sizes)
    return replace(certificate, reason=reason, sizes=sizes)


class Memory(Struct):
    """What was proved, by the content of both sides of a site.

    Attributes:
        known: The certificates, with short names in their reasons.
        costs: CPU seconds that each took in its child.
    """

    known: dict[bytes, Certificate] = field(default_factory=dict[bytes, Certificate])
    costs: dict[bytes, float] = field(default_factory=dict[bytes, float])


class Prover(Struct):
    """Makes certificates and remembers them, for the further runs that a rollback takes.

    Attributes:
        evaluators: Where the numpy models of operators without schema are.
        bounds: What it may cost.
        memory: What was proved before; it grows.
        whole: How the whole model is run for its own values; None where it is not.
        kept: The certificates of runs on other models; None where they are not asked for.
        progress: Is given how many of how many different sites are done; None where no one asks.
        at: Is given the tensor whose site was begun; None where no one asks.
        at_own_sizes: Whether no comparison of the whole model shows what sites do at their own
            sizes, so that each has to be run once at these.
    """

    evaluators: Mapping[OpKey, str]
    bounds: Bounds = field(default_factory=Bounds.here)
    memory: Memory = field(default_factory=Memory)
    whole: WholeModel | None = None
    kept: CertificateCache | None = None
    progress: Callable[[int, int], None] | None = None
    at: Callable[[str], None] | None = None
    at_own_sizes: bool = False
    _spent: float = 0.0

    def prove(
        self,
        sites: Sequence[tuple[Evidence, Accuracy]],
        functions: Functions,
        prepared: ModelProto | None = None,
    ) -> list[Certificate]:
        """Return one certificate for each site.

        Args:
            sites: What each site was and became, and its label.
            functions: The local functions that sites may call.
            prepared: What to run for the model as it came, where that had to be mended first.
        """
        start = time.monotonic()
        wanted: list[_Wanted | Certificate] = []
        for evidence, accuracy in sites:
            try:
                found = cut(evidence, functions, TAKEN_IN)
                same = same_by(found.before, found.after)
                wanted.append(_unrun(same) if same else _Wanted.of(found, accuracy))
            except CannotCut as reason:
                wanted.append(Certificate(Verdict.INCONCLUSIVE, reason=str(reason)))
        with contextlib.ExitStack() as stack:
            look = _Look(start, self.whole, prepared, stack)
            self._run([w.case for w in wanted if isinstance(w, _Wanted)], look)
            proofs = [w if isinstance(w, Certificate) else self._of(w) for w in wanted]
            self._confirm(sites, functions, wanted, proofs, look)
        proofs = [
            w.says(proof) if isinstance(w, _Wanted) else proof
            for w, proof in zip(wanted, proofs, strict=True)
        ]
        self._spent += time.monotonic() - start
        return proofs

    def _of(self, wanted: _Wanted) -> Certificate:
        certificate = self.memory.known.get(wanted.case.key)
        if certificate is None:
            reason = f"not looked at: {self.bounds.seconds:g} s for all sites were used up"
            more = more_seconds()
            reason = reason if more is None else f"{reason}; --timeout {more} gives more"
            return Certificate(Verdict.INCONCLUSIVE, reason=reason)
        if certificate.status is Verdict.INCONCLUSIVE:
            limits = Limits(self.bounds.patience, self.bounds.memory, self.bounds.children)
            certificate = replace(certificate, reason=with_option(certificate.reason, limits))
        return named(certificate, wanted.case.stored.names)

    def _confirm(
        self,
        sites: Sequence[tuple[Evidence, Accuracy]],
        functions: Functions,
        wanted: Sequence[_Wanted | Certificate],
        found: list[Certificate],
        look: _Look,
    ) -> None:
        """Look again, with the model's own weights, where made ones did not are equal."""
        again: dict[int, _Wanted] = {}
        for place, (first, sought) in enumerate(zip(found, wanted, strict=True)):
            if isinstance(sought, Certificate) or not sought.made_up:
                continue
            if first.status in (Verdict.EQUAL, Verdict.LOSSY):
                continue
            evidence, accuracy = sites[place]
            try:
                own = _Wanted.of(cut(evidence, functions, READ_AT_MOST), accuracy)
            except CannotCut:
                own = sought
            if own.made_up:
                reason = f"with made weights, its own being too big to read: {first.reason}"
                found[place] = Certificate(
                    Verdict.INCONCLUSIVE, samples=first.samples, reason=reason
                )
            else:
                again[place] = own
        self._run([own.case for own in again.values()], look)
        for place, own in again.items():
            found[place] = self._of(own)

    def _run(self, cases: Sequence[_Case], look: _Look) -> None:
        """Run what is not known yet, each different case once."""
        open_cases: dict[bytes, _Case] = {}
        for case in cases:
            known = self.memory.known.get(case.key)
            if (known is not None and self._is_enough(known)) or case.key in open_cases:
                continue
            if not self._knows(case):
                open_cases[case.key] = case
        entries = list(open_cases.values())
        if not entries:
            return
        count = min(self.bounds.children, os.cpu_count() or 1)
        if len(entries) < _SHARED_FROM:
            count = 1
        parts = [entries[first::count] for first in range(count)]
        counted = (
            Counted(len(entries), self.progress, self.at) if self.progress is not None else None
        )
        deadline = look.start + self.bounds.seconds - self._spent
        whole = look.request()

        def work(part: list[_Case]) -> _Batch:
            batch = _Batch(part, self, deadline, count, whole, counted)
            batch.run()
            return batch

        if count == 1:
            batches = [work(parts[0])]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(count) as pool:
                batches = list(pool.map(work, parts))
        for part, batch in zip(parts, batches, strict=True):
            for number, certificate in batch.found.items():
                case = part[number]
                self.memory.known[case.key] = certificate
                self.memory.costs[case.key] = batch.costs.get(number, 0.0)
                if self.kept is not None and number not in batch.gently:
                    self.kept.put(case.key, case.stored, certificate)

    def _knows(self, case: _Case) -> bool:
        """Take over the certificate that a run on another model made of the same case."""
        known = None if self.kept is None else self.kept.get(case.key, case.stored)
        if known is None or not self._is_enough(known):
            return False
        self.memory.known[case.key] = known
        return True

    def _is_enough(self, known: Certificate) -> bool:
        return not (self.at_own_sizes and known.shorter)


class _Look(Struct):
    """When it began, and the whole model as a file, which is made when it is first asked for."""

    start: float
    whole: WholeModel | None
    prepared: ModelProto | None
    stack: contextlib.ExitStack
    _request: CaptureRequest | None = None

    def request(self) -> CaptureRequest | None:
        if self.whole is not None and self._request is None:
            path = None
            if not self.whole.too_big:
                path = self.stack.enter_context(self.whole.open(self.prepared))
            self._request = self.whole.request(path)
        return self._request


class _Batch:
    """Runs cases in one child after the other, until each has an answer."""

    def __init__(
        self,
        cases: list[_Case],
        prover: Prover,
        deadline: float,
        together: int,
        whole: CaptureRequest | None,
        counted: Counted | None,
    ) -> None:
        self._counted = counted
        self._cases = cases
        self._names = [repr(case.stored.names.get("r0", "")) for case in cases]
        self._whole = whole
        self._evaluators = prover.evaluators
        self._bounds = prover.bounds
        self._at_own_sizes = prover.at_own_sizes
        self._deadline = deadline
        self._together = together
        self.found: dict[int, Certificate] = {}
        self.costs: dict[int, float] = {}
        self.gently: set[int] = set()

    def run(self) -> None:
        """Find a certificate for each case that there is time for."""
        crashes: dict[int, int] = {}
        together = True
        while self._open() and time.monotonic() < self._deadline:
            open_now = self._open()
            # A site that crashed an engine is tried once more, alone and with kinder inputs.
            crashed = [n for n in open_now if n in crashes]
            chosen = [n for n in open_now if n not in crashes] or crashed[:1]
            gentle = not [n for n in open_now if n not in crashes]
            if gentle:
                self.gently.update(chosen)
            failure, culprit = self._ask(chosen, gentle=gentle, together=together)
            if not failure:
                if not gentle:
                    if [n for n in chosen if n not in self.found]:
                        break  # the child ran out of time
                    continue
            elif culprit == WATCHING:
                self._whole = None
            elif culprit is None:
                if not together:
                    for number in chosen:
                        self._give_up(number, failure)
                together = False
            else:
                crashes[culprit] = crashes.get(culprit, 0) + 1
                if gentle or sum(crashes.values()) > _MOST_CRASHES:
                    self._give_up(culprit, failure)

    def _open(self) -> list[int]:
        return [number for number in range(len(self._cases)) if number not in self.found]

    def _give_up(self, number: int, reason: str) -> None:
        self.found[number] = Certificate(Verdict.INCONCLUSIVE, reason=reason)

    def _ask(self, numbers: list[int], *, gentle: bool, together: bool) -> tuple[str, int | None]:
        """Run some cases; return how the child failed, and at which case, where it did."""
        left = max(1.0, self._deadline - time.monotonic())
        request = CertificationRequest(
            listed(self._evaluators),
            max(1.0, min(left, self._bounds.work / self._together - sum(self.costs.values()))),
            self._bounds.patience,
            gentle,
            together,
            None if gentle else self._whole,
            self._at_own_sizes,
        )
        with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
            folder = Path(text)
            write_cases(folder, [(number, self._cases[number].stored) for number in numbers])
            failure = ""
            try:
                timeout = left + self._bounds.patience + 10.0
                limits = Limits(timeout, self._bounds.memory, self._together)
                with watched(folder, self._counted, self._names):
                    ask(TASK, folder, request, limits, NoneType)
            except EngineFailed as error:
                failure = error.message
                if "SIGPROF" in failure or "SIGALRM" in failure:
                    failure = f"took longer than {self._bounds.patience:g} s"
            return failure, self._read(folder)

    def _read(self, folder: Path) -> int | None:
        """Take what the child wrote; return the case that it had begun and not ended."""
        begun: int | None = None
        for result in read_results(folder):
            begun = result.number if result.certificate is None else None
            if result.certificate is not None:
                self.found[result.number] = result.certificate
                self.costs[result.number] = result.cost
        return begun
