"""Certificates for the few sites of a reproducer, with the inputs on which they differ."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphfix.authoring.evidence import Evidence
from graphfix.errors import EngineFailed
from graphfix.proving.models import Evaluators, listed
from graphfix.proving.sites.cutting import READ_AT_MOST, CannotCut, Cut, Functions, cut
from graphfix.proving.sites.prover import named
from graphfix.proving.values.files import read_values, write_values
from graphfix.proving.values.kinds import Feed, leaves
from graphfix.report import APPROXIMATE, LOSSY, Accuracy, Certificate, Verdict
from graphfix.reproducers.child import after_file, before_file, failing_file, given_file
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask

TASK = "graphfix.reproducers.child:answer"
SECONDS = 120.0
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Proof:
    """A certificate, and the inputs, by the names of the model, on which both sides differ."""

    certificate: Certificate
    failing: Feed | None = None


def prove_again(
    sites: Sequence[tuple[Evidence, Accuracy]],
    functions: Functions,
    evaluators: Evaluators,
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
    evaluators: Evaluators,
    given: Feed | None,
) -> list[Proof]:
    request: dict[str, Any] = {
        "evaluators": listed(evaluators),
        "sites": [
            {
                "lossy": accuracy is LOSSY,
                "approximate": accuracy is APPROXIMATE,
                "claims": sorted(site.claims),
            }
            for site, accuracy in zip(cuts, accuracies, strict=True)
        ],
    }
    with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
        folder = Path(text)
        for number, site in enumerate(cuts):
            before_file(folder, number).write_bytes(site.before.SerializeToString())
            after_file(folder, number).write_bytes(site.after.SerializeToString())
            feed = _short(site, given)
            if feed is not None:
                write_values(given_file(folder, number), [feed])
        try:
            answers = ask(TASK, folder, request, Limits(SECONDS))["certificates"]
        except EngineFailed as error:
            return [Proof(Certificate(Verdict.INCONCLUSIVE, reason=error.message)) for _ in cuts]
        return [
            Proof(
                named(certificate_of(told), site.names),
                _long(site, failing_file(folder, number)),
            )
            for number, (site, told) in enumerate(zip(cuts, answers, strict=True))
        ]


def certificate_of(told: Mapping[str, Any]) -> Certificate:
    """Return a certificate from its fields, the status as text."""
    fields: dict[str, Any] = {**told, "status": Verdict(told["status"])}
    return Certificate(**fields)


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
