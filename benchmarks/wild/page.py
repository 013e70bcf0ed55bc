"""The Markdown of the results, both halves apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from benchmarks.corpus.cells import cell, share
from benchmarks.wild.judging import CONSENT, TOOLS
from benchmarks.wild.listing import Network
from benchmarks.wild.rows import FOUND, Fact, Rows

_HALVES: dict[str, Callable[[Network], bool]] = {
    "all": lambda network: True,
    "seen": lambda network: network.seen,
    "unseen": lambda network: not network.seen,
}
_SHOWN = 2
_TOOLS = "The other tools, of the networks that run"


@dataclass(frozen=True)
class _Judged:
    network: Network
    runs: bool
    row: Fact
    rejected: bool


def page(networks: Sequence[Network], rows: Rows, earlier: str = "") -> str:
    """Return the whole page.

    Args:
        networks: The list.
        rows: What was measured; targets without a row for each network of it are reported so.
        earlier: The page as it was; what it says of targets that have no row now is kept.
    """
    kinds = [kind for kind in rows.kinds() if kind not in ("runs", "tools")]
    targets = [kind for kind in kinds if not kind.endswith(FOUND)]
    found = [kind for kind in kinds if kind.endswith(FOUND)]
    repositories = {network.repository for network in networks}
    lines = [
        "# Networks of public repositories",
        "",
        "`python -m benchmarks.wild run FOLDER --target T`, `tools FOLDER --python PYTHON`, `page`",
        "",
        f"{len(networks)} networks of {len(repositories)} repositories (`benchmarks/wild.toml`), "
        "none of which is in the corpus that graphfix was built with. Half of them, by hash, are "
        "never looked into: of these only the numbers are told.",
        "",
        "rejected: `check` finds something of severity reject, wrong or builder in the file as it "
        "is. done: nothing of these is left, exit code 0, outputs equal; where a refusal asks for "
        f"`{CONSENT}` (texts and maps, which engines lack, become numbers and tensors), it is run "
        "again with that. do-nothing: nothing found in the file as it is. The other tools: "
        "nothing found in what they write, and its outputs equal.",
        "",
        *_rejected(networks, rows, found),
        *_of_other_tools(networks, rows, [kind.removesuffix(FOUND) for kind in found]),
    ]
    sections = _sections(earlier)
    for target in targets:
        judged = [j for n in networks if (j := _judged(n, rows, target)) is not None]
        section = (*_numbers(target, judged, len(networks)), *_not_done(judged))
        sections[target] = "\n".join(section)
    lines += [f"## {target}\n{sections[target]}" for target in sorted(sections)]
    return "\n".join(lines)


def _sections(earlier: str) -> dict[str, str]:
    """Return what a page says of each target."""
    parts = (part.partition("\n") for part in f"\n{earlier}".split("\n## ")[1:])
    return {title: f"{text.rstrip()}\n" for title, _, text in parts if title != _TOOLS}


def _rejected(networks: Sequence[Network], rows: Rows, kinds: Sequence[str]) -> Iterator[str]:
    """Yield how many networks each target rejects as they are."""
    yield from ("| rejected as they are, for | networks | seen | unseen |", "|---|---|---|---|")
    for chosen in (*([kind] for kind in kinds), kinds):
        name = " or ".join(kind.removesuffix(FOUND) for kind in chosen)
        those = [n for n in networks if any(rows.get(k, n.sha256).get("found") for k in chosen)]
        halves = [sum(n.seen is seen for n in those) for seen in (True, False)]
        yield f"| {name} | {len(those)} | {halves[0]} | {halves[1]} |"
    yield ""


def _of_other_tools(
    networks: Sequence[Network], rows: Rows, targets: Sequence[str]
) -> Iterator[str]:
    """Yield the results of other tools for the networks that run, where any was asked."""
    known = {
        n: row for n in networks if TOOLS.keys() <= (row := rows.get("tools", n.sha256)).keys()
    }
    if not known:
        return
    yield from (f"## {_TOOLS}", "")
    run = sum(bool(rows.get("runs", n.sha256).get("runs")) for n in networks)
    if len(known) < run:
        yield from (f"{len(known)} of {run} measured, those that are rejected first.", "")
    yield f"| for | half | files | asked of | do-nothing | {' | '.join(TOOLS)} |"
    yield "|---" * (len(TOOLS) + 5) + "|"
    for target, (half, belongs) in product(targets, _HALVES.items()):
        mine = [n for n in known if belongs(n) and all(target in known[n][tool] for tool in TOOLS)]
        rejected = [n for n in mine if rows.get(target + FOUND, n.sha256).get("found")]
        for name, group in (("all", mine), ("rejected", rejected)):
            done = [sum(known[n][tool][target] for n in group) for tool in TOOLS]
            idle = sum(n not in rejected for n in group)
            cells = [target, half, name, str(len(group)), *map(str, (idle, *done))]
            yield f"| {' | '.join(cells)} |"
    yield ""


def _judged(network: Network, rows: Rows, target: str) -> _Judged | None:
    row, runs = rows.get(target, network.sha256), rows.get("runs", network.sha256)
    if not row or not runs:
        return None
    # The row of a run that ended early (out of time, a damaged file) has nothing before it.
    rejected = bool(rows.get(target + FOUND, network.sha256).get("found") or row["before"])
    return _Judged(network, bool(runs["runs"]), row, rejected)


def _numbers(target: str, judged: Sequence[_Judged], whole: int) -> Iterator[str]:
    yield ""
    if len(judged) < whole:
        yield from (f"{len(judged)} of {whole} measured, those that are rejected first.", "")
    known = Counter(str(j.row.get("revision", "")) for j in judged)
    if len(known) > 1 or "" not in known:
        revisions = (
            f"{count} of {name or 'an earlier one'}" for name, count in known.most_common()
        )
        yield from (f"Measured with these revisions of graphfix: {', '.join(revisions)}.", "")
    titles = ("half", "files", "number", "done", f"done with `{CONSENT}`", "do-nothing")
    yield f"| {' | '.join(titles)} |"
    yield "|---" * len(titles) + "|"
    for half, belongs in _HALVES.items():
        mine = [j for j in judged if belongs(j.network)]
        groups = {
            "all": mine,
            "rejected": [j for j in mine if j.rejected],
            "that run": [j for j in mine if j.runs],
            "rejected, that run": [j for j in mine if j.rejected and j.runs],
        }
        for name, group in groups.items():
            done = sum(j.row["done"] for j in group)
            idle = sum(not j.rejected for j in group)
            agreed = sum(j.row["consent"] for j in group)
            shares = [share(part, len(group)) for part in (done, agreed)]
            cells = [str(len(group)), *shares, str(idle)]
            yield f"| {half} | {name} | {' | '.join(cells)} |"
    yield ""


def _not_done(judged: Sequence[_Judged]) -> Iterator[str]:
    left = [j for j in judged if j.network.seen and not j.row["consent"]]
    kinds = Counter(kind for j in left for kind in set(j.row["after"]))
    yield from ("Not done, of the half that is looked into:", "")
    yield from ("| network | runs | why |", "|---|---|---|")
    for j in left:
        name = f"{j.network.repository}: {j.network.path}"
        yield f"| {cell(name)} | {'yes' if j.runs else 'no'} | {cell(_why(j.row), 400)} |"
    yield from ("", "| left | networks |", "|---|---|")
    yield from (f"| {cell(kind)} | {count} |" for kind, count in kinds.most_common())
    yield ""


def _why(row: Fact) -> str:
    because = row["left_because"]
    if not because:
        return row["reason"] or f"exit code {row['code']}, {row['verification']}"
    more = len(because) - _SHOWN
    shown = "; ".join(because[:_SHOWN])
    return f"{shown}; and {more} more kinds" if more > 0 else shown
