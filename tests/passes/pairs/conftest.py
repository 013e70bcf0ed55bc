"""Each pair of a text file in this folder is a test; `tests/passes/pair_files.py` has the form."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.passes.pair_files import pairs_in
from tests.text_items import TextFile, Written, text_file


def _written(path: Path) -> Iterator[Written]:
    """Return the pairs of the pass that a file is named after."""
    for pair in pairs_in(path):
        text = f"{pair.model}\n-> {pair.outcome}"
        yield Written(pair.name, text, partial(pair.hold, path.stem.replace("_", "-")))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> TextFile | None:
    """Take the text files."""
    return text_file(file_path, parent, _written)
