r"""Logs of public threads: does `graphfix explain` name the right rule first?

    python -m benchmarks.logs NAME=FILE.tsv ... [-o FILE]

A line of a FILE is a thread, the rules that are right (by commas; ``?`` where none is known to be),
and the log, `\n` for its lines, between tabs. The texts are other people's and are not kept here;
the list of threads and what came out is. Writes `results/logs.md`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks import RESULTS
from graphfix.explanation.answers import explain_log


@dataclass(frozen=True, slots=True)
class Row:
    """One log: the thread, what came first, whether that is right, and the command that it has."""

    thread: str
    rule: str
    right: str
    command: str = ""


def judged(line: str) -> Row:
    """Explain the log of a line."""
    thread, wanted, log = line.rstrip("\n").split("\t")
    found = explain_log(log.replace("\\n", "\n"))
    if not found.answers:
        return Row(thread, "", "none known")
    first = found.answers[0]
    rule = first.match.message.rule or ("builder" if first.advice else "")
    return Row(thread, rule, "right" if rule in wanted.split(",") else "other", first.command)


def table(sets: dict[str, list[Row]]) -> str:
    """Return the page of results."""
    lines = [
        "# Logs explained",
        "",
        "`python -m benchmarks.logs NAME=FILE.tsv ...`: the first answer of `graphfix explain` to",
        "logs of public threads, without a model and without a target. builder is a message of a",
        "builder that no rule is of, with advice.",
    ]
    for name, rows in sets.items():
        right = sum(row.right == "right" for row in rows)
        none = sum(row.right == "none known" for row in rows)
        wrong = sum(row.right == "other" and bool(row.command) for row in rows)
        lines += [
            "",
            f"{name}: {right} of {len(rows)} right, {none} not known, "
            f"{len(rows) - right - none} other, {wrong} of these with a command that is no cure.",
            "",
            "| thread | first answer | |",
            "|---|---|---|",
            *(f"| {row.thread} | {row.rule or '-'} | {row.right} |" for row in rows),
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark; see the module."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("files", nargs="+", metavar="NAME=FILE.tsv")
    options.add_argument("-o", "--output", type=Path, default=RESULTS / "logs.md")
    asked = options.parse_args()
    sets: dict[str, list[Row]] = {}
    for given in asked.files:
        name, _, path = given.partition("=")
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        sets[name] = [judged(line) for line in lines if line]
    asked.output.write_text(table(sets), encoding="utf-8")


if __name__ == "__main__":
    main()
