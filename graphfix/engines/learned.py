"""Families that `graphfix learn` wrote: folders of the user's, with data and no code of graphfix.

They lie below ``$GRAPHFIX_LEARNED`` or in the user's folder for data. A folder has a
``learned.json``, profiles, and the ``program.py`` that runs models; a ``rules.toml`` in it counts,
too. One whose ``learned.json`` cannot be read is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from graphfix.engines.engine import Engine
from graphfix.errors import EngineFailed
from graphfix.ir.storage.user_folders import user_data

if TYPE_CHECKING:
    from graphfix.engines.hosting.host import Host

FOLDER = "GRAPHFIX_LEARNED"
SAID = "learned.json"


class LearnedFamily(msgspec.Struct, frozen=True):
    """What ``learned.json`` says.

    Attributes:
        title: The engine for people.
        python: The Python in which its program runs.
        version: The version that the program gives, as targets have it: ``1.2``.
        digest: Of the program, and the command where there is one; another one is asked again.
        half: Whether it computes in float16 whatever the type of the model.
    """

    title: str
    python: str
    version: str
    digest: str
    half: bool = False


class LearnedEngine(Engine):
    """An engine of which all that is known is what it answered."""

    order = 200
    known = "measured"
    install = "it is started by the program or the command that `graphfix learn` was given"

    def __init__(self, folder: Path, said: LearnedFamily) -> None:
        """Take what was learned.

        Args:
            folder: Of the family, whose name is that of the folder.
            said: What its ``learned.json`` says.
        """
        super().__init__("", folder)
        self.name = self.family = folder.name
        self.title = said.title
        self.arithmetic = "float16" if said.half else ""
        self._said = said

    def is_here(self) -> bool:
        """Say whether the program can be started."""
        return self.program is not None and Path(self._said.python).is_file()

    def python_for(self, target: str) -> Path | None:
        """Return the Python that runs the program; None where it is gone."""
        return Path(self._said.python) if self.is_here() else None

    def host(
        self,
        target: str,
        *,
        seconds: float = 300.0,
        memory: int | None = None,
        capability: str = "",
    ) -> Host:
        """Return the process of the engine; see `Engine.host`."""
        from graphfix.engines.hosting.host import Host

        if self.program is None or not self.is_here():
            raise EngineFailed(f"{self._said.python}, which ran {self.title}, is not there")
        return Host(
            Path(self._said.python), self.program, self.title, seconds=seconds, memory=memory
        )


def learned_folder() -> Path:
    """Return where learned families lie: ``$GRAPHFIX_LEARNED``, or the user's folder for data.

    Raises:
        RuntimeError: The user has no home.
    """
    given = os.environ.get(FOLDER)
    return Path(given).absolute() if given else user_data() / "learned"


def read_family(folder: Path) -> LearnedFamily | None:
    """Return what ``learned.json`` of a folder says; None where there is none that can be read."""
    try:
        return msgspec.json.decode((folder / SAID).read_bytes(), type=LearnedFamily)
    except (OSError, ValueError, RecursionError):
        return None


def learned_engines() -> Iterator[LearnedEngine]:
    """Yield the families that were learned on this machine, by name."""
    try:
        folders = sorted(learned_folder().iterdir())
    except (OSError, RuntimeError):
        return
    for folder in folders:
        said = read_family(folder)
        if said is not None and (folder / "profiles").is_dir():
            yield LearnedEngine(folder, said)
