"""Commands where Python lacks what POSIX alone has, as on Windows, and files without holes.

A ``sitecustomize.py`` takes fork, limits, process groups and the rest away from the command and
from every process that it starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from graphfix.ir.storage import saving

ROOT = Path(__file__).parents[1]
WITHOUT = """
import os, signal, socket, subprocess, sys

subprocess.Popen.kill = lambda self: self.send_signal(9)  # where there is no SIGKILL
for module, names in {
    os: "fork killpg setsid setpgid getpgid getloadavg sysconf register_at_fork wait3 wait4 pread "
        "sendfile fchmod fchown chown getuid geteuid sched_getaffinity SEEK_DATA SEEK_HOLE",
    signal: "SIGKILL SIGALRM SIGHUP SIGCHLD setitimer alarm ITIMER_REAL",
    socket: "send_fds recv_fds",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None
"""
MODEL = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 3] x) => (float[2, 3] y) <float two = {2}, float unused = {1}>
{ z = Mod <fmod = 1> (x, two)  y = Neg (z) }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, and with what takes away what POSIX alone has."""
    made = tmp_path_factory.mktemp("without")
    (made / "site").mkdir()
    (made / "site" / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    (made / "m.onnx").write_bytes(parser.parse_model(MODEL).SerializeToString())
    return made


def graphfix(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "graphfix", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder / "site"), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def reported(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = graphfix(folder, *words, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


def test_what_posix_alone_has_is_taken_away(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import os, signal, sys; import resource"],
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ModuleNotFoundError" in done.stderr


def test_a_run_is_verified_and_its_result_compared(folder: Path) -> None:
    ran = reported(folder, "run", "m.onnx", "--target", "trt8.0", "-o", "out.onnx")
    assert ran["verification"]["status"] == "equal"
    assert [o["pass"] for o in ran["outcomes"] if o["status"] == "applied"]
    assert reported(folder, "compare", "m.onnx", "out.onnx")["status"] == "equal"


def test_a_model_is_checked(folder: Path) -> None:
    found = reported(folder, "check", "m.onnx", "--target", "trt8.0", code=1)
    assert [f["node"]["op"] for f in found["findings"] if f["severity"] == "reject"] == ["Mod"]


def test_reduce_runs_a_command_and_ends_it(folder: Path) -> None:
    program = folder / "fails.py"
    program.write_text("import sys; sys.exit(b'Neg' in open(sys.argv[1], 'rb').read())")
    words = ("--fails", f"{sys.executable} {program} {{}}")
    done = graphfix(folder, "reduce", "m.onnx", *words, "-o", "small.onnx")
    assert done.returncode == 0, done.stderr
    small = onnx.ModelProto.FromString((folder / "small.onnx").read_bytes())
    assert [node.op_type for node in small.graph.node] == ["Neg"]


def test_external_data_is_copied_without_holes_or_reflinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.arange(50_000, dtype=np.float32)
    values[1_000:40_000] = 0
    source = tmp_path / "weights.bin"
    source.write_bytes(values.tobytes())
    monkeypatch.delattr(os, "SEEK_DATA")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    model = parser.parse_model(MODEL)
    weight = numpy_helper.from_array(values, "w")
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="weights.bin")
    model.graph.initializer.append(weight)
    (tmp_path / "out").mkdir()
    saving.save_model(model, tmp_path / "out" / "m.onnx", base_dir=str(tmp_path), data="copy")
    assert (tmp_path / "out" / "weights.bin").read_bytes() == source.read_bytes()
    assert not (tmp_path / "out" / "weights.bin").samefile(source)
