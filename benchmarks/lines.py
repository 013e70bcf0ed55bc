"""What the lines of a checkout are, by package: code, docstrings, comments, blank, data.

    python -m benchmarks.lines [REVISION] [-o benchmarks/results/lines.md]

The product is `graphfix` and `passes`, the tests are `tests`; both are next to their budgets and
next to an earlier commit. `lines.toml` says of the packages that hold the most what they are for.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from benchmarks import RESULTS, ROOT

BEFORE = "d750cd2a"
BUDGETS = {"product": 135_000, "tests": 75_000}
_PARTS = {"product": ("graphfix", "passes"), "tests": ("tests",)}
_DATA = frozenset((".toml", ".txt", ".json", ".j2", ".css", ".js"))
_SPLIT = frozenset(("graphfix/engines", "graphfix/proving", "tests/passes"))
_LAYOUT = frozenset(
    (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
)
_KINDS = ("code", "docstring", "comment", "blank", "data")
_SHOWN = 1_000  # packages with fewer lines share a row


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one package by kind, and how many files they are in."""

    files: int
    kinds: Counter[str]

    @property
    def total(self) -> int:
        """All lines of Python and of data."""
        return self.kinds.total()

    def __add__(self, other: Lines) -> Lines:
        """Count both."""
        return Lines(self.files + other.files, self.kinds + other.kinds)


def kinds_of(source: str) -> Counter[str]:
    """Count the lines of a file of Python; a line with code and a comment is code.

    Raises:
        SyntaxError: It is no Python.
    """
    strings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str()), lineno=first, end_lineno=last):
                strings.update(range(first, (last or first) + 1))
            case _:
                pass
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    found: Counter[str] = Counter()
    for number, line in enumerate(source.splitlines(), start=1):
        if number in strings:
            found["docstring"] += 1
        elif number in code:
            found["code"] += 1
        else:
            found["comment" if line.strip() else "blank"] += 1
    return found


def counted(files: Iterator[tuple[str, str]]) -> dict[str, Lines]:
    """Count files, given by path and text, by package."""
    found: dict[str, Lines] = {}
    for name, text in files:
        kinds = kinds_of(text) if name.endswith(".py") else Counter(data=len(text.splitlines()))
        package = _package(PurePosixPath(name))
        found[package] = found.get(package, Lines(0, Counter())) + Lines(1, kinds)
    return found


def _package(path: PurePosixPath) -> str:
    """Return the folder at the second floor, at the third below packages with large ones."""
    for depth in (3, 2, 1):
        folder = "/".join(path.parts[:depth])
        if len(path.parts) > depth and (depth < 3 or "/".join(path.parts[:2]) in _SPLIT):
            return folder
    return path.parts[0]


def files_of(revision: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of the files that count, as a commit has them.

    Raises:
        subprocess.CalledProcessError: There is no such commit.
    """
    roots = [root for part in _PARTS.values() for root in part]
    command = ["git", "archive", "--format=tar", revision, *roots]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and Path(member.name).suffix in (".py", *_DATA):
                yield member.name, file.read().decode()


def table(part: str, before: Mapping[str, Lines], now: Mapping[str, Lines]) -> list[str]:
    """Return the rows of the product or of the tests, the largest packages first."""
    why: dict[str, str] = _said()["for"]
    small = Lines(0, Counter())
    rows = [
        "| package | files | code | docstring | comment | blank | data | all | before | what for |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    mine = {name: one for name, one in now.items() if name.split("/")[0] in _PARTS[part]}
    for name, lines in sorted(mine.items(), key=lambda item: -item[1].total):
        if lines.total < _SHOWN:
            small += lines
            continue
        earlier = f"{before[name].total:,}" if name in before else ""
        rows.append(_row(f"`{name}`", lines, earlier, why.get(name, "")))
    nothing = Lines(0, Counter())
    then = [one for name, one in before.items() if name.split("/")[0] in _PARTS[part]]
    rows.append(_row("packages below 1,000 lines", small, "", ""))
    rows.append(_row("all", sum(mine.values(), nothing), f"{sum(then, nothing).total:,}", ""))
    return rows


def _row(name: str, lines: Lines, earlier: str, why: str) -> str:
    kinds = " | ".join(f"{lines.kinds[kind]:,}" for kind in _KINDS)
    return f"| {name} | {lines.files} | {kinds} | {lines.total:,} | {earlier} | {why} |"


def _said() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def budget(part: str, before: Mapping[str, Lines], now: Mapping[str, Lines]) -> str:
    """Return the row of a budget, or of one folder: lines of Python and of data, before and now."""
    cells: list[str] = []
    for found in (before, now):
        roots = _PARTS.get(part, (part,))
        mine = [one for name, one in found.items() if name.split("/")[0] in roots]
        data = sum(one.kinds["data"] for one in mine)
        python = sum(one.total for one in mine) - data
        code = sum(one.kinds["code"] for one in mine)
        cells += [f"{python:,}", f"{code:,}", f"{data:,}"]
    most = f"{BUDGETS[part]:,}" if part in BUDGETS else ""
    return f"| {part} | {most} | {' | '.join(cells)} |"


def new_files(now: str) -> set[str]:
    """Return the files of the product that the earlier commit has nowhere, under no other name.

    Raises:
        subprocess.CalledProcessError: There is no such commit.
    """
    command = ["git", "diff", "-M40%", "--name-only", "--diff-filter=A", BEFORE, now, "--"]
    command += _PARTS["product"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\n") if name.endswith(".py")}


def asked_since(sizes: Mapping[str, int]) -> list[str]:
    """Return a row for each feature that came after the budgets: its files, and their lines.

    Args:
        sizes: The new files and how many lines they have.
    """
    rows = ["| issue | what | files | lines |", "|---|---|---|---|"]
    left = dict(sizes)
    for issue, what, *patterns in _said()["since"]:
        mine = [name for name in left if any(PurePosixPath(name).match(one) for one in patterns)]
        total = sum(left.pop(name) for name in mine)
        rows.append(f"| {issue} | {what} | {len(mine)} | {total:,} |")
    rows.append(f"| | others | {len(left)} | {sum(left.values()):,} |")
    return [*rows, f"| | all | {len(sizes)} | {sum(sizes.values()):,} |"]


def render(now: str) -> str:
    """Return the page: budgets, what holds them, and the packages of the product and the tests."""
    found = {which: counted(files_of(which)) for which in (BEFORE, now)}
    both = (found[BEFORE], found[now])
    new = new_files(now)
    sizes = {name: len(text.splitlines()) for name, text in files_of(now) if name in new}
    text = [
        "# Where the lines are",
        "",
        "`python -m benchmarks.lines`: lines of Python by kind, and lines of data (rules,",
        f"profiles, pairs, forms), next to {BEFORE}, the commit that the budgets were set at. A",
        "line with code and a comment is code; lines within a docstring are docstring.",
        "",
        f"| part | budget | at {BEFORE} | of it code | data | now | of it code | data |",
        "|---|---|---|---|---|---|---|---|",
        *(budget(part, *both) for part in ("product", "graphfix", "passes", "tests")),
        "",
        _said()["text"].strip(),
        "",
        f"## Files that {BEFORE} does not have",
        "",
        *asked_since(sizes),
    ]
    for part in BUDGETS:
        text += ["", f"## {part.capitalize()}", "", *table(part, *both)]
    return "\n".join([*text, ""])


def main() -> None:
    """Count, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revision", nargs="?", default="HEAD")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "lines.md")
    given = parser.parse_args()
    given.output.write_text(render(given.revision), encoding="utf-8")


if __name__ == "__main__":
    main()
