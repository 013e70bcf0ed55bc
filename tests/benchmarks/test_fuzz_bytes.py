"""A portion of `benchmarks.fuzz.damaged_files`: bombs, damaged files, what is no plain file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="processes are measured through /proc"
)


def test_files_that_are_damaged_or_made_to_bring_it_down(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    done = subprocess.run(
        [
            sys.executable,
            *("-m", "benchmarks.fuzz.damaged_files"),
            *("--first", "100", "--count", "100", "-o", str(page)),
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    text = page.read_text(encoding="utf-8")
    assert "100 files of at most 1 MB, of the seeds 100 to 199" in text
    wanted = ("exit 5", "another exit code than 0 to 5", "a traceback", "over 20 s", "over 2048 MB")
    compared = ("over 53 s in a comparison", "over 4864 MB in a comparison")
    for what in (*wanted, *compared, "a result on exit 2 to 5", "another file left"):
        assert f"| {what} | 0 |" in text
