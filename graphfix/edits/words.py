"""The small languages that edits are written in."""

from __future__ import annotations

from graphfix.errors import UsageError

Known = frozenset[str]


def pair(text: str, option: str, form: str) -> tuple[str, str]:
    """Split ``NAME=REST`` at its last ``=``; a name may hold one, too.

    Raises:
        UsageError: A side is missing.
    """
    name, given, rest = text.rpartition("=")
    if not given or not name or not rest:
        raise malformed(text, option, form)
    return name, rest


def listed(text: str, option: str, form: str) -> tuple[str, ...]:
    """Split ``a,b``; blanks around a name do not count.

    Raises:
        UsageError: A name is empty.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise malformed(text, option, form)
    return names


def shape(text: str, option: str, form: str) -> tuple[str, tuple[int | str | None, ...]]:
    """Read ``NAME=1x3xHx?``, or with commas, which symbols with an x in them need.

    Raises:
        UsageError: It is not of that form.
    """
    name, rest = pair(text, option, form)
    parts = rest.split(",") if "," in rest else rest.split("x")
    sizes: list[int | str | None] = []
    for part in (part.strip() for part in parts):
        if part.isdecimal():
            sizes.append(int(part))
        elif part == "?":
            sizes.append(None)
        elif part and not part[0].isdecimal() and part[0] != "-":
            sizes.append(part)
        else:
            raise malformed(text, option, form)
    return name, tuple(sizes)


def between(text: str, known: Known, option: str, form: str) -> tuple[list[str], list[str]]:
    """Split ``a,b:c,d`` at the colon that parts known names; names may hold colons, too.

    Raises:
        UsageError: There is no colon, or a name is empty.
    """
    places = [place for place, char in enumerate(text) if char == ":"]
    splits = [(text[:place].split(","), text[place + 1 :].split(",")) for place in places]
    splits = [split for split in splits if all(split[0]) and all(split[1])]
    if not splits:
        raise malformed(text, option, form)
    return max(splits, key=lambda split: sum(name in known for names in split for name in names))


def malformed(text: str, option: str, form: str) -> UsageError:
    """Return the error of a text that is not of its form."""
    return UsageError(f"{text!r} is not of the form {form}", where=option)
