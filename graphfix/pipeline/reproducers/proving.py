"""Certificates for the few sites of a reproducer, with the inputs on which they differ."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType

from msgspec import Struct

from graphfix.authoring.evidence import Evidence
from graphfix.errors import EngineFailed
from graphfix.ir.protos import Functions
from graphfix.proving.runners.evaluators import OpKey, listed
from graphfix.proving.sites.cases import (
    CertificationRequest,
    failing_file,
    given_file,
    read_results,
    write_cases,
)
from graphfix.proving.sites.cutting import READ_AT_MOST, CannotCut, Cut, cut
from graphfix.proving.sites.prover import TASK, named, stored_case
from graphfix.proving.values.files import read_values, write_values
from graphfix.proving.values.kinds import Feed, leaves
from graphfix.report import Accuracy, Certificate, Verdict
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask

SECONDS = 120.0
_MOST_BYTES = 64 * 2**20


class Proof(Struct, frozen=True):
    """A certificate, and the inputs, by the names of the model, on which both sides differ."""

    certificate: Certificate
    failing: Feed | None = None


def prove_again(
    sites: Sequence[tuple[Evidence, Accuracy]],
    functions: Functions,
    evaluators: Mapping[OpKey, str],
    given: Feed | None = None,
) -> list[Proof]:
    """Certify sites in one child process.

    Args:
        sites: What each site was and became, and its label.
        functions: The local functions that sites may call.
        evaluators: Where the numpy models of operators without schema are.
        given: Inputs to begin with, by the names of the model.
    """
    found: dict[int, Proof] = {}
    cuts: dict[int, Cut] = {}
    for number, (evidence, _) in enumerate(sites):
        try:
            cuts[number] = cut(evidence, functions, READ_AT_MOST)
        except CannotCut as reason:
            found[number] = Proof(Certificate(Verdict.INCONCLUSIVE, reason=str(reason)))
    if cuts:
        accuracies = [sites[number][1] for number in cuts]
        found.update(
            zip(cuts, _asked(list(cuts.values()), accuracies, evaluators, given), strict=True)
        )
    return [found[number] for number in range(len(sites))]


def _asked(
    cuts: Sequence[Cut],
    accuracies: Sequence[Accuracy],
    evaluators: Mapping[OpKey, str],
    given: Feed | None,
) -> list[Proof]:
    certificates: dict[int, Certificate] = {}
    missing = "its process ended before"
    with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
        folder = Path(text)
        stored = map(stored_case, cuts, accuracies)
        write_cases(folder, list(enumerate(stored)))
        for number, site in enumerate(cuts):
            feed = _short(site, given)
            if feed is not None:
                write_values(given_file(folder, number), [feed])
        try:
            request = CertificationRequest(listed(evaluators), stored=True)
            ask(TASK, folder, request, Limits(SECONDS), NoneType)
        except EngineFailed as error:
            missing = error.message
        for result in read_results(folder):
            if result.certificate is not None:
                certificates[result.number] = result.certificate
        unproved = Certificate(Verdict.INCONCLUSIVE, reason=missing)
        return [
            Proof(
                named(certificates.get(number, unproved), site.names),
                _long(site, failing_file(folder, number)),
            )
            for number, site in enumerate(cuts)
        ]


def _short(site: Cut, given: Feed | None) -> Feed | None:
    """Return stored inputs by the names of a cut model; None where they do not fit it."""
    if given is None:
        return None
    wanted = [info.name for info in site.before.graph.input]
    if any(site.names[name] not in given for name in wanted):
        return None
    return {name: given[site.names[name]] for name in wanted}


def _long(site: Cut, path: Path) -> Feed | None:
    if not path.exists():
        return None
    (feed,) = read_values(path)
    size = sum(a.nbytes for v in feed.values() for _, a in leaves(v) if a is not None)
    if size > _MOST_BYTES:
        return None
    return {site.names[name]: value for name, value in feed.items()}
