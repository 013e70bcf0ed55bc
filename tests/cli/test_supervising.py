"""The command that a user starts: whatever a file does to the child, one line and nothing left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import onnx
import pytest

from graphfix.cli.limits import DEADLINE, Page, parse_size
from graphfix.cli.program import interprets
from tests.processes import runs

TEXT = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[2] x) => (float[2] y) { h = Add (x, x) y = Mod <fmod = 1> (h, x) }
"""
# A pass file that does what damaged files make native libraries do.
PASS = """
import os, signal, time
from graphfix import rewrite

@rewrite("Add", removes="op:Add", emits=("Mul",), stage="named")
def misbehave(node, build):
    kind = os.environ["MISBEHAVE"]
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "abort":
        os.abort()
    if kind == "hang":
        open(os.environ["STARTED"], "w").close()
        time.sleep(600)
    if kind == "deaf":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
        open(os.environ["STARTED"], "w").close()
        time.sleep(600)
    if kind == "grow":
        held = []
        while True:
            held.append(bytearray(1 << 26))
    return build.Mul(node.inputs[0], 2.0)
"""


def start(
    folder: Path, kind: str, *words: str, ignored: tuple[signal.Signals, ...] = ()
) -> subprocess.Popen[str]:
    """Start a run in a folder.

    Args:
        folder: Where.
        kind: How the pass misbehaves.
        words: Further arguments.
        ignored: The signals that whoever starts it ignores, as a shell does in the background;
            what these tests were started with must not count.
    """

    def as_started() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    (folder / "pass.py").write_text(PASS.replace(', stage="named"', ""), encoding="utf-8")
    (folder / "m.onnx").write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    (folder / "tmp").mkdir()
    environment = {
        **os.environ,
        "MISBEHAVE": kind,
        "STARTED": str(folder / "tmp" / "started"),
        "TMPDIR": str(folder / "tmp"),
    }
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "graphfix", "run", "m.onnx", "--passes", "misbehave"),
            *("--pass-file", "pass.py", "-o", "out.onnx", *words),
        ],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=as_started,
    )


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    for each in found:
        try:
            tasks = Path(f"/proc/{each}/task").iterdir()
            for task in tasks:
                found += [int(word) for word in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def gone(pids: list[int]) -> bool:
    """Say whether processes end within some seconds; those of no one are reaped by no one."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not any(runs(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def left(folder: Path) -> list[str]:
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if "__pycache__" not in p.parts}
    return sorted(files - {"m.onnx", "pass.py", "tmp", "tmp/started"})


@pytest.mark.parametrize(
    ("kind", "said"), [("crash", "(SIGSEGV), at stage passes"), ("abort", "(SIGABRT), at stage")]
)
def test_what_crashes_the_child_ends_in_3_with_one_line(
    tmp_path: Path, kind: str, said: str
) -> None:
    process = start(tmp_path, kind)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert out == ""
    assert err.startswith("graphfix: error: m.onnx: crashed a library that reads it ")
    assert said in err
    assert err.count("\n") == 1
    assert left(tmp_path) == []


def test_a_pass_that_takes_too_much_memory_fails_alone(tmp_path: Path) -> None:
    process = start(tmp_path, "grow", "--max-memory", "700MiB", "--json")
    out, err = process.communicate(timeout=120)
    failed = [o for o in json.loads(out)["outcomes"] if o["status"] == "failed"]
    assert [o["pass"] for o in failed] == ["misbehave"]
    assert "MemoryError" in failed[0]["reason"]
    assert "Traceback" not in err


@pytest.mark.parametrize(("stage", "code"), [("save", 7), ("verify", 3)])
def test_what_is_being_saved_has_its_time(stage: str, code: int) -> None:
    script = """
import sys, time
from graphfix.cli.progress import PlaceHook
from graphfix.cli.supervising import supervised

def work(page):
    page.limit(time.monotonic() + 0.3, 0.3)
    PlaceHook(page).stage(sys.argv[1])
    time.sleep(1.6)
    return 7

sys.exit(supervised(work))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, stage], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert ("took longer than 0.3 s, at stage verify" in done.stderr) == (code == 3)


@pytest.mark.parametrize("stopped", [False, True])
def test_what_takes_too_long_ends_in_3_with_one_line(tmp_path: Path, *, stopped: bool) -> None:
    process = start(tmp_path, "deaf", "--timeout", "12")
    wait_for(tmp_path / "tmp" / "started")
    pids = family(process.pid)
    if stopped:  # what it does not see to, the system does
        process.send_signal(signal.SIGSTOP)
        time.sleep(12)
        assert gone(pids[1:])
        process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert out == ""
    assert err.startswith("graphfix: error: m.onnx: took longer than 12 s, at stage passes")
    assert err.count("\n") == 1
    assert gone(pids)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("kind", ["hang", "deaf"])
def test_a_signal_ends_it_in_mid_run_and_leaves_no_process_and_no_file(
    tmp_path: Path, kind: str, number: signal.Signals, code: int
) -> None:
    process = start(tmp_path, kind)
    wait_for(tmp_path / "tmp" / "started")
    pids = family(process.pid)
    assert len(pids) > 1
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in err
    assert gone(pids)
    assert left(tmp_path) == []


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGHUP])
def test_what_was_started_to_ignore_a_signal_continues(
    tmp_path: Path, ignored: signal.Signals
) -> None:
    process = start(tmp_path, "hang", ignored=(ignored,))
    wait_for(tmp_path / "tmp" / "started")
    pids = family(process.pid)
    for pid in pids:  # as a terminal sends it
        os.kill(pid, ignored)
    time.sleep(1)
    assert process.poll() is None
    assert [runs(pid) for pid in pids[:2]] == [True, True]  # the command and its child
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, "", "")
    assert gone(pids)
    assert left(tmp_path) == []


def test_a_kill_of_the_command_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    process = start(tmp_path, "hang")
    wait_for(tmp_path / "tmp" / "started")
    pids = family(process.pid)
    process.kill()
    process.communicate(timeout=60)
    assert gone(pids)
    assert left(tmp_path) == []


def test_the_exit_code_and_the_output_are_those_of_the_child(tmp_path: Path) -> None:
    process = start(tmp_path, "nothing", "--verify", "off")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "misbehave" in out
    assert err == ""
    assert left(tmp_path) == ["out.onnx"]


def test_what_interprets_no_model_has_no_child() -> None:
    assert interprets(["run", "m.onnx"])
    assert interprets(["--debug", "inspect", "m.onnx"])
    assert not interprets(["--help"])
    assert not interprets(["run", "--help"])
    assert not interprets(["passes"])
    assert not interprets([])


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GiB", 2 << 30), ("1.5 GiB", 3 << 29), ("3000MB", 3 * 10**9), ("536870912", 1 << 29)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "GiB", "1 MiB", "-2GiB", "nan", "1e999GiB", "2PiB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is no size|is too little"):
        parse_size(text)


def test_who_watches_never_sees_half_of_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEADLINE, "inf")  # to be restored: a page writes it
    page = Page()
    page.limit(1e9, 900.0)
    child = os.fork()
    if child == 0:
        for turn in range(100_000):
            page.limit(1e9 + turn, 900.0)
        os._exit(0)
    seen: set[float] = set()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        seen.add(page.deadline)
    assert 1e9 <= min(seen) <= max(seen) < 1e9 + 100_000
    assert len(seen) > 1
