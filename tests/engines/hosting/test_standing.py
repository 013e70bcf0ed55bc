"""An engine that is started before it is asked: who borrows it, and what comes after its end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from graphfix.engines.engine import Engine
from graphfix.engines.hosting.host import Host, Refused
from graphfix.engines.hosting.standing import (
    BorrowedHost,
    StandingEngine,
    host_from,
)
from graphfix.engines.hosting.warm import KeptWarm
from graphfix.engines.interface import Meant
from graphfix.errors import EngineFailed
from graphfix.worker.service import OutOfTime

PROGRAM = Path(__file__).with_name("program.py")
X = np.arange(8, dtype=np.float32).reshape(2, 4)
START = partial(Host, Path(sys.executable), PROGRAM, "Made Up")


@pytest.fixture
def standing() -> Iterator[StandingEngine]:
    made = StandingEngine(Path(sys.executable), PROGRAM, held=True)
    yield made
    made.close()
    assert not made.folder.exists()


def order(folder: Path, text: str) -> Path:
    path = folder / f"{text or 'double'}.onnx"
    path.write_text(text)
    return path


def number_of(standing: StandingEngine) -> int:
    return int((standing.folder / "number").read_text())


def borrowed(standing: StandingEngine) -> BorrowedHost:
    host = host_from(str(standing.folder), "Made Up", START)
    assert isinstance(host, BorrowedHost)
    return host


def test_one_asker_after_the_other_has_the_same_process(
    standing: StandingEngine, tmp_path: Path
) -> None:
    for first in (True, False):
        host = borrowed(standing)
        assert (host.first, host.version()) == (first, "1.2.3-made-up")
        host.load(order(tmp_path, ""), {})
        results = host.run({"x": X})
        assert isinstance(results, list)
        np.testing.assert_array_equal(results[0], X * 2)
        with pytest.raises(Refused, match="no kernel"):
            host.load(order(tmp_path, "refuse"), {})
        host.close()
    assert standing.is_of_use()


def test_what_is_lent_is_lent_to_no_one_else(standing: StandingEngine) -> None:
    host = borrowed(standing)
    assert not standing.is_of_use()
    other = host_from(str(standing.folder), "Made Up", START)
    assert isinstance(other, Host)
    other.close()
    host.close()
    assert standing.is_of_use()


def test_what_ends_it_is_asked_once_more_in_a_new_one(
    standing: StandingEngine, tmp_path: Path
) -> None:
    host = borrowed(standing)
    host.load(order(tmp_path, ""), {})
    os.killpg(number_of(standing), signal.SIGKILL)
    results = host.run({"x": X})  # the model is loaded in the new one as well
    assert isinstance(results, list)
    np.testing.assert_array_equal(results[0], X * 2)
    with pytest.raises(EngineFailed, match=r"it crashed \(SIGSEGV"):
        host.load(order(tmp_path, "crash"), {})
    host.close()
    assert not standing.is_of_use()
    alone = host_from(str(standing.folder), "Made Up", START)
    assert isinstance(alone, Host)
    alone.close()


def test_one_that_takes_too_long_is_ended(standing: StandingEngine, tmp_path: Path) -> None:
    host = borrowed(standing)
    host._line._seconds = 0.3  # type: ignore[union-attr]
    with pytest.raises(OutOfTime, match=r"it took longer than 0\.3 s"):
        host.load(order(tmp_path, "hang"), {})
    until = time.monotonic() + 10
    while standing.is_of_use() and time.monotonic() < until:
        time.sleep(0.02)
    assert not standing.is_of_use()
    host.close()


class _MadeUp(Engine):
    family = "made-up"
    title = "Made Up"

    @property
    def program(self) -> Path:
        return PROGRAM

    def python_for(self, target: str) -> Path | None:
        return Path(sys.executable) if target == "made-up1" else None


def test_there_is_one_for_each_question_also_after_one_has_ended() -> None:
    warm = KeptWarm(_MadeUp(), Meant((1,), {}, "made-up1"))
    first = warm.meant().standing
    assert first == warm.meant().standing != ""
    os.killpg(int(Path(first, "number").read_text()), signal.SIGKILL)
    while warm.meant().standing == first:
        time.sleep(0.02)
    second = warm.meant().standing
    warm.close()
    assert not Path(second).exists()
    assert KeptWarm(_MadeUp(), Meant((2,), {}, "made-up2")).meant().standing == ""
