"""Tests that are written in text files: each of what a file holds is a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest


class Written(NamedTuple):
    """One test: its name, the text that a failure shows, and what runs it."""

    name: str
    text: str
    run: Callable[[], None]


class TextItem(pytest.Item):
    """One of the tests of a file."""

    written: Written

    def runtest(self) -> None:
        """Run it."""
        self.written.run()

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """Return what was written and what is wrong."""
        return f"{self.written.text}\n{super().repr_failure(excinfo)}"


class TextFile(pytest.File):
    """The tests of one file."""

    reader: Callable[[Path], Iterator[Written]]

    def collect(self) -> Iterator[TextItem]:
        """Return them."""
        for written in self.reader(self.path):
            item: TextItem = cast("Any", TextItem).from_parent(self, name=written.name)
            item.written = written
            yield item


def text_file(
    path: Path, parent: pytest.Collector, reader: Callable[[Path], Iterator[Written]]
) -> TextFile | None:
    """Return the tests of a path, if it is a text file of a folder `pairs`."""
    if path.suffix != ".txt" or path.parent.name != "pairs":
        return None
    collected: TextFile = cast("Any", TextFile).from_parent(parent, path=path)
    collected.reader = reader
    return collected
