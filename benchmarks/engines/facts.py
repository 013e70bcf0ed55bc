"""Make facts of what engines said: ``facts/kernels.json`` of a family.

    python -m benchmarks.engines.facts --family openvino 2023.0=ROWS 2024.0=ROWS 2026.4=ROWS

A form, an element type of a parameter, a rank or the value of an attribute is refused where the
engine took no model that has it, and wrong where it took some and computed none of them rightly:
two at least, and more where other models of the form fail as well, so that chance does not explain
it. What explains most models is said first, and they say nothing more then: a type that comes with
a refused one is not blamed for it. A type of which hardly any model of any operator is taken needs
no further proof.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from onnx.helper import get_attribute_value

from benchmarks import ROOT
from graphfix.engines.versions import packed, written
from graphfix.ir.schemas import form_of

Row = dict[str, Any]
_FAILED = ("refused", "crashed")
_SURE = 2
_CHANCE = 0.02
_HARDLY, _SEVERAL = 0.05, 10  # of the models that have a type; operators that have it
_TYPES = ("to", "dtype")  # what they say is an element type of the schema


def facts(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what rows say of one version: see `graphfix.engines.measured`."""
    found: dict[str, Any] = {"refused": {}, "wrong": {}}
    by_form: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        by_form[row["op"], row["since"]].append(row)
    scarce = _scarce(rows)
    for (op, since), several in sorted(by_form.items()):
        taken = [row for row in several if row["verdict"] not in _FAILED]
        key = f"{op} {since}"
        if not taken:
            found["refused"][key] = {}
            continue
        refused = _blamed(several, lambda row: row["verdict"] in _FAILED, scarce)
        if refused:
            found["refused"][key] = refused
        if len(taken) >= _SURE and all(row["verdict"] == "wrong" for row in taken):
            found["wrong"][key] = {}
            continue
        wrong = _blamed(taken, lambda row: row["verdict"] == "wrong")
        if wrong:
            found["wrong"][key] = wrong
    return found


def _right(rows: Sequence[Row]) -> set[str]:
    return {f"{row['op']} {row['since']}" for row in rows if row["verdict"] == "equal"}


def _scarce(rows: Sequence[Row]) -> frozenset[str]:
    """Return the element types that an engine hardly ever takes."""
    asked, taken = Counter[str](), Counter[str]()
    operators: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for name in set(row["types"].values()):
            asked[name] += 1
            taken[name] += row["verdict"] not in _FAILED
            operators[name].add(row["op"])
    return frozenset(
        name
        for name, several in operators.items()
        if len(several) >= _SEVERAL and taken[name] < _HARDLY * asked[name]
    )


def _blamed(
    rows: Sequence[Row], bad: Callable[[Row], bool], known: frozenset[str] = frozenset()
) -> dict[str, list[str]]:
    """Return the traits with which every row is bad, not by chance; those of most rows first.

    Args:
        rows: Of one form.
        bad: Whether a row is.
        known: Element types that are blamed in any case, where every row that has them is bad.
    """
    groups: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        for trait in _traits(row):
            groups[trait].add(row["name"])
    left = {row["name"] for row in rows if bad(row)}
    always = {trait: names for trait, names in groups.items() if names <= left}
    every = {row["name"] for row in rows}
    found: dict[str, list[str]] = defaultdict(list)
    for trait in sorted(always):
        if trait[1] in known and always[trait] & left:
            found[trait[0]].append(trait[1])
            left -= always[trait]
            every -= always[trait]
    while always:
        # A type before a rank: a rank is seen with one type most often.
        best = max(always, key=lambda t: (len(always[t] & left), t[0] != "rank", t))
        names = always.pop(best)
        rest = every - names
        chance = len(rest & left) / len(rest) if rest else 1.0
        if len(names & left) >= _SURE and chance ** len(names) < _CHANCE:
            found[best[0]].append(best[1])
            left -= names
            every -= names
    return {key: sorted(names) for key, names in sorted(found.items())}


def _traits(row: Row) -> Iterator[tuple[str, str]]:
    for parameter, name in row["types"].items():
        if parameter and not parameter.startswith("tensor("):
            yield parameter, name
    if row["rank"] >= 0:
        yield "rank", str(row["rank"])
    form = form_of(row["op"], row["since"])
    for name, formal in form.schema.attributes.items() if form is not None else ():
        if formal.type not in (formal.type.INT, formal.type.STRING) or name in _TYPES:
            continue
        value = row["attributes"].get(name)
        if value is None and formal.default_value.name:
            value = get_attribute_value(formal.default_value)
        if value is not None:
            text = value.decode() if isinstance(value, bytes) else str(value)
            if re.fullmatch(r"[\w-]+", text):
                yield name, text


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--family", required=True, help="the name of its folder")
    parser.add_argument(
        "--right", action="store_true", help="say of which forms a model was right, too"
    )
    parser.add_argument("rows", nargs="+", metavar="VERSION=ROWS", help="oldest first")
    given = parser.parse_args()
    tables: dict[str, Any] = {}
    for text in given.rows:
        version, _, path = text.partition("=")
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        several = [json.loads(line) for line in lines]
        table = facts(several)
        if given.right:
            table["right"] = {key: {} for key in sorted(_right(several))}
        tables[version] = {key: value for key, value in table.items() if value}
    target = ROOT / "graphfix" / "engines" / given.family / "facts" / "kernels.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(written(packed(tables)), encoding="utf-8")


if __name__ == "__main__":
    main()
