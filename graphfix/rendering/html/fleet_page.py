"""The page on many models: models by targets, to be filtered by finding and by operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphfix.batch.batch import Fleet
from graphfix.batch.jobs import Row
from graphfix.ir.version import __version__
from graphfix.rendering.fleet_text import WORDS
from graphfix.rendering.html.page import Answer, Card, Page, Section, Table
from graphfix.rendering.style import count, printable
from graphfix.rendering.wording import Tone

_TAGS = 16  # features that can be filtered by: those left in most models, then the commonest
_DONE = ("fine", "fixed")
_SHOWN = 2000  # of more rows, and of more models, a browser makes nothing


def fleet_page(fleet: Fleet) -> Page:
    """Return the page on a fleet."""
    done = sum(row.word in _DONE for row in fleet.rows)
    bad = [row for row in fleet.rows if row.word not in _DONE]
    lost = sum(row.word not in (*_DONE, "left") for row in fleet.rows)
    tone = Tone.GOOD if not bad else Tone.CAREFUL if not lost else Tone.BAD
    models = len({row.model for row in fleet.rows})
    changed = sum(row.places for row in fleet.rows)
    equal = sum(row.verdict == "equal" for row in fleet.rows)
    return Page(
        title=f"{count(models, 'model')} for {', '.join(fleet.targets)}",
        word=f"{done} of {len(fleet.rows)} ready",
        tone=tone,
        sentence="; ".join(f"{n} {word}" for word, n in _words(fleet.rows).items()) or "no models",
        answers=(
            Answer("Are they fixed?", f"{done} of {len(fleet.rows)}", _shares(fleet), tone),
            Answer("What changed?", count(changed, "place"), _repairs(fleet.rows), Tone.GOOD),
            Answer(
                "Can I trust them?",
                f"{equal} compared equal",
                "Each result was compared with its model on the same inputs, unless its row says "
                "otherwise.",
                Tone.GOOD if equal >= done else Tone.CAREFUL,
            ),
        ),
        facts=(
            *((target, _shares_of(words)) for target, words in fleet.words.items()),
            *_left_out(fleet),
        ),
        sections=(
            Section("cures", "The only problem left", table=_cures(fleet)),
            Section("models", "Models", cards=_cards(fleet)),
            Section("table", "Models by targets", table=_matrix(fleet)),
        ),
        version=__version__,
        groups={
            **{feature: feature for row in fleet.rows for feature in (*row.left, *row.before)},
            **dict.fromkeys(fleet.targets, "target"),
            **dict.fromkeys(WORDS, "word"),
        },
    )


def _left_out(fleet: Fleet) -> tuple[tuple[str, str], ...]:
    if len(fleet.rows) <= _SHOWN:
        return ()
    said = f"{_SHOWN} of {len(fleet.rows)} rows, what is not ready first; --json has all of them"
    return (("shown below", said),)


def _worst_first(rows: Sequence[Row]) -> list[Row]:
    """Return as many rows as are shown, in their order unless there are too many."""
    if len(rows) <= _SHOWN:
        return list(rows)
    return sorted(rows, key=lambda row: row.word in _DONE)[:_SHOWN]


def _words(rows: Sequence[Row]) -> Counter[str]:
    return Counter(row.word for row in rows)


def _shares(fleet: Fleet) -> str:
    return "; ".join(f"{target}: {_shares_of(words)}" for target, words in fleet.words.items())


def _shares_of(words: Counter[str]) -> str:
    return ", ".join(f"{n} {word}" for word, n in words.most_common())


def _repairs(rows: Sequence[Row]) -> str:
    applied: Counter[str] = Counter()
    for row in rows:
        applied.update(row.repairs)
    return ", ".join(f"{name} {n}" for name, n in applied.most_common(5)) or "nothing"


def _cures(fleet: Fleet) -> Table:
    rows = [
        (target, feature, str(n))
        for target, cures in fleet.cures.items()
        for feature, n in cures.most_common()
    ]
    rows.sort(key=lambda row: -int(row[2]))
    most = max((int(row[2]) for row in rows), default=1)
    return Table(
        ("target", "what alone blocks it", "models"),
        tuple((target, printable(feature), n) for target, feature, n in rows),
        tuple(int(row[2]) / most for row in rows),
    )


def _cards(fleet: Fleet) -> tuple[Card, ...]:
    left = Counter(feature for row in fleet.rows for feature in row.left)
    found = Counter(feature for row in fleet.rows for feature in row.before)
    shown = set(sorted({*left, *found}, key=lambda f: (-left[f], -found[f], f))[:_TAGS])
    return tuple(_card(at, row, shown) for at, row in enumerate(_worst_first(fleet.rows), 1))


def _card(at: int, row: Row, shown: set[str]) -> Card:
    tone = Tone.GOOD if row.word in _DONE else Tone.CAREFUL if row.word == "left" else Tone.BAD
    found = [(feature, n) for feature, n in row.before.items()]
    features = dict.fromkeys((*row.left, *row.before))
    return Card(
        f"m{at}",
        f"{printable(row.name)} for {row.target}",
        (row.word, row.target, *(printable(feature) for feature in features if feature in shown)),
        tone,
        (printable(row.message) if row.message else WORDS.get(row.word, row.word),),
        facts=tuple(
            (label, printable(text))
            for label, text in (
                ("model", row.model),
                ("result", row.output),
                ("compared", row.verdict),
                ("nodes", str(row.nodes) if row.nodes else ""),
                ("seconds", f"{row.seconds:.1f}"),
                ("repairs", ", ".join(f"{name} {n}" for name, n in row.repairs.items())),
            )
            if text
        ),
        table=Table(
            ("what blocked it", "nodes before", "nodes left"),
            tuple((printable(f), str(n), str(row.left.get(f, 0))) for f, n in found),
        )
        if found
        else None,
    )


def _matrix(fleet: Fleet) -> Table:
    by_model: dict[str, dict[str, str]] = {}
    for row in _worst_first(fleet.rows):
        by_model.setdefault(row.name, {})[row.target] = row.word
    return Table(
        ("model", *fleet.targets),
        tuple(
            (printable(name), *(words.get(target, "") for target in fleet.targets))
            for name, words in by_model.items()
        ),
    )
