"""Which library writes an operator that ONNX does not have, and what its users do about it.

Source: `foreign_operators.toml` next to this file and in the folders of families, whose entries
name the repository and the file.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path

from msgspec import Struct, convert

from graphfix.engines.engine import engines

DATA = "foreign_operators.toml"


class Library(Struct, frozen=True):
    """A library that writes operators of its own.

    Attributes:
        name: What people call it.
        repository: Where its source is, ``owner/name`` on GitHub.
        file: The file or folder there that defines the operators.
        advice: What its users do to run such a file elsewhere.
        domain: Its domain, which may end in ``*``; empty where only `ops` tell.
        ops: The operators; empty for the whole domain.
    """

    name: str
    repository: str
    file: str
    advice: str
    domain: str = ""
    ops: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What a finding says of it."""
        return f"{self.name} writes it ({self.repository}, {self.file}): {self.advice}"

    def writes(self, domain: str, op: str) -> bool:
        """Say whether an operator is one of it."""
        if self.domain and not fnmatchcase(domain, self.domain):
            return False
        return not self.ops or any(fnmatchcase(op, known) for known in self.ops)


@cache
def libraries() -> tuple[Library, ...]:
    """Return all that is known, in the order in which they are asked."""
    folders = [Path(__file__).parent, *(e.folder for e in engines() if e.folder is not None)]
    texts = [(f / DATA).read_text(encoding="utf-8") for f in folders if (f / DATA).is_file()]
    rows = [row for text in texts for row in tomllib.loads(text)["library"]]
    return convert(rows, tuple[Library, ...])


@lru_cache(maxsize=1024)  # a file may have thousands of one operator, and of names
def library_of(domain: str, op: str) -> Library | None:
    """Return the library that writes an operator, None where no one is known to."""
    return next((known for known in libraries() if known.writes(domain, op)), None)
