"""The table of a sweep of certificates: what each pass's sites were certified as, and why not."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.certificates.sweep import Row, SiteRow

_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|\([^()]*\)")
_FOLDERS = re.compile(r"/\S*/(?=[^\s/]+\.onnx)")
_MOST_REPORTED = 160


@dataclass(frozen=True)
class Counts:
    """What a sweep comes to.

    Attributes:
        sites: How many sites need a certificate.
        wrong: Sites of exact passes with a mismatch, and the model and target of each.
        inconclusive: How many are.
    """

    sites: int
    wrong: tuple[tuple[Row, SiteRow], ...]
    inconclusive: int

    @property
    def share_inconclusive(self) -> float:
        """Return which part of the sites is inconclusive."""
        return self.inconclusive / self.sites if self.sites else 0.0


def counts(rows: Sequence[Row]) -> Counts:
    """Count the sites of all rows."""
    sites = [(row, site) for row in rows for site in row.sites if site.status != "none"]
    wrong = [(r, s) for r, s in sites if s.status == "mismatch" and s.accuracy == "exact"]
    return Counts(len(sites), tuple(wrong), sum(site.status == "inconclusive" for _, site in sites))


def render(rows: Sequence[Row], costs: Sequence[float], version: str) -> str:
    """Return the whole page as Markdown."""
    found = counts(rows)
    ran = [row for row in rows if not row.same_as and not row.error]
    text = [
        "# Certificates",
        "",
        f"graphfix {version}, `python -m benchmarks.certificates sweep FOLDER`: every site of",
        "every model for every profile, cut out and run before and after. A profile with the same",
        "findings and the same highest opset as one that was run on a model counts as that one.",
        "Small models come first: where a profile has fewer models, the sweep was stopped before",
        "the bigger ones.",
        "",
        f"{len({row.model for row in rows})} models, {len({row.target for row in rows})} profiles: "
        f"{len(rows)} pairs, of which {len(ran)} were run, "
        f"{sum(bool(row.same_as) for row in rows)} are the same as one that was run, and "
        f"{sum(bool(row.error) for row in rows)} gave no result.",
        "",
        f"{found.sites} sites, {len(found.wrong)} exact ones with a mismatch, {found.inconclusive} "
        f"inconclusive ({100 * found.share_inconclusive:.2f}%).",
        *_own(rows),
        "",
        *_cost(costs),
        *_profiles(rows),
        *_passes(rows),
        *_reasons(rows),
        *_mismatches(rows),
        *_errors(rows),
    ]
    return "\n".join([*text, ""])


def _own(rows: Sequence[Row]) -> list[str]:
    equal = [site for row in rows for site in row.sites if site.status == "equal"]
    own = sum(site.own > 0 for site in equal)
    samples = sum(site.samples for site in equal)
    return [f"{len(equal)} are equal on {samples} samples; {own} of them also on own values."]


def _cost(costs: Sequence[float]) -> list[str]:
    if len(costs) < 2:
        return []
    ordered = sorted(1000 * cost for cost in costs)
    places = statistics.quantiles(ordered, n=100)
    return [
        f"{len(costs)} different sites were run. CPU time of one: median "
        f"{statistics.median(ordered):.1f} ms, 95% below {places[94]:.0f} ms, longest "
        f"{ordered[-1] / 1000:.1f} s.",
        "",
    ]


def _profiles(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| profile | models | run | sites | mismatch | inconclusive |",
        "|---|---|---|---|---|---|",
    ]
    for target in dict.fromkeys(row.target for row in rows):
        mine = [row for row in rows if row.target == target]
        found = counts(mine)
        ran = sum(not row.same_as and not row.error for row in mine)
        lines.append(
            f"| {target} | {len(mine)} | {ran} | {found.sites} | {len(found.wrong)} | "
            f"{found.inconclusive} |"
        )
    return ["## By profile", "", *lines, ""]


def _passes(rows: Sequence[Row]) -> list[str]:
    table: dict[str, Counter[str]] = {}
    for row in rows:
        for site in row.sites:
            table.setdefault(site.pass_id, Counter())[site.status] += 1
    kinds = ("equal", "mismatch", "inconclusive", "lossy", "failed", "none")
    lines = [f"| pass | {' | '.join(kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for name in sorted(table):
        lines.append(f"| {name} | {' | '.join(str(table[name][kind]) for kind in kinds)} |")
    note = "`none`: what computes nothing (an order, an import, unreachable nodes) needs none."
    return ["## By pass", "", note, "", *lines, ""]


def _reasons(rows: Sequence[Row]) -> list[str]:
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for site in row.sites:
            if site.status == "inconclusive":
                found[site.pass_id, _plain(site.reason)] += 1
    if not found:
        return []
    lines = ["| pass | sites | why |", "|---|---|---|"]
    lines += [f"| {name} | {count} | {why} |" for (name, why), count in found.most_common(60)]
    return ["## Inconclusive", "", *lines, ""]


def _plain(reason: str) -> str:
    """Take names and numbers out of a reason, so that like ones are counted together."""
    text = " ".join(_NAMES.sub("…", reason).split()).replace("|", "\\|")
    return text if len(text) <= _MOST_REPORTED else text[:_MOST_REPORTED] + " …"


def _mismatches(rows: Sequence[Row]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for row in rows:
        for site in row.sites:
            if site.status in ("mismatch", "failed"):
                why = _without_folders(" ".join(site.reason.split())).replace("|", "\\|")[:400]
                groups.setdefault(
                    f"| {row.model} | {site.pass_id} | {site.op} | {why} |", []
                ).append(row.target)
    if not groups:
        return []
    head = ["| model | pass | node | what was wrong | profiles |", "|---|---|---|---|---|"]
    return ["## Rolled back", "", *head, *_with_profiles(groups), ""]


def _errors(rows: Sequence[Row]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row.error:
            why = _without_folders(row.error).replace("|", " ")
            groups.setdefault(f"| {row.model} | {why} |", []).append(row.target)
    if not groups:
        return []
    head = ["| model | why | profiles |", "|---|---|---|"]
    return ["## No result", "", *head, *_with_profiles(groups), ""]


def _with_profiles(groups: dict[str, list[str]]) -> list[str]:
    return [f"{line} {', '.join(dict.fromkeys(targets))} |" for line, targets in groups.items()]


def _without_folders(text: str) -> str:
    """Take the folders of one machine out of a message."""
    return _FOLDERS.sub("", text)
