"""A fleet continues where it was, loses nothing and does nothing twice."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from graphfix.batch.batch import Fleet, Request, run_fleet
from graphfix.batch.jobs import Job, Row, content_of, key_of, row_of
from graphfix.batch.ledger import NAME, Ledger
from graphfix.batch.sources import sources
from graphfix.errors import UsageError


class Killed(Exception):  # noqa: N818 - nothing is wrong
    """Stands for the end of the process."""


class Crew:
    """Does jobs at once, and dies after some of them."""

    def __init__(self, lives: float = float("inf")) -> None:
        self.lives = lives
        self.done: list[str] = []

    def rows(self, jobs: Iterator[Job]) -> Iterator[Row]:
        for job in jobs:
            if len(self.done) >= self.lives:
                raise Killed
            self.done.append(f"{job.name} {job.target}")
            Path(job.output).parent.mkdir(parents=True, exist_ok=True)
            Path(job.output).write_bytes(b"result")
            yield _row(job)


def _row(job: Job) -> Row:
    return Row(
        key=job.key,
        name=job.name,
        model=job.model,
        target=job.target,
        exit=0,
        output=job.output,
    )


@pytest.fixture
def request_of_nets(tmp_path: Path) -> Request:
    """Return a request of ten models for two targets."""
    for number in range(10):
        path = tmp_path / "nets" / f"net{number}.onnx"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes([number]))
    out = tmp_path / "out"
    return Request(sources([str(tmp_path / "nets")]), ("trt8.6", "ort-1.10"), str(out), out)


def _run(request: Request, crew: Crew) -> Fleet:
    def reported(_row: Row, _made: int, _of: int) -> None: ...

    return run_fleet(request, crew, reported)


def test_killed_again_and_again_nothing_is_done_twice_and_nothing_is_lost(
    request_of_nets: Request,
) -> None:
    chance, done = random.Random(7), list[str]()
    for _ in range(10):
        crew = Crew(lives=chance.randrange(3))
        with suppress(Killed):
            _run(request_of_nets, crew)
        done += crew.done
    last = Crew()
    fleet = _run(request_of_nets, last)
    done += last.done
    assert sorted(done) == sorted(set(done))
    assert len(done) == 20 == len(fleet.rows)
    assert fleet.made == len(last.done)
    assert [row.target for row in fleet.rows[:2]] == ["trt8.6", "ort-1.10"]


def test_big_models_are_done_first_and_reported_in_their_own_order(tmp_path: Path) -> None:
    sizes = {"a": 5, "b": 70, "c": 5, "d": 300}
    for name, size in sizes.items():
        (tmp_path / f"{name}.onnx").write_bytes(name.encode() * size)
    crew, out = Crew(), tmp_path / "out"
    request = Request(sources([str(tmp_path)], out), ("trt8.6",), str(out), out)
    fleet = _run(request, crew)
    assert crew.done == ["d trt8.6", "b trt8.6", "a trt8.6", "c trt8.6"]
    assert [row.name for row in fleet.rows] == ["a", "b", "c", "d"]


def test_what_could_not_be_written_is_done_again(request_of_nets: Request) -> None:
    class Full(Crew):
        def rows(self, jobs: Iterator[Job]) -> Iterator[Row]:
            for job in jobs:
                yield row_of(job, 2, "", "cannot be written: No space left on device", 0.1)

    assert _run(request_of_nets, Full()).words["trt8.6"] == {"usage": 10}
    after = _run(request_of_nets, Crew())
    assert after.made == 20
    assert after.words["trt8.6"] == {"fine": 10}
    assert _run(request_of_nets, Crew()).made == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
def test_a_ledger_that_is_full_says_so(tmp_path: Path) -> None:
    rows = tmp_path / "full"
    rows.mkdir()
    (rows / NAME).symlink_to("/dev/full")
    ledger = Ledger(rows / NAME)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        ledger.add(Row(key="k", name="n", model="m", target="t", exit=0))
    ledger.close()


def test_half_a_line_counts_as_never_written(request_of_nets: Request) -> None:
    _run(request_of_nets, Crew())
    path = request_of_nets.rows / NAME
    path.write_bytes(path.read_bytes()[:-20])
    crew = Crew()
    assert len(_run(request_of_nets, crew).rows) == 20
    assert len(crew.done) == 1
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[:18])
    assert _run(request_of_nets, Crew()).made == 0


def test_what_has_changed_is_done_again_and_nothing_else(request_of_nets: Request) -> None:
    _run(request_of_nets, Crew())
    Path(request_of_nets.models[3].place).write_bytes(b"another")
    (Path(request_of_nets.out) / "net5.trt8.6.onnx").unlink()
    crew = Crew()
    _run(request_of_nets, crew)
    assert crew.done == ["net3 trt8.6", "net3 ort-1.10", "net5 trt8.6"]


def test_a_key_is_of_content_target_and_options(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(b"model with location of data")
    content = content_of(path)
    assert content == content_of(path)
    (tmp_path / "weights.bin").write_bytes(b"1234")
    assert content_of(path) != content
    keys = {key_of(c, t, o) for c in "ab" for t in ("x", "y") for o in ((), ("--allow-lossy",))}
    assert len(keys) == 8


def test_a_file_too_big_for_a_model_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a file of holes
    content = content_of(path)
    assert content == f"size:{1 << 40}:{path.stat().st_mtime_ns}"
    os.utime(path, ns=(1, 1))
    assert content_of(path) != content


JOB = Job("k", "net", "net.onnx", "trt8.6", "out/net.onnx")


@pytest.mark.parametrize(
    ("code", "said", "complaint", "exit_code", "message"),
    [
        (-9, "", "", 3, "ended by signal 9"),
        (3, '{"error": {"code": 3, "message": "not an ONNX model"}}', "", 3, "not an ONNX model"),
        (2, "", "Usage: x\nError: no such option", 2, "Error: no such option"),
        (5, "[1]", "graphfix: a fault", 5, "graphfix: a fault"),
    ],
)
def test_a_process_that_reported_nothing_has_a_row_too(
    code: int, said: str, complaint: str, exit_code: int, message: str
) -> None:
    row = row_of(JOB, code, said, complaint, 1.234)
    assert (row.exit, row.message, row.seconds) == (exit_code, message, 1.23)


def test_what_alone_blocks_is_counted() -> None:
    rows = [
        Row(key=str(n), name=str(n), model="", target="t", exit=1, left=left)
        for n, left in enumerate(({"op:A": 3}, {"op:A": 1, "op:B": 1}, {"op:A": 2}, {"op:B": 1}))
    ]
    fleet = Fleet(tuple(rows), ("t",), 4)
    assert fleet.cures == {"t": {"op:A": 2, "op:B": 1}}
    assert fleet.words == {"t": {"left": 4}}


def test_a_ledger_is_on_disk_row_by_row(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "deep" / NAME)
    ledger.add(_row(JOB))
    assert os.path.getsize(ledger.path) > 0
    assert list(ledger.rows()) == [_row(JOB)]
    ledger.close()
