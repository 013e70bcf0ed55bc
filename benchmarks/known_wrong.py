"""Count what engines are known to take and compute wrongly.

    python -m benchmarks.known_wrong > benchmarks/results/known-wrong.md

A row for each family: its rules of severity ``wrong`` over all its targets; those whose source
names a public thread or release note, and those whose source names that or a file of the engine's
source; those that were seen here, in whichever release; those whose feature an exact pass removes;
and of the networks of the open corpus that an engine here computes right, how many are called
wrong (from ``results/engines-*.md``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from benchmarks import ROOT
from graphfix.authoring.registry import shipped_passes
from graphfix.engines.known_wrong import KnownWrong, known_wrong
from graphfix.engines.rule import Rule
from graphfix.engines.targets import load_target, target_names
from graphfix.pipeline.removers import passes_removing
from graphfix.report import Accuracy

_THREAD = re.compile(r"\b(issues?|pull requests?|release notes)\b")
_LINE = re.compile(r"\w\.(?:c|cc|cpp|h|hpp|py|rs)(?::\d| \()|\w\.(?:cc|cpp|hpp|py|rs)\b")
_FALSE = re.compile(r"called wrong though it is right (\d+) of (\d+)")
_ALONE = re.compile(r"of (\d+) more a node that is called wrong is so alone")
_COLUMNS = (
    "entries", "with a thread", "with a public source", "seen here", "with an exact repair"
)  # fmt: skip


def rules() -> dict[tuple[str, str], KnownWrong]:
    """Return family and id -> what is known, once for all targets of a family."""
    found: dict[tuple[str, str], KnownWrong] = {}
    for name in target_names():
        target = load_target(name)
        for known in known_wrong(target):
            found.setdefault((target.family, known.rule.id), known)
    return found


def counted(known: KnownWrong) -> Iterator[str]:
    """Yield the columns that count an entry."""
    yield _COLUMNS[0]
    if _THREAD.search(known.rule.source):
        yield _COLUMNS[1]
    if _THREAD.search(known.rule.source) or _LINE.search(known.rule.source):
        yield _COLUMNS[2]
    if known.run:
        yield _COLUMNS[3]
    if any(is_repaired(known.rule, *key) for key in known.rule.ops or (("", ""),)):
        yield _COLUMNS[4]


def is_repaired(rule: Rule, domain: str, op: str) -> bool:
    """Say whether an exact pass removes what a rule finds at an operator."""
    feature = rule.feature.replace("{op}", f"{domain}::{op}" if domain else op)
    found = passes_removing(shipped_passes(), rule.id, feature, op, domain)
    return any(known.accuracy is Accuracy.EXACT and not known.last_resort for known in found)


def false_alarms() -> dict[str, str]:
    """Return family -> what its newest page says of networks that are right."""
    said: dict[str, str] = {}
    for path in sorted((ROOT / "benchmarks" / "results").glob("engines-*.md")):
        match = _FALSE.search(path.read_text("utf-8"))
        if match is not None:
            target = load_target(path.stem.removeprefix("engines-"))
            alone = _ALONE.search(path.read_text("utf-8"))
            more = f", {alone[1]} more by what a node does alone" if alone else ""
            said[target.family] = f"{match[1]} of {match[2]}{more} ({target.name})"
    return said


def page() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "# What engines are known to compute wrongly"
    yield ""
    yield "`python -m benchmarks.known_wrong`: the rules of severity `wrong` of a family's targets."
    yield "A public source is a thread, a release note or a line of the engine's source. The last"
    yield "column is of the networks of the open corpus that the engine computes right, as its page"
    yield "`engines-*.md` says, which may be older than the newest rules. Counted apart are those"
    yield "in which the engine computes a node wrongly alone that is called so, and whose outputs,"
    yield "of untrained networks, do not show it: the limits of the Clips of mobilenetv2, the"
    yield "average of efficientnet. Both together are above 1% for OpenCV 5 alone."
    yield ""
    yield f"| family | {' | '.join(_COLUMNS)} | called wrong though right |"
    yield f"|---|{'---|' * (len(_COLUMNS) + 1)}"
    counts: dict[str, Counter[str]] = {}
    for (family, _), known in rules().items():
        counts.setdefault(family, Counter()).update(counted(known))
    alarms = false_alarms()
    for family, count in sorted(counts.items()):
        cells = (*(str(count[column]) for column in _COLUMNS), alarms.get(family, ""))
        yield f"| {family} | {' | '.join(cells)} |"
    whole: Counter[str] = sum(counts.values(), start=Counter[str]())
    yield f"| all | {' | '.join(str(whole[column]) for column in _COLUMNS)} | |"


if __name__ == "__main__":
    for line in page():
        print(line)
