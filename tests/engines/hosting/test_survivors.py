"""Engines that took long to start wait for the next run, unless they refused something."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from graphfix.engines.engine import Engine
from graphfix.engines.hosting import serve, warm
from graphfix.engines.hosting.host import Host, Refused
from graphfix.engines.hosting.standing import BorrowedHost, host_from, lives
from graphfix.engines.hosting.warm import KEEP, Standing, standing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they are kept on Linux only")
_MODEL = Path(__file__).with_name("program.py").read_text(encoding="utf-8")


class _Slow(Engine):
    family = title = "slow"
    file = Path()

    @property
    def program(self) -> Path:
        return self.file

    def python_for(self, target: str) -> Path | None:
        return Path(sys.executable)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Slow:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(KEEP, "30")
    return _with(tmp_path, _Slow(), 0.7)


def _with(folder: Path, engine: _Slow, seconds: float) -> _Slow:
    engine.file = folder / "program.py"
    slow = _MODEL.replace(
        "import time\n", f"import time\nwhile time.process_time() < {seconds}:\n    pass\n", 1
    )
    engine.file.write_text(slow, encoding="utf-8")
    return engine


def _asked(engine: _Slow, order: str) -> Standing:
    process = standing(engine, "slow1")
    assert process is not None
    start = partial(Host, Path(sys.executable), engine.file, "slow")
    host = host_from(str(process.folder), "slow", start)
    assert isinstance(host, BorrowedHost)
    model = engine.file.with_name(f"{order}.onnx")
    model.write_text(order, encoding="ascii")
    with pytest.raises(Refused) if order == "refuse" else nullcontext():
        host.load(model, {})
    host.close()
    process.close()
    return process


def _end(process: Standing) -> None:
    os.killpg(int((process.folder / "number").read_text(encoding="ascii")), signal.SIGKILL)


def test_the_next_run_has_it_until_it_refuses_something(engine: _Slow) -> None:
    first = _asked(engine, "")
    assert (first.folder / serve.KEPT).exists()
    assert lives(first.folder)
    second = _asked(engine, "refuse")
    assert second.folder == first.folder
    third = _asked(engine, "")
    assert third.folder != first.folder
    _end(first)
    _end(third)


def test_what_starts_quickly_ends_with_the_run(engine: _Slow, tmp_path: Path) -> None:
    process = _asked(_with(tmp_path, engine, 0.0), "")
    assert not process.folder.exists()


def test_none_is_kept_where_none_is_wanted(engine: _Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEEP, "0")
    assert not _asked(engine, "").folder.exists()


def test_it_ends_by_itself_with_its_folder(engine: _Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEEP, "1")
    process = _asked(engine, "")
    until = time.monotonic() + 30
    while process.folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not process.folder.exists()


def test_what_an_ended_one_left_is_removed(engine: _Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _asked(engine, "")
    _end(first)
    monkeypatch.setattr(warm, "_STARTING", 0.0)
    until = time.monotonic() + 10
    while lives(first.folder) and time.monotonic() < until:
        time.sleep(0.05)
    second = _asked(engine, "")
    assert second.folder != first.folder
    assert not first.folder.exists()
    _end(second)


def test_other_programs_and_variables_have_others(
    engine: _Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _asked(engine, "")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    second = _asked(engine, "")
    assert second.folder.parent != first.folder.parent
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # two wait already
    third = standing(engine, "slow1")
    assert third is not None
    third.close()
    assert third.folder.parent == Path(os.environ.get("TMPDIR", "/tmp"))
    _end(first)
    _end(second)
