"""Each pair of a text file in this folder is a test; `tests/passes/pair_files.py` has the form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.passes.pair_files import Pair, pairs_in


class PairItem(pytest.Item):
    """One pair."""

    pair: Pair

    def runtest(self) -> None:
        """Run the pass that the file is named after."""
        self.pair.hold(self.path.stem.replace("_", "-"))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        """Return the model and what is wrong."""
        shown = super().repr_failure(excinfo)
        return f"{self.pair.model}\n-> {self.pair.outcome}\n{shown}"


class PairFile(pytest.File):
    """The pairs of one pass."""

    def collect(self) -> Iterator[PairItem]:
        """Return a test for each pair."""
        for pair in pairs_in(self.path):
            item: PairItem = cast("Any", PairItem).from_parent(self, name=pair.name)
            item.pair = pair
            yield item


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PairFile | None:
    """Take the text files."""
    if file_path.suffix != ".txt":
        return None
    collected: PairFile = cast("Any", PairFile).from_parent(parent, path=file_path)
    return collected
