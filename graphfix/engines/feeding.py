"""Programs that feed a file to an engine: a family's ``feed.txt``, filled in for the file.

It is Python with names of `string.Template`: ``$path`` is the file, ``$feed`` sets ``feed``, the
arrays by the names of the inputs, and ``$outputs`` is the list of the names of the outputs; a
family may add names of its own. Lines after a ``?`` are for files that leave sizes open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from graphfix.engines.interface import NextStep
from graphfix.ir.printing import printable

if TYPE_CHECKING:
    from graphfix.engines.interface import Ends, Fed, Written

FEED = "feed.txt"
_NUMBERS = re.compile(r"u?int(8|16|32|64)|float(16|32|64)|complex(64|128)")
_SPELLED = {"bool": "np.bool_", "string": "object"}
_WIDTH = 90  # of a line that holds all inputs


def run_step(template: Path, written: Written, **names: str) -> NextStep | None:
    """Return the step that runs a file, for an engine that reads ONNX itself; see `program_of`."""
    program = program_of(template, written, None, **names)
    return NextStep("", "Run it", program=program) if program else None


def program_of(
    template: Path,
    written: Written,
    taken: Callable[[Fed], Fed] | None = None,
    **names: str,
) -> str:
    """Return a program that feeds a file; empty where an input is nothing that numpy has.

    Args:
        template: The file with the program.
        written: The file that it feeds.
        taken: How the engine takes an input, for one that has other types, ranks or names.
        names: What the template has names for, next to what all have.
    """
    ends = written.ends() if written.ends is not None else None
    if ends is None or not template.is_file():
        return ""
    inputs = [taken(fed) if taken is not None else fed for fed in ends.inputs]
    arrays = [_array(fed) for fed in inputs]
    if not all(arrays):
        return ""
    entries = [f"{quoted(fed.name)}: {array}" for fed, array in zip(inputs, arrays, strict=True)]
    text = template.read_text(encoding="utf-8").splitlines(keepends=True)
    sized = not any(fed.open for fed in inputs)
    kept = (line.removeprefix("?") for line in text if not (sized and line.startswith("?")))
    return Template("".join(kept)).substitute(
        {
            "path": quoted(written.path),
            "feed": _open(ends) + _assigned(entries),
            "outputs": listed(ends.outputs),
            **names,
        }
    )


def listed(texts: Iterable[str]) -> str:
    """Return a list of texts in Python."""
    return f"[{', '.join(map(quoted, texts))}]"


def quoted(text: str) -> str:
    """Return a text in Python."""
    plain = text.isprintable() and not {'"', "\\"} & set(text)
    return f'"{text}"' if plain else repr(text)


def _array(fed: Fed) -> str:
    """Return an array of zeros in Python; empty where numpy has none of the type."""
    kind = _SPELLED.get(fed.element_type, "")
    if _NUMBERS.fullmatch(fed.element_type):
        kind = f"np.{fed.element_type}"
    if kind == "object":
        return f'np.full({fed.shape}, "", object)'
    return f"np.zeros({fed.shape}, {kind})" if kind else ""


def _assigned(entries: list[str]) -> str:
    line = f"feed = {{{', '.join(entries)}}}"
    if len(entries) < 2 or len(line) <= _WIDTH:
        return line
    return "\n".join(["feed = {", *(f"    {entry}," for entry in entries), "}"])


def _open(ends: Ends) -> str:
    """Return the line that says for which sizes those of the program are only examples."""
    names = dict.fromkeys(printable(name) for fed in ends.inputs for name in fed.open)
    return f"# The file leaves {', '.join(names)} open: put your sizes.\n" if names else ""
