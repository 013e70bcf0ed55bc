"""Reports of at most 20 lines: lines are cut to the screen, lists to the room that there is."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from graphfix.rendering.style import WIDTH, Style, printable, wrap

SETTINGS = "settings: "  # how the note begins that says which settings were used
LABEL = 10  # columns
MOST = 20  # lines of a report
_FEWEST = 3  # lines of a list that is shortened: heading, first entry, how many more there are


class Listed(Struct):
    """A list of a report, the most important entry first.

    Attributes:
        title: Its heading.
        entries: Its entries, each of one line or of some that belong together.
        minor: Whether its heading alone is enough where there is no room.
    """

    title: str
    entries: Sequence[Sequence[str]]
    minor: bool = False


def one_line(text: str, indent: str = "", *, width: int = WIDTH) -> str:
    """Return text on one line of the screen: line breaks become blanks, the end is cut off."""
    line = indent + printable(" ".join(text.split()))
    return line if len(line) <= width else f"{line[: width - 3].rstrip()}..."


def labelled_short(label: str, text: str) -> list[str]:
    """Return ``  label     text`` on at most two lines; nothing for an empty text."""
    if not text:
        return []
    margin = " " * (2 + LABEL)
    lines = wrap(printable(text), margin, f"  {label.ljust(LABEL)}")
    return lines if len(lines) <= 2 else [lines[0], one_line(" ".join(lines[1:]), margin)]


def labelled_whole(label: str, text: str) -> list[str]:
    """Return the same on one line that is never cut, for what holds a path."""
    return [f"  {label.ljust(LABEL)}{printable(text)}"] if text else []


def notes_parted(notes: Sequence[str]) -> tuple[str, list[str]]:
    """Return which settings of the project were used, and the other notes."""
    used = next((note for note in notes if note.startswith(SETTINGS)), "")
    return used.removeprefix(SETTINGS), [note for note in notes if note != used]


def fitted(head: Sequence[str], lists: Sequence[Listed], style: Style) -> list[str]:
    """Return a report of at most 20 lines where what it needs to say allows that.

    What does not fit goes in this order: empty lines, minor lists but for their headings, and the
    ends of the longest lists.

    Args:
        head: Its first lines, which are never cut.
        lists: What follows.
        style: Colours or none.
    """
    lists = [each for each in lists if each.entries]
    shown = [len(each.entries) for each in lists]
    parts = [_shown(each, number, style) for each, number in zip(lists, shown, strict=True)]
    loose = len(head) + sum(1 + len(part) for part in parts) <= MOST
    while not loose and len(head) + sum(map(len, parts)) > MOST:
        minor = [n for n, each in enumerate(lists) if each.minor and shown[n]]
        able = [n for n in minor or range(len(lists)) if shown[n] > 1 and len(parts[n]) > _FEWEST]
        if not able and not minor:
            break
        place = max(able, key=lambda n: len(parts[n])) if able else minor[-1]
        shown[place] = shown[place] - 1 if able else 0
        parts[place] = _shown(lists[place], shown[place], style)
    lines = [*head]
    for part in parts:
        lines += ["", *part] if loose else part
    return lines


def _shown(each: Listed, number: int, style: Style) -> list[str]:
    """Return a list with that many of its entries, and how many more there are."""
    left = len(each.entries) - number
    title = style.paint(each.title, "bold")
    if not number:
        return [f"{title} (-v lists them)"]
    lines = [title, *(line for entry in each.entries[:number] for line in entry)]
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines
