"""The benchmark of batch: its hostile files, its eyes, and what it makes of measured seconds."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.fleet import hostile, sweep
from benchmarks.fleet.sample import sampled
from benchmarks.fleet.simulation import makespan
from benchmarks.fleet.watching import below, watch

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


def test_there_are_twenty_hostile_files(tmp_path: Path) -> None:
    made = hostile.lay_out(tmp_path / "hostile")
    assert len(made) == hostile.COUNT == 20
    assert sum(path.name.startswith("crash-") for path in made) == 6
    assert all(path.stat().st_size > 0 for path in made)


def test_hostile_files_are_laid_among_the_models(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    for number in range(60):
        (tmp_path / "nets" / f"net{number:02}.onnx").write_bytes(b"x")
    lines = sweep.listed(tmp_path / "nets", tmp_path / "work").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 80
    places = [at for at, line in enumerate(lines) if "/hostile/" in line]
    assert len(places) == 20
    assert max(b - a for a, b in pairwise(places)) <= 4
    sample = sampled(tmp_path / "nets", 6, tmp_path / "work").read_text().splitlines()
    assert [Path(line).stem for line in sample] == [f"net{n}" for n in ("00", 10, 20, 30, 40, 50)]


def test_rows_that_are_there_twice_or_not_at_all_are_counted(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "a.onnx").write_bytes(b"x")
    (tmp_path / "out").mkdir()
    row = '{"key": "%s", "model": "%s", "target": "t"}\n'
    rows = "".join(row % (key, model) for key, model in ("1m", "1m", "2n"))
    (tmp_path / "out" / "rows.jsonl").write_text(rows + '{"key": "half')
    assert sweep.twice(tmp_path) == 1
    assert sweep.missing(tmp_path / "nets", tmp_path) == 2 * 21 - 2


@pytest.mark.parametrize(
    ("seconds", "count", "end"), [([4, 1, 1, 1, 1], 2, 4), ([2, 2, 2], 2, 4), ([5], 3, 5)]
)
def test_each_worker_takes_the_next_job_when_it_is_free(
    seconds: list[float], count: int, end: float
) -> None:
    assert makespan(seconds, count) == end


@LINUX
def test_a_command_that_is_killed_is_seen_to_leave_nothing(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import time; time.sleep(60)"]
    seen = watch(words, tmp_path / "said.txt", kill_after=0.5)
    assert (seen.code, seen.most, seen.orphans) == (-9, 1, 0)
    assert seen.peak > 1 << 20
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert process.pid in below(os.getpid())
        process.kill()
