"""The Markdown of the results, both halves apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class _Judged:
    network: Network
    runs: bool
    row: Fact
    tools: dict[str, bool]
    rejected: bool


def page(networks: Sequence[Network], rows: Rows) -> str:
    """Return the whole page.

    Args:
        networks: The list.
        rows: What was measured; targets without a row for each network of it are told so.
    """
    kinds = [kind for kind in rows.kinds() if kind not in ("runs", "tools")]
    targets = [kind for kind in kinds if not kind.endswith(FOUND)]
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
        *_rejected(networks, rows, [kind for kind in kinds if kind.endswith(FOUND)]),
    ]
    for target in targets:
        judged = [j for n in networks if (j := _judged(n, rows, target)) is not None]
        lines += [*_numbers(target, judged, len(networks)), *_not_done(judged)]
    return "\n".join(lines)


def _rejected(networks: Sequence[Network], rows: Rows, kinds: Sequence[str]) -> Iterator[str]:
    """Yield how many networks each target rejects as they are."""
    yield from ("| rejected as they are, for | networks | seen | unseen |", "|---|---|---|---|")
    for chosen in (*([kind] for kind in kinds), kinds):
        name = " or ".join(kind.removesuffix(FOUND) for kind in chosen)
        those = [n for n in networks if any(rows.get(k, n.sha256).get("found") for k in chosen)]
        halves = [sum(n.seen is seen for n in those) for seen in (True, False)]
        yield f"| {name} | {len(those)} | {halves[0]} | {halves[1]} |"
    yield ""


def _judged(network: Network, rows: Rows, target: str) -> _Judged | None:
    row, runs = rows.get(target, network.sha256), rows.get("runs", network.sha256)
    if not row or not runs:
        return None
    said = rows.get("tools", network.sha256)
    tools = {name: bool(said[name][target]) for name in TOOLS if target in said.get(name, {})}
    # The row of a run that ended early (out of time, a damaged file) has nothing before it.
    rejected = bool(rows.get(target + FOUND, network.sha256).get("found") or row["before"])
    return _Judged(network, bool(runs["runs"]), row, tools, rejected)


def _numbers(target: str, judged: Sequence[_Judged], whole: int) -> Iterator[str]:
    yield from (f"## {target}", "")
    if len(judged) < whole:
        yield from (f"{len(judged)} of {whole} measured, those that are rejected first.", "")
    known = Counter(str(j.row.get("revision", "")) for j in judged)
    if len(known) > 1 or "" not in known:
        told = (f"{count} of {name or 'an earlier one'}" for name, count in known.most_common())
        yield from (f"Measured with these revisions of graphfix: {', '.join(told)}.", "")
    asked = [tool for tool in TOOLS if any(tool in j.tools for j in judged)]
    others = ("do-nothing", *asked)
    titles = ("half", "files", "number", "done", f"done with `{CONSENT}`", *others)
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
            tools = [_told(tool, group) for tool in asked]
            agreed = sum(j.row["consent"] for j in group)
            shares = [share(part, len(group)) for part in (done, agreed)]
            cells = [str(len(group)), *shares, str(idle), *tools]
            yield f"| {half} | {name} | {' | '.join(cells)} |"
    yield ""


def _told(tool: str, group: Sequence[_Judged]) -> str:
    known = [j.tools[tool] for j in group if tool in j.tools]
    return f"{sum(known)} of {len(known)}"


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
