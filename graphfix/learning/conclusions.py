"""What the answers to questions say of operators, forms, element types, ranks and attributes.

A trait, such as the type int8 of parameter T, is refused where every model that has it was refused
and one of them differs in this trait alone from a model that was taken. Two together are refused
where neither is by itself, every model that has both was refused, and one of them differs in each
alone from a model that was taken. In the same way traits are wrong among the models that were
taken. What was seen of the form that was asked about most is said of the other forms, of which a
model was taken as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct

from graphfix.engines.measured import operator_rows
from graphfix.engines.measured_traits import JOINED
from graphfix.learning import contrib
from graphfix.learning.constants import demanded
from graphfix.learning.limits import Limits
from graphfix.learning.questions import entries, forms_in
from graphfix.learning.record import Record, Row
from graphfix.learning.verdicts import EQUAL, FAILED, WRONG

Kinds = Mapping[str, Sequence[str]]
_NARROW = ("float16", "bfloat16")


class Said(Struct, frozen=True):
    """What an engine says of operators.

    Attributes:
        refused: ``Op since`` -> what is refused; see `graphfix.engines.measured`.
        wrong: The same for what is taken and computed differently.
        constants: Operator -> the inputs that have to be constant.
        contrib: The operators of com.microsoft that are taken.
        unasked: The operators that it was not asked about.
    """

    refused: Mapping[str, Kinds]
    wrong: Mapping[str, Kinds]
    constants: Mapping[str, Sequence[str]]
    contrib: tuple[str, ...]
    unasked: tuple[str, ...]

    def rows(self, newest: int) -> dict[str, dict[str, Any]]:
        """Return the ``ops`` of a profile.

        Args:
            newest: The newest opset that the engine takes.
        """
        rows = operator_rows(self.refused, self.wrong, newest)
        for op, inputs in self.constants.items():
            if rows[op]["supported"]:
                rows[op]["limits"] = [f"constant {each}" for each in inputs]
        return rows


def conclusions(record: Record, limits: Limits) -> Said:
    """Return what all answers say."""
    of_op: dict[str, list[Row]] = defaultdict(list)
    for row in record.rows.values():
        if row.op and not row.factors.free and row.name.endswith(" half") == limits.half:
            of_op[row.op].append(row)
    refused: dict[str, Kinds] = {}
    wrong: dict[str, Kinds] = {}
    for entry in entries():
        if not of_op[entry.op]:
            continue
        forms = forms_in(entry.op, *limits.opsets)
        found = _of_operator(of_op[entry.op], forms)
        for table, said in zip((refused, wrong), found, strict=True):
            table.update({f"{entry.op} {since}": kinds for since, kinds in said.items()})
    constants: dict[str, list[str]] = defaultdict(list)
    for op, name in demanded(record):
        constants[op].append(name)
    unasked = [op for op in operator_rows({}, {}, limits.opsets[1]) if not of_op[op]]
    return Said(refused, wrong, constants, tuple(contrib.taken(record)), tuple(unasked))


def _of_operator(
    rows: Sequence[Row], forms: Iterable[int]
) -> tuple[dict[int, Kinds], dict[int, Kinds]]:
    """Return what is refused and what is wrong of each form; nothing of a trait: the whole."""
    by_form: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        by_form[row.since].append(row)
    taken = {since: [r for r in each if r.verdict not in FAILED] for since, each in by_form.items()}
    if not any(taken.values()):
        return {since: {} for since in forms}, {}
    main = max(by_form, key=lambda since: (len(taken[since]), since))
    kinds = blamed(by_form[main], lambda row: row.verdict in FAILED)
    odd = _odd(taken[main])
    refused: dict[int, Kinds] = {}
    wrong: dict[int, Kinds] = {}
    for since in forms:
        if since in by_form and not taken[since]:
            refused[since] = {}
            continue
        if kinds:
            refused[since] = kinds
        judged = _telling(taken.get(since) or taken[main])
        if all(row.verdict == WRONG for row in judged):
            wrong[since] = {}
        elif odd:
            wrong[since] = odd
    return refused, wrong


def _telling(rows: Sequence[Row]) -> Sequence[Row]:
    """Leave out what looks right in 16 bits, which are compared loosely, where there is more."""
    kept = [row for row in rows if row.verdict != EQUAL or row.factors.first not in _NARROW]
    return kept or rows


def _odd(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the traits that are wrong; numbers of 16 bits show it of their type alone."""
    exact = [row for row in rows if row.factors.first not in _NARROW]
    found = blamed(exact, lambda row: row.verdict == WRONG)
    for name, values in blamed(rows, lambda row: row.verdict == WRONG).items():
        narrow = [value for value in values if value in _NARROW]
        if narrow:
            found[name] = sorted({*found.get(name, ()), *narrow})
    return found


def blamed(rows: Sequence[Row], bad: Callable[[Row], bool]) -> dict[str, list[str]]:
    """Return the traits that make rows bad: see the module.

    Args:
        rows: Of one form.
        bad: Whether a row is.
    """
    having: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        for trait in row.traits.items():
            having[trait].append(row)
    suspects = {trait for trait, those in having.items() if all(map(bad, those))}
    shown = {
        trait
        for good in rows
        if not bad(good)
        for row in rows
        if bad(row) and (trait := _only_difference(row, good)) in suspects
    }
    found: dict[str, list[str]] = defaultdict(list)
    for name, value in sorted(shown | _pairs(rows, bad, shown)):
        found[name].append(value)
    return dict(found)


def _pairs(
    rows: Sequence[Row], bad: Callable[[Row], bool], shown: Collection[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return pairs of traits that make rows bad which no trait by itself does."""
    good = [row for row in rows if not bad(row)]
    found: set[tuple[str, str]] = set()
    for row in rows:
        if not bad(row) or any(trait in shown for trait in row.traits.items()):
            continue
        alone = sorted({trait for each in good if (trait := _only_difference(row, each))[0]})
        for one, two in combinations(alone, 2):
            those = [each for each in rows if {one, two} <= set(each.traits.items())]
            if all(map(bad, those)):
                found.add((f"{one[0]}{JOINED}{two[0]}", f"{one[1]}{JOINED}{two[1]}"))
    return found


def _only_difference(row: Row, good: Row) -> tuple[str, str]:
    """Return the trait in which a bad row differs from a good one; empty where more is another."""
    if len(list(_differing(row, good))) > 1:
        return "", ""
    names = row.traits.keys() | good.traits.keys()
    several = [name for name in names if row.traits.get(name) != good.traits.get(name)]
    if len(several) != 1 or several[0] not in row.traits:
        return "", ""
    return several[0], row.traits[several[0]]


def _differing(row: Row, good: Row) -> Iterator[str]:
    one, two = row.factors, good.factors
    for name in ("attributes", "first", "second", "opset"):
        if getattr(one, name) != getattr(two, name):
            yield name
    if (one.text, one.rank) != (two.text, two.rank):
        yield "rank"


def right(record: Record) -> int:
    """Return how many questions were answered rightly."""
    return sum(row.verdict == EQUAL for row in record.rows.values())
