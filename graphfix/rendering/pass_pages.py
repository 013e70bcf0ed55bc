"""The pages on passes in the documentation, made of the docstrings of their files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from textwrap import dedent
from typing import Any

import msgspec

from graphfix.authoring.declaring import Pass
from graphfix.authoring.pass_docs import HEADINGS
from graphfix.authoring.registry import shipped_passes
from graphfix.rendering.passes_view import pass_json
from graphfix.rendering.style import count

_CODE = ("Before:", "After:")


def own_passes() -> tuple[Pass, ...]:
    """Return the passes below ``passes/``, without those of other installed packages."""
    return tuple(known for known in shipped_passes() if known.family)


def sections(doc: str) -> dict[str, str]:
    """Return the text under each heading of a pass's docstring, in order, indentation removed.

    The summary is under the empty heading. A heading is a line of its own.
    """
    found: dict[str, list[str]] = {"": []}
    lines = found[""]
    for line in doc.strip("\n").splitlines():
        if line.strip() in HEADINGS:
            lines = found.setdefault(line.strip(), [])
        else:
            lines.append(line.rstrip())
    return {heading: dedent("\n".join(text)).strip("\n") for heading, text in found.items()}


def pages() -> Mapping[str, str]:
    """Return the text of each page by its file name: one per pass, and ``index.md``."""
    known = own_passes()
    return {**{f"{one.id}.md": page(one) for one in known}, "index.md": index(known)}


def index(passes: Sequence[Pass]) -> str:
    """Return the page that lists the passes by family."""
    lines = ["# Passes", "", "`graphfix passes` prints this list, `graphfix passes NAME` a page."]
    for family in sorted({known.family for known in passes}):
        lines += ["", f"## {family}", "", "| pass | what it does | accuracy |", "|---|---|---|"]
        lines += [
            f"| [{known.id}]({known.id}.md) | {_prose(known.summary)} | {known.accuracy} |"
            for known in passes
            if known.family == family
        ]
    return "\n".join(lines) + "\n"


def page(known: Pass) -> str:
    """Return the page of one pass."""
    return "\n".join(_lines(known)) + "\n"


def _lines(known: Pass) -> Iterator[str]:
    text = sections(known.page)
    yield from (f"# {known.id}", "", _prose(text.pop("")), "")
    facts: dict[str, Any] = pass_json(known)
    yield f"- Family: {known.family}"
    yield f"- Accuracy: {known.accuracy}, unless a site says otherwise"
    yield f"- Runs: {_WHEN[known.stage]}"
    yield f"- Matches: {_names(facts['matches']) or 'whole graphs'}"
    since, until = facts["since_opset"], facts["until_opset"]
    if since or until:
        yield f"- Opsets: {since or 'any'} to {until or 'newest'}"
    if known.removes:
        yield f"- Removes: {_names(known.removes)}"
    if known.emits:
        yield f"- Emits: {_names(known.emits)}"
    if known.claims:
        yield f"- Goes for special numbers too: {_names(facts['claims'])}"
    if known.id in (costs := pass_costs()):
        networks, usual, most = costs[known.id]
        yield (
            f"- Cost: {usual:.2f} times the time of the original in onnxruntime, at most "
            f"{most:.2f}, on {count(networks, 'network')}, whose other repairs count, too"
        )
    for name, option in known.options.items():
        yield (
            f"- Option `{known.id}.{name}` ({option.type.__name__}, default {option.default}): "
            f"{_prose(option.help)}"
        )
    for heading, body in text.items():
        yield from ("", f"## {heading.removesuffix(':')}", "")
        if heading in _CODE:
            yield from ("```", body, "```")
        else:
            yield _prose(body)


@cache
def pass_costs() -> Mapping[str, tuple[int, float, float]]:
    """Return by pass: networks with it, the median of their ratios of time, and the largest.

    benchmarks/speed/cost.py writes them.
    """
    text = (
        resources.files("graphfix.rendering")
        .joinpath("pass_costs.json")
        .read_text(encoding="utf-8")
    )
    return msgspec.json.decode(text, type=dict[str, tuple[int, float, float]])


_WHEN = {
    "prepare": "first, on every model; it mends what the ONNX checker complains of",
    "canonical": "on every model that a target is given for",
    "targeted": "where a finding asks for it",
    "integers": "with `--allow-lossy`, before others, where a finding asks for it",
    "interface": "with `--allow-io-change`, where a finding asks for it",
    "last": "whenever there is a target, after all others",
    "named": "only when it is named with `--passes`",
}


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _prose(text: str) -> str:
    """Return the text of a docstring as Markdown: one backtick for two, nothing else as markup."""
    parts = re.split(r"(``?[^`]+``?)", text)
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = f"`{part.strip('`')}`"
        else:
            parts[place] = re.sub(r"([*<|])", r"\\\1", part)
    linked = r"https?://[^\s;,()]+[^\s;,().]"
    return re.sub(linked, lambda match: f"<{match[0]}>", "".join(parts))
