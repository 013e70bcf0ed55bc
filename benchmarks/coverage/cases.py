"""One case of a list: a model of one operator in one form, and what it has to compute."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

PACKAGE = "benchmarks.coverage.lists"


@dataclass(frozen=True)
class Case:
    """A model and what is right for it.

    Attributes:
        entry: The entry of the list that it stands for, such as ``Add-7``.
        form: What is special of it; entry and form together are unique in the list.
        model: The model, serialized.
        feed: Its inputs by name: arrays, lists of arrays, or None for an empty optional.
        expected: What its outputs are to be, in order; None where only the types and sizes of
            what onnxruntime gives for the model as it is are to be kept (an operator draws).
    """

    entry: str
    form: str
    model: bytes
    feed: Mapping[str, Any]
    expected: Sequence[Any]

    @property
    def name(self) -> str:
        """Entry and form."""
        return f"{self.entry}/{self.form}"


class Listed(Protocol):
    """What a module of `PACKAGE` defines.

    Attributes:
        TITLE: The title of its page.
        ABOUT: What the page says of the list and of how its cases are made.
        PAGE: The name of the page below ``benchmarks/results``.

    A list with faults that are not graphfix's says in ``EXPLAINED`` who is right, by entry and
    form, and why; see `explanations`.
    """

    TITLE: str
    ABOUT: str
    PAGE: str

    def entries(self) -> Mapping[str, str]:
        """Return every entry of the list, with why it has no case (empty where it has)."""
        ...

    def cases(self) -> Iterator[Case]:
        """Yield the cases."""
        ...


def listed(name: str) -> Listed:
    """Return the module of a list.

    Raises:
        ModuleNotFoundError: There is none of this name.
    """
    return cast("Listed", importlib.import_module(f"{PACKAGE}.{name}"))


def explanations(name: str) -> Mapping[str, str]:
    """Return who is right where a result of a list is a fault, by the beginning of its name."""
    return cast("Mapping[str, str]", getattr(listed(name), "EXPLAINED", {}))


def store(name: str, path: Path) -> int:
    """Make the cases of a list, write them to a file and return how many."""
    found = {case.name: case for case in listed(name).cases()}
    path.write_bytes(pickle.dumps(list(found.values())))
    return len(found)


def stored(path: Path) -> list[Case]:
    """Return what `store` wrote, the first case of every entry first, then the second, ..."""
    cases = cast("list[Case]", pickle.loads(path.read_bytes()))
    seen: dict[str, int] = {}
    places: list[tuple[int, int]] = []
    for at, case in enumerate(cases):
        seen[case.entry] = seen.get(case.entry, 0) + 1
        places.append((seen[case.entry], at))
    return [cases[at] for _, at in sorted(places)]
