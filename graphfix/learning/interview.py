"""What an engine is asked in which order, each question by what was said of those before.

First each operator at its newest form, in plain ways until one is taken. From that one, one factor
at a time is another: attributes, ranks, texts, element types. Then the older forms, inputs that are
computed, operators of com.microsoft, and two factors at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product

from graphfix.learning.constants import constant_inputs
from graphfix.learning.contrib import contrib_operators
from graphfix.learning.limits import Limits
from graphfix.learning.questions import RANKS, TYPES, Entry, Factors, entries, forms_in
from graphfix.learning.record import Record
from graphfix.learning.verdicts import FAILED

_FIRST_TYPES = ("float", "int64", "bool", "int32", "uint8", "int8")
_INDICES = ("int64", "int32")
_CROSSED = ("float", "float16", "int64", "int32", "bool")  # types in pairs with other traits
_PATIENCE = 8  # refusals of a form, of different types, ranks and texts
_OLDER = 3


def interview(
    record: Record, limits: Limits, say: Callable[[str], None], only: Collection[str] = ()
) -> None:
    """Ask all questions, those first that are about operators that networks have.

    Args:
        record: Takes the answers.
        limits: What the engine takes of any model.
        say: Takes a line on what is being done.
        only: The operators that are asked about; all where there are none.

    Raises:
        BudgetSpent: There is no time for more.
        NoEngine: The engine does not start.
    """
    known = [entry for entry in entries() if not only or entry.op in only]
    for usual in (True, False):
        asked = [entry for entry in known if entry.usual is usual]
        if asked:
            _about(record, limits, say, asked)


def _about(
    record: Record, limits: Limits, say: Callable[[str], None], known: Sequence[Entry]
) -> None:
    lowest, highest = limits.opsets
    say(f"asking about {len(known)} operators")
    bases = {entry.op: _first(record, entry, lowest, highest) for entry in known}
    taken = [(entry, base) for entry in known if (base := bases[entry.op]) is not None]
    say(f"{len(taken)} are taken; asking about their attributes, ranks and types")
    for entry, base in taken:
        for factors in _varied(entry, base):
            record.about(entry, factors)
    say("asking about older forms and inputs that are computed")
    for entry, base in taken:
        for opset in reversed(forms_in(entry.op, lowest, highest).values()):
            if opset != base.opset:
                _older(record, entry, replace(base, opset=opset))
    constant_inputs(record, limits, {entry.op for entry, _ in taken})
    for entry, base in taken:
        for factors in _crossed(entry, base):
            record.about(entry, factors)
    contrib_operators(record, limits)
    for entry, base in taken:
        for both, *each in _pairs(entry, base):
            taken_alone = [_is_taken(record, entry, factors) for factors in each]
            # An attribute may be refused for the type alone: fmod = 0 of Mod is for integers.
            typed = both.attributes != base.attributes and both.first != base.first
            if all(taken_alone) or (typed and any(taken_alone)):
                record.about(entry, both)


def _first(record: Record, entry: Entry, lowest: int, highest: int) -> Factors | None:
    """Return the plainest question of the newest form that is taken; None where none is."""
    opsets = sorted(forms_in(entry.op, lowest, highest).values(), reverse=True)
    for place, opset in enumerate(opsets):
        found = _taken(record, entry, opset, _PATIENCE if not place else _OLDER)
        if found is not None:
            return found
    return None


def _taken(record: Record, entry: Entry, opset: int, patience: int) -> Factors | None:
    refused = 0
    for factors in plainly(entry, opset):
        row = record.about(entry, factors)
        if row is None:
            continue
        if row.verdict not in FAILED:
            return factors
        refused += 1
        if refused >= patience:
            return None
    return None


def plainly(entry: Entry, opset: int) -> Iterator[Factors]:
    """Walk questions, those first that differ in what an engine most often minds."""
    types = _FIRST_TYPES if entry.varied == "T" else ("float",)
    # No type is tried at more than three places before the next one is.
    for start in (0, 3):
        for kind in types:
            yield from [*_places(entry, opset, kind)][start : start + 3]


def _places(entry: Entry, opset: int, kind: str) -> Iterator[Factors]:
    second = "int64" if entry.varied == "T" else "int32"
    for text, form in enumerate(entry.texts):
        for rank in RANKS if "[S]" in form else (-1,):
            yield Factors(text, 0, kind, second, rank, opset)


def _varied(entry: Entry, base: Factors) -> Iterator[Factors]:
    """Walk what differs from a question that is taken in one factor."""
    text = entry.texts[base.text]
    for number in range(1, len(entry.attributes)) if "<@>" in text else ():
        yield replace(base, attributes=number)
    for rank in RANKS if "[S]" in text else ():
        yield replace(base, rank=rank)
    for number, other in enumerate(entry.texts):
        yield replace(base, text=number, rank=_rank_for(other, base.rank))
    for kind in TYPES if _has(text, "T") else ():
        yield replace(base, first=kind)
    seconds: Sequence[str] = TYPES[:-1] if entry.varied == "U" else _INDICES
    for kind in seconds if _has(text, "U") else ():
        yield replace(base, second=kind)


def _crossed(entry: Entry, base: Factors) -> Iterator[Factors]:
    """Walk the attributes in the other texts."""
    for number, text in enumerate(entry.texts):
        for attributes in range(1, len(entry.attributes)) if "<@>" in text else ():
            rank = _rank_for(text, base.rank)
            yield replace(base, text=number, attributes=attributes, rank=rank)


def _pairs(entry: Entry, base: Factors) -> Iterator[tuple[Factors, Factors, Factors]]:
    """Walk what differs in two factors, with what differs in each of them alone."""
    text = entry.texts[base.text]
    attributes = range(1, len(entry.attributes)) if "<@>" in text else ()
    ranks = RANKS if "[S]" in text else ()
    kinds = _CROSSED if _has(text, "T") else ()
    by_attribute = [("attributes", each) for each in attributes]
    by_rank = [("rank", each) for each in ranks]
    by_kind = [("first", each) for each in kinds]
    for ones, twos in ((by_attribute, by_rank), (by_attribute, by_kind), (by_rank, by_kind)):
        for (name, one), (other, two) in product(ones, twos):
            first, second = _with(base, name, one), _with(base, other, two)
            if base not in (first, second):
                yield _with(first, other, two), first, second


def _with(factors: Factors, name: str, value: object) -> Factors:
    return replace(factors, **{name: value})  # type: ignore[arg-type]


def _is_taken(record: Record, entry: Entry, factors: Factors) -> bool:
    row = record.about(entry, factors)
    return row is not None and row.verdict not in FAILED


def _older(record: Record, entry: Entry, factors: Factors) -> None:
    """Ask about another form, as the newest one was taken, and in a few others."""
    row = record.about(entry, factors)
    if row is None or row.verdict in FAILED:
        _taken(record, entry, factors.opset, _OLDER)


def _rank_for(text: str, rank: int) -> int:
    if "[S]" not in text:
        return -1
    return rank if rank >= 0 else RANKS[0]


def _has(text: str, name: str) -> bool:
    return any(f"{before}{name}{after}" in text for before in "( %<," for after in "[ >(")
