"""Families that `graphfix learn` wrote: folders of the user's, with data and no code of graphfix.

They lie below ``$GRAPHFIX_LEARNED`` or in the user's folder for data. A folder has a
``learned.json``, profiles, and the ``program.py`` that runs models; a ``rules.toml`` in it counts,
too. One whose ``learned.json`` cannot be read is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from graphfix.ir.storage.user_folders import user_data

FOLDER = "GRAPHFIX_LEARNED"
SAID = "learned.json"
_INSTALL = "it is started by the program or the command that `graphfix learn` was given"


class _Engine(Protocol):
    """What is known of an engine by what it answered alone; see `graphfix.engines.engine`."""

    name: str
    family: str
    title: str
    python: str
    arithmetic: str
    order: int
    known: str
    install: str


Described = TypeVar("Described", bound=_Engine)


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


def learned_engines(fresh: Callable[[Path], Described]) -> Iterator[Described]:
    """Yield the families that were learned on this machine, by name.

    Args:
        fresh: Returns an engine of which nothing is known but its folder.
    """
    try:
        folders = sorted(learned_folder().iterdir())
    except (OSError, RuntimeError):
        return
    for folder in folders:
        said = read_family(folder)
        if said is None or not (folder / "profiles").is_dir():
            continue
        engine = fresh(folder)
        engine.name = engine.family = folder.name
        engine.title, engine.python = said.title, said.python
        engine.arithmetic = "float16" if said.half else ""
        engine.order, engine.known, engine.install = 200, "measured", _INSTALL
        yield engine
