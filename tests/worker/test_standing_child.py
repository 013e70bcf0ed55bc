"""A child that stays: what it shares with the others, and what a death of it says."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphfix.errors import UsageError
from graphfix.worker import service
from graphfix.worker.limits import Limits
from graphfix.worker.service import Crashed, OutOfTime, ask, end_template
from graphfix.worker.standing_child import Standing
from tests.processes import runs

LIMITS = Limits(60.0, 2 << 30)
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child stays where it is forked")


@pytest.fixture
def child() -> Iterator[Standing]:
    made = Standing()
    yield made
    made.end()


def _ask(
    child: Standing, folder: Path, task: str, limits: Limits = LIMITS, **request: Any
) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    return ask(f"tests.worker.tasks:{task}", folder, request, limits, dict[str, Any], child=child)


def test_requests_are_served_by_one_process_as_the_host_is_then(
    child: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _ask(child, tmp_path / "a", "state")
    monkeypatch.setenv("GRAPHFIX_TEST", "set now")
    monkeypatch.chdir(tmp_path)
    second = _ask(child, tmp_path / "b", "state", Limits(30.0, 1 << 30), variable="GRAPHFIX_TEST")
    assert first["pid"] == second["pid"] != os.getpid()
    assert first["descriptors"] == second["descriptors"]
    assert (second["variable"], second["folder"]) == ("set now", str(tmp_path))
    assert (second["timeout"], second["memory_limit"]) == (30.0, 1 << 30)


def test_each_request_may_take_what_the_system_gives_not_what_the_last_one_left(
    child: Standing, tmp_path: Path
) -> None:
    shared = Limits(30.0)  # no number: a share of what is free, counted in the child
    given = [
        _ask(child, tmp_path / str(number), "state", shared)["memory_limit"] for number in range(30)
    ]
    # A share of four fifths of the last four fifths would be a thousandth by now.
    assert given[-1] > given[0] / 2


def test_errors_are_reported_and_it_continues(child: Standing, tmp_path: Path) -> None:
    first = _ask(child, tmp_path / "a", "state")
    with pytest.raises(UsageError, match="reported"):
        _ask(child, tmp_path / "b", "fails", kind="usage")
    assert _ask(child, tmp_path / "c", "state")["pid"] == first["pid"]


def test_a_death_counts_of_a_child_that_did_nothing_before(child: Standing, tmp_path: Path) -> None:
    first = _ask(child, tmp_path / "a", "state")["pid"]
    with pytest.raises(Crashed, match="SIGSEGV"):
        _ask(child, tmp_path / "b", "dies", once=str(tmp_path / "never"), always=True)
    assert len((tmp_path / "never").read_text(encoding="utf-8").split()) == 2
    assert _ask(child, tmp_path / "c", "state")["pid"] != first


def test_a_request_is_asked_again_where_what_came_before_may_be_to_blame(
    child: Standing, tmp_path: Path
) -> None:
    _ask(child, tmp_path / "a", "state")
    reported = _ask(child, tmp_path / "b", "dies", once=str(tmp_path / "once"), always=False)
    assert reported == {"lived": True}


def test_what_takes_too_long_is_killed(child: Standing, tmp_path: Path) -> None:
    pid = _ask(child, tmp_path / "a", "state")["pid"]
    with pytest.raises(OutOfTime, match=r"took longer than 0\.5 s"):
        _ask(child, tmp_path / "b", "sleeps", Limits(0.5, 2 << 30), seconds=600)
    assert not runs(pid)
    with pytest.raises(OutOfTime):
        _ask(child, tmp_path / "c", "state", Limits(0.0))


def test_it_ends_with_the_template_and_another_takes_its_place(
    child: Standing, tmp_path: Path
) -> None:
    first = _ask(child, tmp_path / "a", "state")
    end_template()
    second = _ask(child, tmp_path / "b", "state")
    assert first["parent"] != second["parent"]
    assert not runs(first["pid"])


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_copy_of_this_process_has_one_of_its_own(child: Standing, tmp_path: Path) -> None:
    first = _ask(child, tmp_path / "a", "state")["pid"]
    process = multiprocessing.get_context("fork").Process(
        target=_write_pid, args=(child, tmp_path / "b")
    )
    process.start()
    process.join(60)
    assert int((tmp_path / "b" / "pid").read_text(encoding="utf-8")) != first
    assert _ask(child, tmp_path / "c", "state")["pid"] == first


def _write_pid(child: Standing, folder: Path) -> None:
    reported = _ask(child, folder, "state")
    (folder / "pid").write_text(str(reported["pid"]), encoding="utf-8")


def test_without_fork_each_request_has_an_interpreter_of_its_own(
    child: Standing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_CAN_FORK", False)
    pids = {_ask(child, tmp_path / name, "state")["pid"] for name in "ab"}
    assert len(pids) == 2
    assert not child.is_ready()
