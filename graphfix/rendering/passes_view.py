"""Passes as text and as JSON: the list, and the page of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphfix.rendering.as_json import Json
from graphfix.rendering.style import PLAIN, Style, count, join, labelled, table, wrap
from graphfix.report import Accuracy

if TYPE_CHECKING:
    from graphfix.authoring.declaring import Option, Pass

_OWN = "of your own"


def by_family(passes: Iterable[Pass]) -> dict[str, list[Pass]]:
    """Return the passes by family, in the order of lists."""
    families: dict[str, list[Pass]] = {}
    for known in passes:
        families.setdefault(known.family or _OWN, []).append(known)
    return {name: families[name] for name in sorted(families, key=lambda n: (n == _OWN, n))}


def families_text(passes: Iterable[Pass], *, style: Style = PLAIN) -> str:
    """Return how many passes each family has, and how to see more."""
    families = by_family(passes)
    total = sum(map(len, families.values()))
    title = f"{count(total, 'pass', 'passes')} in {count(len(families), 'family', 'families')}"
    counts = ", ".join(f"{name} {len(members)}" for name, members in families.items())
    lines = [style.paint(title, "bold"), *wrap(counts, "  "), ""]
    rows = (
        ("graphfix passes NAME", "what one pass does, what it refuses, its options"),
        ("graphfix passes --family NAME", "the passes of a family"),
        ("graphfix passes --grep TEXT", "those whose name, summary or operators hold a text"),
        ("graphfix passes -v", "all of them"),
    )
    return join([*lines, *table(rows)])


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def matching(passes: Sequence[Pass], text: str) -> list[Pass]:
    """Return the passes that a text is about: whole words, or else a part of any.

    Looked at are the name, the summary, the operators and the features: ``Mod`` is a word of
    ``op:Mod`` and ``mod-elimination``, ``reduce`` one of ``ReduceSum``.
    """
    wanted = _words(text)
    whole = [
        known
        for known in passes
        if any(text.lower() == op.lower() for op in _operators(known))
        or any(_holds(each, wanted) for each in _said(known))
    ]
    return whole or [p for p in passes if any(text.lower() in e.lower() for e in _said(p))]


def _said(known: Pass) -> tuple[str, ...]:
    return (known.id, known.summary, *_operators(known), *known.removes)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _holds(text: str, wanted: Sequence[str]) -> bool:
    """Say whether words are in a text, one after the other."""
    words, count = _words(text), len(wanted)
    return bool(wanted) and any(
        words[at : at + count] == wanted for at in range(len(words) - count + 1)
    )


def passes_text(passes: Iterable[Pass], *, style: Style = PLAIN) -> str:
    """Return the passes by family, one line each."""
    families = by_family(passes)
    lines: list[str] = []
    for family in families:
        lines += [style.paint(family, "bold")]
        lines += table([(known.id, known.summary) for known in families[family]])
        lines.append("")
    total = sum(len(members) for members in families.values())
    if not total:
        return "No pass has that in its name, its summary, its operators or its features."
    lines += wrap(f"{count(total, 'pass', 'passes')}; `graphfix passes NAME` explains one.")
    return join(lines)


def pass_text(known: Pass, *, style: Style = PLAIN) -> str:
    """Return the page of one pass: how it is declared, its options, its documentation."""
    lines = [style.paint(known.id, "bold")]
    lines += labelled("family", known.family or _OWN, indent=2)
    lines += labelled("accuracy", _accuracy(known), indent=2)
    lines += labelled("matches", ", ".join(_operators(known)) or "whole graphs", indent=2)
    lines += labelled("opsets", _opsets(known), indent=2)
    lines += labelled("removes", ", ".join(known.removes), indent=2)
    lines += labelled("emits", ", ".join(known.emits), indent=2)
    lines += labelled("claims", ", ".join(sorted(known.claims)), indent=2)
    lines += labelled("file", known.source, indent=2)
    if known.options:
        lines += ["", style.paint("Options", "bold")]
        for name, option in known.options.items():
            form = f"--option {known.id}.{name}={_type(option).upper()}"
            lines += [
                f"  {form}",
                *wrap(f"{option.help.rstrip('.')}. Default: {option.default}.", "      "),
            ]
    lines += ["", *known.page.splitlines()]
    return join(lines)


def _accuracy(known: Pass) -> str:
    """Return the label of a pass, which its places may have to lower."""
    text = known.page.partition("\nAccuracy:")[2].partition("\nReferences:")[0]
    places = known.accuracy is Accuracy.EXACT and Accuracy.APPROXIMATE in text.lower()
    lower = f"; {Accuracy.APPROXIMATE} in some places, see Accuracy below" if places else ""
    return f"{known.accuracy}{lower}"


def pass_json(known: Pass) -> Json:
    """Return one pass as `graphfix passes --json` has it."""
    return {
        "id": known.id,
        "family": known.family,
        "summary": known.summary,
        "accuracy": str(known.accuracy),
        "matches": _operators(known),
        "since_opset": known.since or None,
        "until_opset": known.until or None,
        "removes": list(known.removes),
        "emits": list(known.emits),
        "claims": sorted(known.claims),
        "options": [
            {
                "name": name,
                "type": _type(option),
                "default": option.default,
                "help": option.help,
            }
            for name, option in known.options.items()
        ],
        "doc": known.page,
        "source": known.source,
    }


def _operators(known: Pass) -> list[str]:
    return [f"{domain}::{op}" if domain else op for domain, op in known.matches]


def _opsets(known: Pass) -> str:
    if known.since and known.until:
        return f"{known.since} to {known.until}"
    if known.since:
        return f"{known.since} and newer"
    return f"up to {known.until}" if known.until else ""


def _type(option: Option) -> str:
    return option.type.__name__
