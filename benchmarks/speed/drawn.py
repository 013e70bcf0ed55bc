"""Run some files of tests of the checkout at hand, which are found as a run of all finds them.

    python -P benchmarks/speed/drawn.py FILE...

pytest walks the folder of each file that it is given again: 0.08 CPU s for one of a thousand files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


class Drawn:
    """A plugin of pytest that takes some files alone."""

    def __init__(self, files: frozenset[Path]) -> None:
        """Take these."""
        self._files = files

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Ignore what is not drawn."""
        return True if collection_path.is_file() and collection_path not in self._files else None


if __name__ == "__main__":
    files = frozenset(Path(name).resolve() for name in sys.argv[1:])
    sys.exit(pytest.main(["-q", "--no-header", "tests"], plugins=[Drawn(files)]))
