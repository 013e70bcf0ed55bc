"""The page of a pass, from the docstring of its file and its own.

A section begins with its heading. What is after the heading on the same line is prose, or one
line of ``Before`` and ``After``; a heading alone has its text below it, as it is to be shown.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from textwrap import fill

HEADINGS = (
    "What it does:",
    "Why engines need it:",
    "Before:",
    "After:",
    "When it refuses:",
    "Accuracy:",
    "References:",
)
_LINE = re.compile(f"({'|'.join(HEADINGS)})(?: +(.+))?")
_CODE = ("Before:", "After:")
_WIDTH = 100


def of_twins(own: str, shared: str) -> str:
    """Return the docstring of a pass that shares its file: its own before what the file says."""
    summary, _, rest = cleandoc(own).partition("\n")
    lines = rest.splitlines()
    start = next((at for at, line in enumerate(lines) if _LINE.fullmatch(line)), len(lines))
    return "\n".join((summary, "", *lines[start:], "", shared.partition("\n\n")[2]))


def page_of(doc: str) -> str:
    """Return a docstring with each heading on a line of its own and its text below it, indented.

    Of a section that is there twice the first one counts: a pass that shares its file has its own
    before those of the file.
    """
    summary: list[str] = []
    found: dict[str, list[str]] = {}
    lines, after = summary, ""
    for line in cleandoc(doc).splitlines():
        heading = _LINE.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        after = heading[2] or ""
        lines = [f":{after}"] if after else []
        found.setdefault(heading[1], lines)
    known = sorted(found, key=HEADINGS.index)
    parts = ["\n".join(summary).strip(), *(_section(name, found[name]) for name in known)]
    return "\n\n".join(part for part in parts if part)


def _section(heading: str, lines: list[str]) -> str:
    text = "\n".join(lines).strip("\n")
    if text.startswith(":"):
        text = text[1:]
        words = text if heading in _CODE else " ".join(text.split())
        indent = " " * 4
        text = indent + words if heading in _CODE else fill(
            words, _WIDTH, initial_indent=indent, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return f"{heading}\n{text}".rstrip()
