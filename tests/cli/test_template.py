"""Children of the command line: copies of a process that is its own, and of no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphfix.cli import main
from graphfix.testing import parse
from graphfix.worker import service

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { a = Identity (x)  y = Mod <fmod = 1> (a, x) }
"""
# Runs a command as the process's own words, and says how its child started children of its own:
# what the child counts it writes at its end to memory that both see.
WATCHED = """
import atexit, json, mmap, os, sys
from graphfix.worker import service
import graphfix.cli
said, seen, watching = {"forked": 0, "spawned": 0}, mmap.mmap(-1, 4096), os.getpid()
for name, kind in (("forked", "forked"), ("spawned_template", "spawned")):
    def started(old=getattr(service, name), kind=kind):
        said[kind] += 1
        return old()
    setattr(service, name, started)
def tell():
    if os.getpid() != watching:
        said["threads"] = [n for n in os.environ if n.endswith("_NUM_THREADS")]
        seen.write(json.dumps(said).encode())
atexit.register(tell)
code = graphfix.cli.main()
print(json.dumps([code, json.loads(seen[:].rstrip(b"\\0"))]), file=sys.stderr)
"""


def _run(*words: str) -> tuple[int, dict[str, object]]:
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *words],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    code, said = json.loads(done.stderr.splitlines()[-1])
    return code, said


def _file(folder: Path) -> str:
    path = folder / "m.onnx"
    path.write_bytes(parse(MODEL).SerializeToString())
    return str(path)


def test_children_of_a_command_are_copies_of_it_and_start_no_interpreter(tmp_path: Path) -> None:
    file = _file(tmp_path)
    run = ("run", file, "--passes", "identity-elimination", "-o", str(tmp_path / "out.onnx"))
    assert _run(*run) == (0, {"forked": 1, "spawned": 0, "threads": []})
    assert _run("compare", file, file) == (0, {"forked": 1, "spawned": 0, "threads": []})


@pytest.mark.parametrize("words", [("check", "--target", "trt8"), ("run", "--verify", "off")])
def test_a_command_that_runs_nothing_has_no_template(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    further = ("--target", "trt8", "--dry-run") if words[0] == "run" else ()
    _, said = _run(words[0], _file(tmp_path), *words[1:], *further)
    assert said == {"forked": 0, "spawned": 0, "threads": []}


def test_a_process_that_calls_the_command_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never() -> None:
        pytest.fail("the process of the tests was to be forked")

    monkeypatch.setattr(service, "fork_here", never)
    file = _file(tmp_path)
    assert main(["compare", file, file]) == 0


def test_the_bar_of_a_process_with_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> bool:
        return False

    monkeypatch.setattr(service, "is_single_threaded", busy)
    monkeypatch.setattr(service, "forked", lambda: pytest.fail("forked next to threads"))
    service.fork_here()
