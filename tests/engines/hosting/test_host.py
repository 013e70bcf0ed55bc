"""An engine in a process of its own: what it answers, and what it does to itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from graphfix.engines.hosting.host import SERVE, Host, Refused
from graphfix.engines.hosting.runner import HostedRunner, typed
from graphfix.errors import EngineFailed
from graphfix.worker.service import Crashed, OutOfTime

PROGRAM = Path(__file__).with_name("program.py")
MODEL = """
<ir_version: 8, opset_import: ["": 17]>
g (float[N, 4] x, int64[2] n) => (float[N, 4] y, int64[2] m) { y = Add (x, x) m = Identity (n) }
"""
X = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.fixture
def host() -> Iterator[Host]:
    with Host(Path(sys.executable), PROGRAM, "Made Up", memory=1 << 30) as made:
        yield made


def order(folder: Path, text: str) -> Path:
    path = folder / f"{text or 'double'}.onnx"
    path.write_text(text)
    return path


def test_a_model_is_loaded_and_run_and_then_the_next_one(host: Host, tmp_path: Path) -> None:
    assert host.version() == "1.2.3-made-up"
    host.load(order(tmp_path, ""), {})
    doubled = host.run({"x": X})
    assert isinstance(doubled, list)
    np.testing.assert_array_equal(doubled[0], X * 2)
    host.load(order(tmp_path, "shapes"), {"a/b": (2, 3)})
    shapes = host.run({})
    assert isinstance(shapes, dict)
    assert shapes["a/b"].tolist() == [2, 3]


def test_text_and_no_dimensions_come_over(host: Host, tmp_path: Path) -> None:
    host.load(order(tmp_path, ""), {})
    given = np.array(["ä", "bc"], dtype=object)
    _, text = host.run({"x": np.array(1.5), "n": given})
    assert np.asarray(text).tolist() == ["ä", "bc"]


def test_a_refusal_has_the_words_and_the_stage_and_the_process_lives_on(
    host: Host, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match=r"^Made Up: no kernel for this$") as refused:
        host.load(order(tmp_path, "refuse"), {})
    assert refused.value.stage == "build"
    host.load(order(tmp_path, "fail"), {})
    with pytest.raises(Refused, match="no such input"):
        host.run({"x": X})
    assert host.alive


def test_a_model_that_is_too_big_is_refused(host: Host, tmp_path: Path) -> None:
    host.load(order(tmp_path, "huge"), {})
    with pytest.raises(Refused, match=r"it ran out of memory: .*allocate"):
        host.run({})
    assert host.alive


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_libraries_may_reserve_more_than_models_may_take(tmp_path: Path) -> None:
    """Who asks may be held to little, under which an engine's own libraries are not loaded."""
    program = tmp_path / "program.py"
    program.write_text("import mmap\nreserved = mmap.mmap(-1, 2 << 30)\n")
    serving = [sys.executable, "-Iu", str(SERVE), str(program), str(os.getpid()), str(1 << 28)]
    words = ["sh", "-c", 'ulimit -S -v 1500000; exec "$@"', "sh", *serving]
    done = subprocess.run(words, input="", capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"ready": True}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("crash", r"it crashed \(SIGSEGV, with 1.0 GiB at most\): a word that is no answer"),
        ("leave", "it ended with code 3"),
    ],
)
def test_a_death_is_reported(host: Host, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Crashed, match=said):
        host.load(order(tmp_path, text), {})
    assert not host.alive
    with pytest.raises(Crashed, match=said):
        host.version()


def test_time_is_limited(tmp_path: Path) -> None:
    with Host(Path(sys.executable), PROGRAM, "Made Up", seconds=0.5) as host:
        start = time.monotonic()
        with pytest.raises(OutOfTime, match=r"it took longer than 0.5 s"):
            host.load(order(tmp_path, "hang"), {})
        assert time.monotonic() - start < 20
        host.close()
        assert not host.alive


def test_what_is_no_engine_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import no_such_engine")
    with pytest.raises(EngineFailed, match="it cannot be imported: No module named"):
        Host(Path(sys.executable), program, "Made Up")
    with pytest.raises(EngineFailed, match="does not start: No such file"):
        Host(tmp_path / "python", PROGRAM, "Made Up")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of a parent")
def test_it_ends_with_the_process_that_asks(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from graphfix.engines.hosting.host import Host\n"
        f"host = Host(Path(sys.executable), Path({str(PROGRAM)!r}), 'Made Up')\n"
        "print(host.process_id, flush=True); os._exit(0)"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for _ in range(100):
        if not Path("/proc", done.stdout.strip()).exists():
            return
        time.sleep(0.05)
    os.kill(int(done.stdout), 9)
    pytest.fail("it lives on")


def test_a_runner_gives_outputs_in_the_types_of_the_model(host: Host, tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    runner = HostedRunner(host, model, order(tmp_path, ""), parts=2, static=False)
    assert (runner.name, runner.version) == ("Made Up 1.2.3", (1, 2))
    # The engine has one type of numbers.
    found = runner.run({"x": X, "n": np.array([3.0, 4.0], dtype=np.float32)})
    assert (found["y"].dtype, found["m"].dtype) == (np.float32, np.int64)
    assert found["m"].tolist() == [3, 4]
    with pytest.raises(EngineFailed, match="1 outputs came, not 2"):
        runner.run({"x": X})


@pytest.mark.parametrize(("text", "right"), [("", True), ("keep", False)])
def test_what_is_kept_of_a_run_shows_in_the_next(
    host: Host, tmp_path: Path, text: str, right: bool
) -> None:
    model = parser.parse_model(MODEL)
    runner = HostedRunner(host, model, order(tmp_path, text), parts=2, static=False)
    feed = {"x": X, "n": np.array([3, 4])}
    np.testing.assert_array_equal(runner.run(feed)["y"], 2 * X)
    found = runner.run_again(feed)
    np.testing.assert_array_equal(found["y"], 2 * X if right else 2 * X[::-1, ::-1])
    assert found["m"].tolist() == [3, 4]


def test_a_runner_says_what_is_missing_and_which_stage_refused(host: Host, tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    runner = HostedRunner(host, model, order(tmp_path, "shapes"), parts=2, static=False)
    with pytest.raises(EngineFailed, match=r"^Made Up 1.2.3: there is no output y$"):
        runner.run({"x": X})
    runner = HostedRunner(host, model, order(tmp_path, "refuse"), parts=2, static=False)
    with pytest.raises(EngineFailed, match=r"^Made Up 1.2.3: build: no kernel for this$"):
        runner.run({"x": X})


def test_a_sequence_is_given_to_no_other_process(host: Host, tmp_path: Path) -> None:
    model = parser.parse_model(MODEL)
    runner = HostedRunner(host, model, order(tmp_path, ""), parts=2, static=False)
    parts = [np.zeros((2, 1), np.float32), np.zeros((2, 3), np.float32)]
    with pytest.raises(EngineFailed, match="the sequence x cannot be given to it"):
        runner.run({"x": parts})


def test_an_engine_of_fixed_sizes_gets_the_model_again_for_other_sizes(
    host: Host, tmp_path: Path
) -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> g (float[N] x) => (int64[1] x) { }'
    )
    path = order(tmp_path, "shapes")
    found: list[list[int]] = []
    for static in (True, False):
        runner = HostedRunner(host, model, path, parts=2, static=static)
        for size in (2, 3):
            found.append(runner.run({"x": np.zeros(size, np.float32)})["x"].tolist())
    assert found == [[2], [3], [2], [2]]


def test_a_number_that_the_type_of_the_model_lacks_stays() -> None:
    floats = np.array([1.0, 2.0])
    assert typed(floats, np.dtype(np.int64)).dtype == np.int64
    assert typed(floats + 0.5, np.dtype(np.int64)).tolist() == [1.5, 2.5]
    assert typed(np.array([0.0, 2.0]), np.dtype(np.bool_)).dtype == np.float64
    assert typed(floats, np.dtype(np.float32)).dtype == np.float32
    stored = np.array([1.0, 2.0], dtype=np.float16).view("V2")  # as numpy reads back a bfloat16
    assert typed(stored, np.dtype(np.float16)).tolist() == [1.0, 2.0]
    assert typed(stored, np.dtype(np.float32)).dtype == stored.dtype


def test_outputs_that_numpy_cannot_read_are_reported(host: Host, tmp_path: Path) -> None:
    host.load(order(tmp_path, "strange"), {})
    with pytest.raises(Refused, match="its outputs cannot be read: Object arrays"):
        host.run({})
    assert host.alive


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_an_input_of_a_type_that_numpy_lacks_is_reported(
    host: Host, tmp_path: Path, name: str
) -> None:
    host.load(order(tmp_path, ""), {})
    value = np.zeros(2, np.dtype(getattr(import_module("ml_dtypes"), name)))
    with pytest.raises(Refused, match=f"input x is {name}, which numpy lacks"):
        host.run({"x": value})


@pytest.mark.skipif(os.name != "posix", reason="Windows has no limit of this kind")
def test_the_time_of_who_started_it_is_not_that_of_a_conversion(tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        "import time\n"
        "def version(): return '1'\n"
        "def load(path, shapes):\n"
        "    while time.process_time() < 1.5: pass\n"
        "    return lambda feed: []\n"
    )
    words = [sys.executable, "-I", str(SERVE), str(program), str(os.getpid()), "0"]
    shell = ["sh", "-c", 'ulimit -S -t 1; exec "$@"', "sh", *words]
    asked = json.dumps({"load": "m.onnx", "shapes": {}}) + "\n"
    answered = subprocess.run(shell, input=asked, capture_output=True, text=True, check=False)
    assert [json.loads(line) for line in answered.stdout.splitlines()] == [
        {"ready": True},
        {"loaded": True},
    ], answered.stderr
