"""The option that a reason names where a limit was met."""

from __future__ import annotations

import time

import pytest

from graphfix.worker.advice import TOO_MUCH, with_option
from graphfix.worker.limits import DEADLINE, ENGINE_MEMORY, ENGINE_SECONDS, Limits


@pytest.mark.parametrize(
    ("reason", "added"),
    [
        ("ran out of memory at Conv 'c'", "; --max-memory 3GiB gives more"),
        ("took longer than 3 s", "; --timeout 120 gives more"),
        ("stopped at Loop 'l' (node 2): took longer than 3 s", "; --timeout 120 gives more"),
        ("ran out of memory: it needs about 5 GiB; --max-memory 6GiB gives more", ""),
        (f"ran out of memory: {TOO_MUCH}", ""),
        ("the engine crashed (SIGSEGV)", ""),
        ("", ""),
    ],
)
def test_a_reason_names_the_option_of_a_small_file(
    monkeypatch: pytest.MonkeyPatch, reason: str, added: str
) -> None:
    monkeypatch.setenv(ENGINE_MEMORY, str(5 << 28))
    monkeypatch.setenv(ENGINE_SECONDS, "12")
    assert with_option(reason, Limits(60.0)) == reason + added
    assert with_option(reason, Limits(60.0, together=2)) == reason + added


def test_time_is_asked_for_where_someone_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    late = "took longer than 300 s"
    assert with_option(late, Limits(300.0)) == late  # from Python there is no such option
    monkeypatch.setenv(DEADLINE, str(time.monotonic() + 600.0))
    assert with_option(late, Limits(300.0)) == f"{late}; --timeout 1800 gives more"
    monkeypatch.setenv(DEADLINE, str(time.monotonic() + 2000.5))
    assert with_option(late, Limits(300.0)) == f"{late}; --timeout 4002 gives more"
