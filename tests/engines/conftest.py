"""Each line ``->`` of a text file in a folder `pairs` is a test; `cases.py` has the form."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.engines.cases import assert_case, cases_in
from tests.text_items import TextFile, Written, text_file


def _written(path: Path) -> Iterator[Written]:
    for name, line, case in cases_in(path):
        yield Written(name, f"{case.graph}\n{line}", partial(assert_case, case))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> TextFile | None:
    """Take the text files."""
    return text_file(file_path, parent, _written)
