"""Reports of at most 20 lines: lines are cut to the screen, lists to the room that there is."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, structs

from graphfix.rendering.style import WIDTH, Style, printable, wrap

SETTINGS = "settings: "  # how the note begins that says which settings were used
LABEL = 10  # columns
MOST = 20  # lines of a report
_FEWEST = 3  # lines of a list that is shortened: heading, first entry, how many more there are
_LONG = 9  # lines of a list that is shortened before the empty lines between lists go


class Listed(Struct):
    """A list of a report, the most important entry first.

    Attributes:
        title: Its heading.
        entries: Its entries, each of one line or of some that belong together.
        minor: Whether its heading alone is enough where there is no room.
        whole: The entries with nothing cut off, shown where there is room; none if they are alike.
        legend: What words of it mean, shown below it where there is room.
    """

    title: str
    entries: Sequence[Sequence[str]]
    minor: bool = False
    whole: Sequence[Sequence[str]] = ()
    legend: Sequence[str] = ()


def one_line(text: str, indent: str = "", *, width: int = WIDTH) -> str:
    """Return text on one line of the screen: line breaks become blanks, the end is cut off.

    It is cut after a word, unless a long one would take half of the line with it.
    """
    line = indent + printable(" ".join(text.split()))
    if len(line) <= width:
        return line
    cut = line[: width - 3]
    after = cut.rfind(" ")
    return f"{cut[:after] if after > width // 2 else cut}".rstrip() + "..."


def whole_text(text: str, first: str = "", indent: str | None = None) -> list[str]:
    """Return text on as many lines as it takes; an indent of None is that of the first one."""
    return wrap(printable(" ".join(text.split())), first if indent is None else indent, first)


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

    What does not fit goes in this order: minor lists but for their headings, the ends of long
    lists, empty lines, and the ends of the other lists. Where there is room, entries are whole.

    Args:
        head: Its first lines, which are never cut.
        lists: What follows.
        style: Colours or none.
    """
    lists = [each for each in lists if each.entries]
    room = MOST - len(head) - sum(_lines(each) for each in lists)
    if room >= 0:  # what matters most goes before the entries of minor lists
        lists = [each if each.minor else _whole(each) for each in lists]
    shown = [len(each.entries) for each in lists]
    parts = [_shown(each, number, style) for each, number in zip(lists, shown, strict=True)]
    between = len(parts)

    def shorten(places: list[int], least: int) -> bool:
        able = [n for n in places if shown[n] > 1 and len(parts[n]) > least]
        if not able:
            return False
        place = max(able, key=lambda n: len(parts[n]))
        shown[place] -= 1
        parts[place] = _shown(lists[place], shown[place], style)
        return True

    while len(head) + between + sum(map(len, parts)) > MOST:
        minor = [n for n, each in enumerate(lists) if each.minor and shown[n]]
        if shorten(minor, _FEWEST):
            continue
        if minor:
            shown[minor[-1]] = 0
            parts[minor[-1]] = _shown(lists[minor[-1]], 0, style)
        elif not shorten([*range(len(lists))], _FEWEST if not between else _LONG):
            if not between:
                break
            between = 0
    room = MOST - len(head) - between - sum(map(len, parts))
    lines = [*head]
    for each, number in zip(lists, shown, strict=True):
        entries = [*each.entries]
        for place, whole in enumerate(each.whole[:number]):
            more = len(whole) - len(entries[place])
            if more <= room:
                room -= more
                entries[place] = whole
        part = _shown(structs.replace(each, entries=entries), number, style)
        if number and len(each.legend) <= room:
            part += each.legend
            room -= len(each.legend)
        lines += ["", *part] if between else part
    return lines


def _whole(each: Listed) -> Listed:
    return structs.replace(each, entries=each.whole or each.entries, whole=())


def _lines(each: Listed) -> int:
    """Return the least lines of a list of which nothing is cut, with the empty one before it."""
    return 2 if each.minor else 2 + sum(map(len, each.whole or each.entries))


def _shown(each: Listed, number: int, style: Style) -> list[str]:
    """Return a list with that many of its entries, and how many more there are."""
    left = len(each.entries) - number
    title = style.paint(each.title, "bold")
    if not number:
        return [f"{title} (-v lists them)"]
    lines = [title, *(line for entry in each.entries[:number] for line in entry)]
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines
