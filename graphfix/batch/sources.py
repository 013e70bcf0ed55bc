"""Which models are meant: files, folders, patterns, lists and URLs."""

from __future__ import annotations

import glob
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from graphfix.errors import UsageError

URL_HINT = 'pip install "graphfix[url]"'


class Source(Struct, frozen=True):
    """One model.

    Attributes:
        place: Its path, or its URL.
        name: What it is called in tables, and below the folder of the results: the path below the
            folder that it was found in, without its suffix.
    """

    place: str
    name: str

    @property
    def is_url(self) -> bool:
        """Whether it has to be fetched."""
        return is_url(self.place)


def is_url(place: str) -> bool:
    """Say whether a place is a URL that fsspec opens, rather than a path."""
    return "://" in place


def sources(places: Sequence[str], results: Path | None = None) -> tuple[Source, ...]:
    """Return the models that `places` mean, each once, in the order in which they are named.

    What lies in a folder of results is no model of it, but where it is named itself.

    Args:
        places: Files; folders, which are searched for ``*.onnx`` to their depth; patterns such as
            ``'nets/**/*.onnx'``; ``@list.txt``, which has one place on each line; URLs.
        results: The folder that results are written to.

    Raises:
        UsageError: There is no such file, a pattern matches none, or fsspec is not installed.
    """
    found: dict[str, Source] = {}
    names: set[str] = set()
    named = set(places)
    for place, name in _found(places):
        made = results is not None and place not in named and Path(place).is_relative_to(results)
        if place not in found and not made:
            found[place] = Source(place, _free(name, names))
    return tuple(found.values())


def _free(wish: str, taken: set[str]) -> str:
    """Return a name that no other model has: those of two folders may be called alike."""
    name, times = wish, 1
    while name in taken:
        times += 1
        name = f"{wish}-{times}"
    taken.add(name)
    return name


def _found(places: Iterable[str]) -> Iterator[tuple[str, str]]:
    for place in places:
        if place.startswith("@"):
            yield from _found(_listed(Path(place[1:])))
        elif is_url(place):
            yield from _at_url(place)
        else:
            yield from _on_disk(place)


def _listed(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        said = f"the list cannot be read: {reason}"
        raise UsageError(said, where=str(path)) from error
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _on_disk(place: str) -> Iterator[tuple[str, str]]:
    path = Path(place)
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*.onnx") if p.is_file() or _leads_nowhere(p))
        if not inside:
            raise UsageError("the folder holds no .onnx file", where=place)
        for each in inside:
            yield str(each), each.relative_to(path).with_suffix("").as_posix()
        return
    if path.is_file():
        yield place, path.stem
        return
    if _leads_nowhere(path):
        raise UsageError("the link leads to no file", where=place)
    matched = sorted(name for name in glob.glob(place, recursive=True) if Path(name).is_file())
    if not matched:
        raise UsageError("there is no such file, folder or match", where=place)
    for name in matched:
        yield name, Path(name).stem


def _leads_nowhere(path: Path) -> bool:
    """Say whether a path is a link to what is not there, of which a row is to tell."""
    return path.is_symlink() and not path.exists()


def filesystem(url: str) -> tuple[Any, str]:
    """Return the file system of fsspec that a URL lies on, and the path there.

    Raises:
        UsageError: fsspec, or what it needs for the protocol, is not installed.
    """
    try:
        found: tuple[Any, str] = import_module("fsspec.core").url_to_fs(url)
    except (ImportError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise UsageError(f"the URL cannot be opened: {said}", where=url, hint=URL_HINT) from error
    return found


def _at_url(url: str) -> Iterator[tuple[str, str]]:
    system, path = filesystem(url)
    if "*" not in path and not system.isdir(path):
        yield url, PurePosixPath(path).stem
        return
    pattern = path if "*" in path else posixpath.join(path, "**", "*.onnx")
    matched = sorted(str(each) for each in system.glob(pattern))
    if not matched:
        raise UsageError("no .onnx file is there", where=url)
    for each in matched:
        yield system.unstrip_protocol(each), PurePosixPath(each).stem
