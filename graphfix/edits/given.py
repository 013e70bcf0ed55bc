"""What a user gives an option of `graphfix edit`, and the small languages that it is written in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphfix.errors import UsageError


@dataclass(frozen=True, slots=True)
class Given:
    """A text that the command line or a recipe gives an option.

    Every method takes a part of the text as well, and raises `UsageError` with the option and its
    form where that is not of it.

    Attributes:
        text: The text; empty for an option that takes none.
        option: The option, such as ``--rename``.
        form: What its text looks like.
        known: The tensors that it may name; none where only the form is looked at.
    """

    text: str
    option: str
    form: str
    known: frozenset[str]

    def pair(self, part: str | None = None) -> tuple[str, str]:
        """Split ``NAME=REST`` at its last ``=``; a name may hold one, too."""
        name, given, rest = self._part(part).rpartition("=")
        if not given or not name or not rest:
            raise self.malformed(part)
        return name, rest

    def before_two_files(self) -> tuple[str, Path, Path]:
        """Return what is before ``=``, and the two files after it.

        Raises:
            UsageError: The text is not of this form.
        """
        first, files = self.pair()
        paths = self.listed(files)
        if len(paths) != 2:
            raise self.malformed()
        return first, Path(paths[0]), Path(paths[1])

    def listed(self, part: str | None = None) -> tuple[str, ...]:
        """Split ``a,b``; blanks around a name do not count."""
        names = tuple(name.strip() for name in self._part(part).split(","))
        if not all(names):
            raise self.malformed(part)
        return names

    def shape(self, part: str | None = None) -> tuple[str, tuple[int | str | None, ...]]:
        """Read ``NAME=1x3xHx?``, or with commas, which symbols with an x in them need."""
        name, rest = self.pair(part)
        parts = rest.split(",") if "," in rest else rest.split("x")
        sizes: list[int | str | None] = []
        for size in (size.strip() for size in parts):
            if size.isdecimal():
                sizes.append(int(size))
            elif size == "?":
                sizes.append(None)
            elif size and not size[0].isdecimal() and size[0] != "-":
                sizes.append(size)
            else:
                raise self.malformed(part)
        return name, tuple(sizes)

    def between(self, part: str | None = None) -> tuple[list[str], list[str]]:
        """Split ``a,b:c,d`` at the colon that parts known names; names may hold colons, too."""
        text = self._part(part)
        places = [place for place, char in enumerate(text) if char == ":"]
        splits = [(text[:place].split(","), text[place + 1 :].split(",")) for place in places]
        splits = [split for split in splits if all(split[0]) and all(split[1])]
        if not splits:
            raise self.malformed(part)
        return max(splits, key=lambda split: sum(n in self.known for side in split for n in side))

    def malformed(self, part: str | None = None) -> UsageError:
        """Return the error of a text that is not of its form."""
        return UsageError(f"{self._part(part)!r} is not of the form {self.form}", where=self.option)

    def _part(self, part: str | None) -> str:
        return self.text if part is None else part
