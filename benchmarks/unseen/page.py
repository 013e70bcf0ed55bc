"""The page on unseen networks: what is called fixed and is not, by rules alone and when asked."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.unseen.row import Row
from benchmarks.unseen.tables import line

_HEAD = """# Networks that no rule was written for

`PYTHON -m benchmarks.unseen.generate FOLDER` (a Python with PyTorch), then
`python -m benchmarks.unseen FOLDER --engine {engines}`: random networks by seed,
exported and run in the real engines. By rules: the run does not ask the engine, as on a machine
without it.

{table}
"Not so": called fixed (exit code 0, with the consent to types of inputs that it asks for), and
refused or computed differently by the engine. `check` agrees where it ends with 0 and the engine
computes the same from the network as it is, or neither. What asking takes is in
[asking_times.md](asking_times.md): here the command is forked from an interpreter that has
imported everything, which no user has.
"""
_LAST = """
## The last draw

Seeds from {first} on, run after what the draws before had shown was mended, and before anything
was looked into.

{table}"""
_DRAW = 1000  # seeds in a draw
_SEED = re.compile(r"random(\d+)")
_COLUMNS = (
    "engine",
    "networks",
    "equal as they are",
    "`check` agrees",
    "fixed by rules",
    "not so",
    "equal after",
    "fixed when asked",
    "not so",
    "equal after",
    "questions",
)


def page(rows: Sequence[Row]) -> str:
    """Return the page of all rows."""
    engines = list(dict.fromkeys(row.engine for row in rows))
    text = _HEAD.format(engines=" ".join(engines), table=_table(rows))
    draws = {draw_of(row) for row in rows}
    if len(draws) > 1:
        last = max(draws)
        text += _LAST.format(
            first=last * _DRAW, table=_table([row for row in rows if draw_of(row) == last])
        )
    failing = [row for row in rows if row.wrong or row.asked_wrong]
    if not failing:
        return text
    head = ("engine", "network", "by rules", "when asked", "the engine's words")
    lines = [line(head), line(["---"] * len(head))]
    for row in failing:
        by_rules, asked = f"{row.code}, {row.after}", f"{row.asked_code}, {row.asked_after}"
        lines.append(line((row.engine, row.file, by_rules, asked, row.words.replace("|", "/"))))
    return f"{text}\n## Called fixed, and not so\n\n{''.join(lines)}"


def draw_of(row: Row) -> int:
    """Return the thousand that the seed of a network is of; 0 for other networks."""
    found = _SEED.match(row.file)
    return int(found[1]) // _DRAW if found else 0


def _table(rows: Sequence[Row]) -> str:
    """Return the counts of each engine."""
    engines = dict.fromkeys(row.engine for row in rows)
    lines = [line(_COLUMNS), line(["---"] * len(_COLUMNS))]
    lines += [line(_counted([r for r in rows if r.engine == engine])) for engine in engines]
    return "".join(lines)


def _counted(rows: Sequence[Row]) -> Sequence[str]:
    agrees = sum((row.check == 0) == (row.before == "equal") for row in rows)
    return (
        rows[0].engine,
        str(len(rows)),
        _share(sum(row.before == "equal" for row in rows), len(rows)),
        _share(agrees, len(rows)),
        str(sum(row.code == 0 for row in rows)),
        str(sum(row.wrong for row in rows)),
        _share(sum(row.after == "equal" for row in rows), len(rows)),
        str(sum(row.asked_code == 0 for row in rows)),
        str(sum(row.asked_wrong for row in rows)),
        _share(sum(row.asked_after == "equal" for row in rows), len(rows)),
        str(sum(row.questions for row in rows)),
    )


def _share(count: int, of: int) -> str:
    return f"{count} ({100 * count / of:.0f}%)"
