"""Make facts of what engines said: ``facts/kernels.json`` of a family.

    python -m benchmarks.engines.facts --family openvino 2023.0=ROWS 2024.0=ROWS 2026.4=ROWS

A form, an element type of a parameter or a rank is refused where the engine took no model that has
it, and wrong where it took some and computed none of them rightly; two models at least say so. What
explains most models is said first, and they say nothing more then: a type that comes with a refused
one is not blamed for it. Types, ranks and attributes are drawn apart from each other: a form that
is right with some attributes is neither refused nor wrong here.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from graphfix.engines.versioned import packed, written

Row = dict[str, Any]
_FAILED = ("refused", "crashed")
_SURE = 2


def facts(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what rows say of one version: see `graphfix.engines.measured`."""
    found: dict[str, Any] = {"refused": {}, "wrong": {}}
    by_form: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        by_form[row["op"], row["since"]].append(row)
    for (op, since), several in sorted(by_form.items()):
        taken = [row for row in several if row["verdict"] not in _FAILED]
        key = f"{op} {since}"
        if not taken:
            found["refused"][key] = {}
            continue
        refused = _blamed(several, lambda row: row["verdict"] in _FAILED)
        if refused:
            found["refused"][key] = refused
        if len(taken) >= _SURE and all(row["verdict"] == "wrong" for row in taken):
            found["wrong"][key] = {}
            continue
        wrong = _blamed(taken, lambda row: row["verdict"] == "wrong")
        if wrong:
            found["wrong"][key] = wrong
    return found


def _blamed(rows: Sequence[Row], bad: Callable[[Row], bool]) -> dict[str, list[str]]:
    """Return the types and ranks with which every row is bad, those of most rows first."""
    left = [row for row in rows if bad(row)]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        for trait in _traits(row):
            groups[trait].append(row)
    always = {trait: several for trait, several in groups.items() if all(map(bad, several))}
    found: dict[str, list[str]] = defaultdict(list)
    while always:
        names = {row["name"] for row in left}
        counts = {t: sum(row["name"] in names for row in rows) for t, rows in always.items()}
        # A type before a rank: a rank is seen with one type most often.
        best = max(counts, key=lambda trait: (counts[trait], trait[0] != "rank", trait))
        if counts[best] < _SURE:
            break
        found[best[0]].append(best[1])
        gone = {row["name"] for row in always.pop(best)}
        left = [row for row in left if row["name"] not in gone]
    return {key: sorted(names) for key, names in sorted(found.items())}


def _traits(row: Row) -> Iterator[tuple[str, str]]:
    for parameter, name in row["types"].items():
        if parameter and not parameter.startswith("tensor("):
            yield parameter, name
    if row["rank"] >= 0:
        yield "rank", str(row["rank"])


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--family", required=True, help="the name of its folder")
    parser.add_argument("rows", nargs="+", metavar="VERSION=ROWS", help="oldest first")
    given = parser.parse_args()
    tables: dict[str, Any] = {}
    for text in given.rows:
        version, _, path = text.partition("=")
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        table = facts([json.loads(line) for line in lines])
        tables[version] = {key: value for key, value in table.items() if value}
    target = ROOT / "graphfix" / "engines" / given.family / "facts" / "kernels.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(written(packed(tables)), encoding="utf-8")


if __name__ == "__main__":
    main()
