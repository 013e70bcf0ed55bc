"""Children: what they see, how they end, and that nothing is left of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphfix.errors import EngineFailed, GraphfixError, InvalidModel, UsageError
from graphfix.worker import service
from graphfix.worker.limits import ENGINE_SECONDS, Limits, available_memory
from graphfix.worker.messages import ChildFault
from graphfix.worker.service import OutOfTime, ask, end_template, engine_work_spent
from tests.processes import runs

LIMITS = Limits(60.0, 2 << 30)
TASKS = "tests.worker.tasks:"
ROOT = Path(__file__).resolve().parents[2]


def _ask(folder: Path, task: str, limits: Limits = LIMITS, **request: Any) -> dict[str, Any]:
    return ask(TASKS + task, folder, request, limits, dict[str, Any])


def _wait_until(gone: list[int], seconds: float = 10.0) -> list[int]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(map(runs, gone)):
        time.sleep(0.02)
    return [pid for pid in gone if runs(pid)]


def _begun(folder: Path) -> list[int]:
    deadline = time.monotonic() + 30
    while not (folder / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [int(word) for word in (folder / "begun").read_text(encoding="utf-8").split()]


def test_children_are_forked_from_one_template_that_has_imported_everything(tmp_path: Path) -> None:
    first, second = _ask(tmp_path, "state"), _ask(tmp_path, "state")
    assert first["pid"] != second["pid"]
    assert first["parent"] == second["parent"] != os.getpid()
    assert first["modules"] == ["numpy", "onnx", "onnxruntime"]
    assert first["threads"] == 1
    assert first["descriptors"] == second["descriptors"]
    assert (first["timeout"], first["memory_limit"]) == (60.0, 2 << 30)


def test_a_child_sees_the_environment_folder_and_path_of_the_host_as_they_are_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _ask(tmp_path, "state")
    (tmp_path / "lies_adjacent.py").write_text("SAID = 'found'\n", encoding="utf-8")
    later = tmp_path / "later"
    later.mkdir()
    (later / "lies_later.py").write_text("SAID = 'found later'\n", encoding="utf-8")
    monkeypatch.setenv("GRAPHFIX_TEST", "set \udcff now")
    monkeypatch.chdir(later)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", str(later))
    seen = _ask(tmp_path, "state", variable="GRAPHFIX_TEST")
    assert (seen["variable"], seen["folder"]) == ("set \udcff now", str(later))
    assert seen["path"][0] == str(tmp_path)
    assert _ask(tmp_path, "adjacent", module="lies_adjacent") == {"said": "found"}
    assert _ask(tmp_path, "adjacent", module="lies_later") == {"said": "found later"}
    monkeypatch.delenv("GRAPHFIX_TEST")
    assert _ask(tmp_path, "state", variable="GRAPHFIX_TEST")["variable"] is None
    assert _ask(tmp_path, "state", variable="OPENBLAS_NUM_THREADS")["variable"] is None


@pytest.mark.parametrize("signal_name", ["", "SIGKILL"])
def test_temporary_files_of_a_child_go_with_its_request_however_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal_name: str
) -> None:
    request, temporary = tmp_path / "request", tmp_path / "temporary"
    request.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    if signal_name:
        with pytest.raises(EngineFailed, match=signal_name):
            _ask(request, "leaves_files", signal=signal_name)
    else:
        _ask(request, "leaves_files", signal="")
    assert list(temporary.iterdir()) == []
    assert len(list(request.glob("left-*"))) == 2


@pytest.mark.parametrize(("chosen", "seen"), [(None, "1"), ("0", "0")])
def test_onnxruntime_reports_nothing_unless_the_user_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str | None, seen: str
) -> None:
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    if chosen is not None:
        monkeypatch.setenv("ORT_DISABLE_TELEMETRY", chosen)
    assert _ask(tmp_path, "state", variable="ORT_DISABLE_TELEMETRY")["variable"] == seen
    assert os.environ.get("ORT_DISABLE_TELEMETRY") == chosen


def test_what_the_host_was_started_as_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_template()
    monkeypatch.setattr(sys, "argv", ["--no-such-option", "x"])
    monkeypatch.setitem(sys.modules, "__main__", None)
    monkeypatch.chdir(tmp_path)
    for name in ("numpy", "json", "graphfix"):  # not imported from where the host is
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    assert _ask(tmp_path, "state")["folder"] == str(tmp_path)


@pytest.mark.parametrize(
    ("kind", "error"), [("engine", EngineFailed), ("usage", UsageError), ("invalid", InvalidModel)]
)
def test_errors_of_ours_come_back_as_what_they_are(
    tmp_path: Path, kind: str, error: type[GraphfixError]
) -> None:
    with pytest.raises(error) as caught:
        _ask(tmp_path, "fails", kind=kind)
    assert type(caught.value) is error
    assert str(caught.value) == "there: reported (do that)"


@pytest.mark.parametrize(
    ("task", "request_", "text"),
    [
        ("crashes", {}, "the engine crashed (SIGSEGV): last words"),
        ("ends", {"signal": "SIGKILL"}, "the engine crashed (SIGKILL)"),
        ("ends", {"signal": "", "code": 7}, "the engine's process ended with code 7"),
        ("eats", {"bytes": 1 << 31}, "ran out of memory"),
        ("fails", {"kind": "disk"}, "No space left on device"),
        ("fails", {"kind": "depth"}, "the model is nested too deeply"),
    ],
)
def test_a_death_says_how(tmp_path: Path, task: str, request_: dict[str, Any], text: str) -> None:
    with pytest.raises(EngineFailed) as caught:
        _ask(tmp_path, task, Limits(60.0, 1 << 30), **request_)
    assert text in caught.value.message
    assert _ask(tmp_path, "eats", bytes=1 << 10) == {"length": 1 << 10}


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("nothing", "AttributeError: module 'tests.worker.tasks' has no attribute 'nothing'"),
        ("fails", "ZeroDivisionError: not ours"),
    ],
)
@pytest.mark.parametrize("fork", [True, False])
def test_a_fault_of_ours_is_no_error_of_an_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, task: str, text: str, *, fork: bool
) -> None:
    monkeypatch.setattr(service, "_CAN_FORK", fork and hasattr(os, "fork"))
    with pytest.raises(ChildFault) as caught:
        _ask(tmp_path, task, Limits(60.0, 1 << 30), kind="")
    assert str(caught.value) == text
    assert not isinstance(caught.value, GraphfixError)
    (trace,) = caught.value.__notes__
    assert trace.startswith("Traceback (most recent call last)")
    assert text.partition(":")[0] in trace


TRACE = 'Traceback (most recent call last):\n  File "child.py", line 1, in serve\n    x = y\n{}\n'


@pytest.mark.parametrize(
    ("said", "kind", "text"),
    [
        (TRACE.format("KeyError: 'task'"), ChildFault, "KeyError: 'task'"),
        ("loud\n" + TRACE.format("ValueError: two\n  lines"), ChildFault, "ValueError: two"),
        (TRACE.format("MemoryError"), EngineFailed, "ran out of memory"),
        (
            TRACE.format("ImportError: libx.so: failed to map segment from shared object"),
            EngineFailed,
            "the engine's process ended with code 1: ",
        ),
        ("error: no such layer", EngineFailed, "the engine's process ended with code 1: error"),
    ],
)
def test_an_exception_that_ends_a_child_is_a_fault_and_what_an_engine_says_is_not(
    tmp_path: Path, said: str, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as caught:
        _ask(tmp_path, "ends_after_words", said=said)
    assert str(caught.value).startswith(text)


def test_memory_is_a_share_of_what_is_free_where_no_one_says(tmp_path: Path) -> None:
    free = available_memory()
    assert free is not None
    allowed = _ask(tmp_path, "state", Limits(60.0, together=2))["memory_limit"]
    assert 0.2 * free < allowed < 0.6 * free
    assert _ask(tmp_path, "eats", Limits(60.0, 1 << 20, held=False), bytes=1 << 24)


def test_a_child_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    _ask(tmp_path, "state")
    start = time.monotonic()
    with pytest.raises(OutOfTime, match="took longer than 2 s"):
        _ask(tmp_path, "sleeps", Limits(2.0, None), seconds=60)
    assert time.monotonic() - start < 20
    child, _, grandchild = _begun(tmp_path)
    assert _wait_until([child, grandchild]) == []


def test_work_is_counted_and_waiting_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = engine_work_spent()
    monkeypatch.setenv(ENGINE_SECONDS, str(spent + 2.0))
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    # It waits for longer than it may work.
    assert _ask(folders[0], "sleeps", Limits(60.0, None), seconds=2.5) == {}
    assert engine_work_spent() - spent < 1.0
    assert _ask(folders[1], "spins", Limits(60.0, None), seconds=0.5) == {}
    with pytest.raises(OutOfTime, match=r"took longer than the .* s that all engines"):
        _ask(folders[2], "spins", Limits(60.0, None), seconds=60)
    assert engine_work_spent() >= spent + 2.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the template counts it")
def test_waiting_of_a_child_that_crashes_is_not_counted_as_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = engine_work_spent()
    monkeypatch.setenv(ENGINE_SECONDS, str(spent + 2.0))
    with pytest.raises(EngineFailed, match="SIGSEGV"):
        _ask(tmp_path, "ends", signal="SIGSEGV", seconds=1.5)
    assert engine_work_spent() - spent < 1.0


def test_a_child_may_work_for_longer_where_a_first_sample_shows_that_it_has_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_template()
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()

    def ask_for(folder: Path, needed: float, seconds: float) -> float | None:
        monkeypatch.setenv(ENGINE_SECONDS, str(engine_work_spent() + 1.0))
        reported = _ask(folder, "works", Limits(60.0, None), needed=needed, seconds=seconds)
        more: float | None = reported["more"]
        return more

    assert ask_for(folders[0], 3.0, 2.2) == 3.0
    assert ask_for(folders[1], 1e3, 0.1) is None  # whatever it asks for
    with pytest.raises(OutOfTime, match="that all engines together get"):
        ask_for(folders[2], 1e3, 4.0)


def test_what_libraries_print_is_not_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    end_template()
    assert _ask(tmp_path, "loud") == {}
    assert capfd.readouterr() == ("", "")
    kept = (tmp_path / "stderr.txt").read_text(encoding="utf-8")
    assert sorted(kept.splitlines()) == ["loud on 2", "loud on stderr"]


def test_requests_at_once_run_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(_ask, folder, "sleeps", seconds=1) for folder in folders]
        assert len({_begun(folder)[0] for folder in folders}) == 4
        assert not any(future.done() for future in waiting)
        assert [future.result() for future in waiting] == [{}] * 4


def test_a_template_that_was_killed_is_replaced(tmp_path: Path) -> None:
    old = _ask(tmp_path, "state")["parent"]
    os.kill(old, signal.SIGKILL)
    assert _wait_until([old]) == []
    assert _ask(tmp_path, "state")["parent"] != old


def test_a_template_that_is_killed_takes_its_children_with_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_ask, tmp_path, "sleeps", seconds=60)
        child, template, _ = _begun(tmp_path)
        os.kill(template, signal.SIGKILL)
        with pytest.raises(EngineFailed, match="its parent was killed"):
            waiting.result(30)
    assert _wait_until([child, template]) == []


def test_nothing_is_left_of_many_requests(tmp_path: Path) -> None:
    end_template()  # children that other tests keep end with theirs
    template = _ask(tmp_path, "state")["parent"]

    def count() -> tuple[int, int]:
        return len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{template}/fd"))

    def ask_badly() -> None:
        with pytest.raises(EngineFailed):
            _ask(tmp_path, "ends", signal="SIGKILL")

    ask_badly()
    before = count()
    for _ in range(10):
        ask_badly()
        _ask(tmp_path, "eats", bytes=1)
    assert count() == before
    children = Path(f"/proc/{template}/task/{template}/children").read_text(encoding="ascii")
    assert children.split() == []


def _asked_in_a_copy(folder: str, queue: Any) -> None:
    queue.put(
        (os.getpid(), ask(TASKS + "state", Path(folder), {}, LIMITS, dict[str, Any])["parent"])
    )


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_copy_of_the_host_has_a_template_of_its_own(tmp_path: Path) -> None:
    mine = _ask(tmp_path, "state")["parent"]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_asked_in_a_copy, args=(str(tmp_path), queue))
    process.start()
    _, theirs = queue.get(timeout=60)
    process.join()
    assert theirs != mine
    assert _ask(tmp_path, "state")["parent"] == mine
    assert _wait_until([theirs]) == []


def test_without_fork_each_request_has_an_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_CAN_FORK", False)
    seen = _ask(tmp_path, "state")
    assert seen["parent"] == os.getpid()
    assert seen["memory_limit"] == 2 << 30
    with pytest.raises(UsageError, match="reported"):
        _ask(tmp_path, "fails", kind="usage")
    with pytest.raises(EngineFailed, match=r"SIGSEGV.*last words"):
        _ask(tmp_path, "crashes")
    with pytest.raises(OutOfTime):
        _ask(tmp_path, "sleeps", Limits(2.0, None), seconds=60)


STOPPED = """
import sys
from pathlib import Path
from graphfix.errors import EngineFailed
from graphfix.worker import service
from graphfix.worker.limits import Limits
from graphfix.worker.standing_child import Standing
child = Standing() if sys.argv[2] == "standing" else None
try:
    request, limits = {"seconds": float(sys.argv[3])}, Limits(2.0, None)
    service.ask("tests.worker.tasks:spins", Path(sys.argv[1]), request, limits, dict, child=child)
    print("answered")
except EngineFailed as error:
    print(error)
"""


def _taken(pids: list[int]) -> float:
    """Return the seconds of a processor that those of the processes have taken that run."""
    reported = [Path(f"/proc/{pid}/stat").read_text(encoding="ascii") for pid in pids if runs(pid)]
    words = [text.rpartition(")")[2].split() for text in reported]
    return sum(int(each[11]) + int(each[12]) for each in words) / os.sysconf("SC_CLK_TCK")


def _rest(pids: list[int], seconds: float = 20.0) -> bool:
    """Say whether processes come to take no processor, for half a second."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        before = _taken(pids)
        time.sleep(0.5)
        if abs(_taken(pids) - before) < 0.05:
            return True
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc, as Linux has it")
@pytest.mark.parametrize("way", ["alone", "standing"])
@pytest.mark.parametrize(("seconds", "said"), [(1.0, "answered"), (90.0, "took longer than 2 s")])
def test_nothing_runs_on_while_the_host_is_stopped(
    tmp_path: Path, way: str, seconds: float, said: str
) -> None:
    words = [sys.executable, "-c", STOPPED, str(tmp_path), way, str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as host:
        pids = _begun(tmp_path)
        host.send_signal(signal.SIGSTOP)
        rests = _rest(pids)
        host.send_signal(signal.SIGCONT)
        assert host.communicate(timeout=30)[0].strip() == said
    assert rests


HOST = """
import signal
import sys
from pathlib import Path
from graphfix.worker import service
from graphfix.worker.limits import Limits, single_threaded
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background has none
{before}
try:
    limits = Limits(60, None)
    service.ask("tests.worker.tasks:sleeps", Path(sys.argv[1]), {{"seconds": 60}}, limits, dict)
except KeyboardInterrupt:
    sys.exit(130)
"""
WAYS = {
    "spawned": "",
    "forked": "with single_threaded():\n    import numpy\nservice.fork_here()",
    "without fork": "service._CAN_FORK = False",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("killed_by", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_children_die_with_their_parent(
    tmp_path: Path, way: str, killed_by: signal.Signals
) -> None:
    script = HOST.format(before=WAYS[way])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE) as host:
        child, template, grandchild = _begun(tmp_path)
        assert (template == host.pid) == (way == "without fork")
        host.send_signal(killed_by)
        code = host.wait(20)
        assert host.stderr is not None
        assert host.stderr.read() == b""  # it ends: nothing else holds the other end
    assert code == (130 if killed_by == signal.SIGINT else -killed_by)
    assert _wait_until([child, template]) == []
    if way == "without fork":  # what an engine starts is out of reach there
        os.kill(grandchild, signal.SIGKILL)
    assert _wait_until([grandchild]) == []
